"""FINN+ as a process of its own that answers questions, and the same numbers of a plan."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from floorflow.facts import Plan
from tests.tools import its_own_bytecode

Numbers = dict[str, tuple[float, ...]]
"""Cycles, LUT, BRAM_18K, URAM and DSP of each node."""

TO_DATAFLOW = (
    "step_qonnx_to_finn",
    "step_tidy_up",
    "step_streamline",
    "step_convert_to_hw",
    "step_minimize_bit_width_initial",
    "step_create_dataflow_partition",
    "step_specialize_layers",
    "step_target_fps_parallelization",
    "step_apply_folding_config",
    "step_minimize_bit_width",
)
"""FINN+'s default steps up to a graph whose estimates hold."""


class FinnPlus:
    """A running FINN+, of the Python of its environment."""

    def __init__(self, python: Path, log: Path) -> None:
        self._log = log
        with log.open("w", encoding="utf-8") as errors:
            self._process = self._started(python, errors)

    @staticmethod
    def _started(python: Path, errors: IO[str]) -> subprocess.Popen[str]:
        script = Path(__file__).with_name("finn_plus.py")
        command = [str(python), "-W", "ignore", str(script)]
        pipe, own = subprocess.PIPE, its_own_bytecode()
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, text=True, env=own)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def ask(self, **job: Any) -> dict[str, Any]:
        """Return the answer to a job; `finn_plus.py` says what jobs there are."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(job, default=str) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"FINN+ ended: {self._log.read_text(encoding='utf-8')[-2000:]}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def numbers(self, graph: Path, folding: Path, part: str) -> Numbers:
        """Return FINN+'s numbers of each node after its ApplyConfig."""
        answer = self.ask(do="estimate", graph=graph, folding=folding, part=part)
        assert "error" not in answer, answer["error"]
        keys = ("cycles", "LUT", "BRAM_18K", "URAM", "DSP")
        return {name: tuple(float(told.get(key, 0)) for key in keys) for name, told in answer["nodes"].items()}

    def fifos(self, graph: Path, folding: Path, fifos: Path, part: str) -> Any:
        """Let FINN+ insert converters and FIFOs and apply a fifo_config.json; return what each FIFO is, by name."""
        answer = self.ask(do="fifos", graph=graph, folding=folding, fifos=fifos, part=part)
        assert "error" not in answer, answer["error"]
        return answer["nodes"]

    def lowered(self, fifos: Sequence[tuple[int, int, int]]) -> list[int]:
        """Let FINN+'s search lower FIFOs of (most words seen, words needed, bits of a word); return their depths."""
        answer = self.ask(do="lower", fifos=fifos)
        assert "error" not in answer, answer["error"]
        depths: list[int] = answer["depths"]
        return depths

    def build(
        self,
        graph: Path,
        steps: Path,
        output: Path,
        stop: str = "floorflow_constrain",
        *,
        network: bool = False,
        **asked: Any,
    ) -> Any:
        """Let FINN+ run the steps of a plan's build.yaml up to one; return their names and the kernels that it made."""
        job = {"graph": graph, "steps": steps, "output": output, "stop": stop, "network": network}
        answer = self.ask(do="build", **{"verify": False, "mistake": "", **job, **asked})
        assert "error" not in answer, answer["error"]
        return answer

    def convert(
        self, model: Path, graph: Path, steps: Sequence[str] = TO_DATAFLOW, *, image: bool, styles: Path | None = None
    ) -> list[str]:
        """Turn a QONNX network into a dataflow graph and return the names of its nodes.

        With a specialize_layers_config.json all thresholds stand alone.
        """
        job = {"model": model, "graph": graph, "steps": steps, "image": image, "board": "ZCU104", "fps": 3000}
        job["styles"] = styles
        answer = self.ask(do="convert", **job)
        assert "error" not in answer, answer["error"]
        names: list[str] = answer["nodes"]
        return names

    def turn(self, model: Path, graph: Path, *, input_too: bool) -> list[str]:
        """Bring a QONNX network into qonnx's channels-last form; return domain and operator of each node."""
        answer = self.ask(do="turn", model=model, graph=graph, input_too=input_too)
        assert "error" not in answer, answer["error"]
        nodes: list[str] = answer["nodes"]
        return nodes

    def specialise(
        self,
        layers: Sequence[tuple[str, Any]],
        styles: Path | None,
        folding: Path,
        part: str,
        ports: Sequence[tuple[int, int]] | None = None,
    ) -> Any:
        """Let FINN+ make engines of generic layers; return op type, cycles, widths and attributes of each by name.

        ``ports``: inputs and outputs of each layer that are streams, one of each if not given.
        """
        ports = ports or [(1, 1)] * len(layers)
        answer = self.ask(do="specialise", layers=layers, styles=styles, folding=folding, part=part, ports=ports)
        assert "error" not in answer, answer["error"]
        return answer["nodes"]


def planned(plan: Plan) -> Numbers:
    """Return a plan's numbers of each engine."""
    return {
        name: (entry.cycles, entry.resources.LUT, entry.resources.BRAM18, entry.resources.URAM, entry.resources.DSP)
        for name, entry in plan.phases[0].engines.items()
    }
