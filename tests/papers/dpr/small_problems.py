"""Small chunk problems, drawn by hypothesis."""

import numpy as np
from hypothesis import strategies as st

from floorflow.papers.dpr.problem import ChunkProblem, Layer, Load


@st.composite
def small_problems(draw: st.DrawFn, most_layers: int = 4, most_options: int = 3) -> ChunkProblem:
    """Return up to four layers of up to three options on a device of about ten of everything."""
    layers = []
    for number in range(draw(st.integers(1, most_layers))):
        count = draw(st.integers(1, most_options))
        cycles = np.array(draw(st.lists(st.integers(1, 60), min_size=count, max_size=count)), dtype=np.int64)
        rows = st.tuples(*[st.integers(0, 6)] * 2)
        use = np.zeros((count, 5), dtype=np.int64)
        use[:, :2] = draw(st.lists(rows, min_size=count, max_size=count))
        use[:, 1] *= 1000
        bits, ends = draw(st.integers(0, 4000)), draw(st.booleans())
        layers.append(Layer(f"l{number}", np.arange(count)[:, None], cycles, cycles, use, bits, ends))
    load = Load(draw(st.integers(0, 40)), draw(st.integers(0, 5)))
    memory = draw(st.sampled_from([None, 0.05, 0.5]))
    batch = draw(st.sampled_from([1, 3, 64]))
    return ChunkProblem(tuple(layers), (12, 12, 0, 0, 0), load, batch, 100.0, memory_gbs=memory, input_bits=800)
