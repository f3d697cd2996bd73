"""Vivado's model on the folder of a stitched plan."""

from pathlib import Path
from typing import Any

from floorflow.facts import Plan, read_plan
from floorflow.facts.stitched import core_name
from tests.vivado_model import VivadoModel
from tests.vivado_model.stitching import Stitching

DEVICES = Path(__file__).resolve().parents[2] / "platforms/devices"


class Vivado:
    """A folder with a plan, packaged IP and what was made."""

    def __init__(self, out: Path, folder: Path) -> None:
        self.out, self.made = out, folder / "made"
        self.plan: Plan = read_plan(out / "plan.json")
        self.modules = folder / "modules"
        self.names = sorted(path.name for path in (out / "ooc").iterdir())
        for name in self.names:
            (self.modules / name).mkdir(parents=True, exist_ok=True)

    def run(self, script: str, *arguments: str | Path, **fault: Any) -> Stitching:
        """Run one script in a process of its own."""
        (device,) = {fpga.device for fpga in self.plan.platform.fpgas}
        model = VivadoModel(DEVICES / f"{device}.yaml", [])
        found = model.add_modules({self.modules / name: core_name(name) for name in self.names}, **fault)
        model.run_tcl(self.out / script, [*map(str, arguments)])
        return found

    def implement(self, name: str, **fault: Any) -> Stitching:
        return self.run(f"ooc/{name}/run.tcl", self.modules, self.made, **fault)

    def assemble(self, *pins: Path, **fault: Any) -> Stitching:
        return self.run("fpga0/top/assemble.tcl", self.made, *pins, **fault)
