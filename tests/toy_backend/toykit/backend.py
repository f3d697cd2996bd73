"""The back end itself."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from floorflow.backends.backend import Backend
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option
from floorflow.dataflow.options import OptionGroup
from floorflow.facts import Plan
from floorflow.rates import Actor
from floorflow.technology import Technology
from toykit import foldings, model, times
from toykit.costs import ToyCosts
from toykit.engines import lowered
from toykit.registration import ToyOptions

_MOSTS = {"makers": "outputs", "takers": "channels", "lanes": "channels"}


class Toykit(Backend):
    """Filters, line buffers and mixers."""

    name = "toykit"
    parallel_attributes = ("makers", "takers", "lanes")

    def read(self, path: Path, options: ToyOptions) -> model.ToySource:
        return model.read(path)

    def lower(self, source: model.ToySource, technology: Technology, options: ToyOptions) -> Dataflow:
        return lowered(source)

    def costs(self, technology: Technology, options: ToyOptions, *, own_kinds: bool = False) -> ToyCosts:
        return ToyCosts(options, 1 if technology.dsp_block == "DSP48E1" else 2)

    def actor(self, engine: Engine, option: Option, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> Actor:
        return times.actor(engine, option, inputs, outputs)

    def stages(self, engine: Engine, option: Option) -> int:
        return 3 if engine.kind == "Filter" else 0

    def expected_interval(self, folded: FoldedDataflow) -> int:
        """Return the interval with the four cycles that a filter takes to start anew."""
        return folded.interval_cycles + 4

    def parallelism(self, engine: Engine, option: Option) -> tuple[tuple[str, int, int], ...]:
        named = [key for key in self.parallel_attributes if key in option.folding]
        return tuple((key, int(option.folding[key]), int(engine.attributes[_MOSTS[key]])) for key in named)

    def warnings(self, folded: FoldedDataflow, clock_mhz: float, options: ToyOptions) -> Sequence[str]:
        return [f"toykit's engines are made for 400 MHz, not {clock_mhz:g}"] if clock_mhz > 400 else []

    def with_folding(self, dataflow: Dataflow, path: Path, technology: Technology) -> Dataflow:
        return foldings.with_file(dataflow, path)

    def folding_files(self, folded: FoldedDataflow) -> Mapping[str, str]:
        return {"folding.txt": foldings.text({name: option.folding for name, option in folded.options.items()})}

    def given_groups(self, dataflow: Dataflow, costs: ToyCosts, *, carried: bool = True) -> tuple[OptionGroup, ...]:
        return foldings.given(dataflow, costs)

    def fold_methods(self, options: ToyOptions) -> Mapping[str, Any]:
        return {"thrifty": foldings.thrifty(options)}

    def files(self, plan: Plan, phase: int, /) -> Mapping[str, str]:
        numbers = cell_numbers(plan, phase)
        return {
            _build_file(plan, run.network): _build(run, plan, phase, numbers) for run in plan.phases[phase].networks
        }

    def cells(self, plan: Plan, phase: int, cell_pattern: str, hierarchy: str, /) -> Mapping[str, str]:
        numbers = cell_numbers(plan, phase)
        top = f"{hierarchy}/" if hierarchy else ""
        return {name: f"{top}toy_{number}" for name, number in numbers.items()}


def cell_numbers(plan: Plan, phase: int) -> dict[str, int]:
    """Return the number of each engine's cell in a phase: engines in order, network by network."""
    names = [name for run in plan.phases[phase].networks for name in run.folding.engines]
    return {name: number for number, name in enumerate(sorted(names))}


def _build_file(plan: Plan, network: str) -> str:
    return f"toykit/{network}/build.json" if len(plan.networks) > 1 else "toykit/build.json"


def _build(run: Any, plan: Plan, phase: int, numbers: Mapping[str, int]) -> str:
    slots = plan.phases[phase].partition.assignment
    homes = {name: slots[module.name] for module in plan.phases[phase].modules for name in module.engines}
    rows = {
        name: {"cell": f"toy_{numbers[name]}", "slot": homes[name], **entry.attributes}
        for name, entry in run.folding.engines.items()
    }
    return json.dumps(rows, indent=2, sort_keys=True) + "\n"


BACKEND = Toykit()
