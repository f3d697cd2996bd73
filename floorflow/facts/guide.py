"""NEXT.md: the way from a plan to a bitstream, command by command, for its board, flow and tool.

The back end knows its tool; here stand what a step is, how a folder and its models are named in it, and how it is told.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from floorflow.facts.plan import Plan

_HERE = "."
ABOUT = (
    "No Vivado or Vitis has run what floorflow emits (its documentation says what was run instead); times "
    "stand only where they were measured. Words in capitals are yours to fill in."
)


@dataclass(frozen=True)
class Place:
    """Where a plan lies, as commands name it, and which of its files are there.

    ``folder`` is seen from where the commands are run; ``models`` are the files of the networks, where they are known,
    in the plan's order.
    """

    names: frozenset[str]
    folder: str = _HERE
    models: tuple[str, ...] = ()

    def path(self, name: str = "") -> str:
        """Return a file of the plan's folder as the shell takes it."""
        return shlex.quote(str(PurePosixPath(self.folder, name)))

    def beside(self, what: str, name: str = "") -> str:
        """Return a file of a folder that a command makes beside the plan's."""
        own = f"../{what}" if self.folder == _HERE else f"{self.folder.rstrip('/')}_{what}"
        return shlex.quote(str(PurePosixPath(own, name)))

    def model(self, plan: Plan, network: int, folder: str) -> str:
        """Return a network's model as it is seen from a folder of the plan's."""
        if network < len(self.models):
            known, here = self.models[network], PurePosixPath(self.folder, folder)
            return shlex.quote(known if PurePosixPath(known).is_absolute() else os.path.relpath(known, here))
        names = plan.options.models
        name = names[network] if network < len(names) else f"{plan.networks[network].name}.onnx"
        return shlex.quote(f"/path/to/{PurePosixPath(name).name}")

    def has(self, name: str) -> bool:
        """Whether a file is in the plan's folder."""
        return name in self.names

    def matching(self, end: str) -> list[str]:
        """Return the files whose names end so, in order."""
        return sorted(name for name in self.names if name.endswith(end))


@dataclass(frozen=True)
class BuildStep:
    """A step of the way: commands, what they need, and what is there then; ``takes``: only where it was recorded."""

    title: str
    commands: tuple[str, ...] = ()
    needs: str = ""
    then: str = ""
    takes: str = ""


def guide(plan: Plan, steps: Iterable[BuildStep], place: Place) -> str:
    """Return the whole way as Markdown."""
    here = "this folder" if place.folder == _HERE else "the folder that you are in"
    names = ", ".join(plan.options.models if plan.replicas is not None else [n.name for n in plan.networks])
    title = f"# From this plan to a bitstream: {names} on {plan.platform}"
    lines = [title, "", f"Commands are run from {here}. {ABOUT}"]
    lines += [line for sentence in plan.unbuilt for line in ("", f"**{sentence[:1].upper()}{sentence[1:]}.**")]
    for number, step in enumerate(whole_way(steps, place), start=1):
        lines += ["", f"## {number}. {step.title}", *_told(step)]
    return "\n".join(lines) + "\n"


def whole_way(steps: Iterable[BuildStep], place: Place) -> list[BuildStep]:
    """Return the steps of the way; the first is to check the plan."""
    return [_checked(place), *steps]


def first_command(steps: Sequence[BuildStep], place: Place) -> str:
    """Return the first command of the way: of its first step that has one, else that which checks the plan."""
    return next(step.commands[0] for step in (*steps, _checked(place)) if step.commands)


def _checked(place: Place) -> BuildStep:
    return BuildStep(
        "Check the plan",
        (f"floorflow check {place.path()}",),
        needs="floorflow alone",
        takes="about a second",
    )


def _told(step: BuildStep) -> Iterator[str]:
    if step.commands:
        yield from ("", *(f"    {command}" for command in step.commands))
    if told := facts_told(step):
        yield from ("", *told)


def facts_told(step: BuildStep) -> list[str]:
    """Return what a step needs, how long it takes, and what is there then, each as a sentence."""
    facts = {"Needs": step.needs, "Takes": step.takes, "Then": step.then}
    return [f"{name}: {text}." for name, text in facts.items() if text]


def run_step(place: Place, bitstreams: str = "") -> Iterator[BuildStep]:
    """Yield how the host runs what was built, where the plan has its script; ``bitstreams``: the option for others."""
    if place.has("host/run.py"):
        script = f"python3 {place.path('host/run.py')}"
        more = f" {bitstreams}" if bitstreams else ""
        yield BuildStep(
            "Run it",
            (f"{script} --dry-run", f"{script} --input IN.npy --output OUT.npy{more}"),
            needs="Python alone for the dry run; then pynq or XRT's pyxrt, on the machine with the board",
            then="measured rate and latency stand beside the planned ones",
        )


def measured_step(place: Place, reports: str, bound: str) -> BuildStep:
    """Return how reports of a build make a better plan; ``bound``: the folder that is planned again."""
    return BuildStep(
        "Tell floorflow what the build measured",
        (f"floorflow calibrate {bound} --reports {reports} -o {place.beside('again')}",),
        needs="utilisation and timing reports of the build in that folder, and the model",
        then="the new plan is made with what was measured",
    )
