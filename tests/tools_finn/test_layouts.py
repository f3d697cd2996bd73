"""What qonnx itself turns channels last reads as it did channels first."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from floorflow.backends.finn.lower.lowering import lower
from floorflow.network import read
from floorflow.technology import technology_of
from tests.network.twins import CHANNELS_LAST
from tests.random_family import seeds
from tests.random_models import random_chain, random_graph
from tests.tools_finn.oracle import FinnPlus

pytestmark = pytest.mark.tools
PART = technology_of("xczu7ev-ffvc1156-2-e")


def engines_of(path: Path) -> Counter[str]:
    """Return the engines but for their order: qonnx sorts the branches of a network anew."""
    return Counter(
        f"{e.kind} {dict(sorted(e.attributes.items()))} {e.weight_bits}" for e in lower(read(path), PART).engines
    )


@pytest.mark.parametrize("seed", seeds(many=4, few=2))
@pytest.mark.parametrize("make", [random_chain, random_graph])
def test_qonnx_own_channels_last_form_reads_as_its_twin(
    make: Callable[[int], onnx.ModelProto], seed: int, tmp_path: Path, finn_plus: FinnPlus
) -> None:
    onnx.save(make(seed), tmp_path / "first.onnx")
    nodes = finn_plus.turn(tmp_path / "first.onnx", tmp_path / "last.onnx", input_too=seed % 2 > 0)
    assert any(node.startswith(CHANNELS_LAST) for node in nodes)
    assert engines_of(tmp_path / "last.onnx") == engines_of(tmp_path / "first.onnx")
