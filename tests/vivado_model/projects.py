"""Vivado's project commands, by UG835 (2022.2): projects, runs, what a run needs, and reports on an open design.

Strict: what Vivado would do without a warning and nobody means, such as a second launch without a reset, is refused.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from .arguments import Arguments, VivadoError

STEPS = (
    *("opt_design", "power_opt_design", "place_design", "post_place_power_opt_design", "phys_opt_design"),
    *("route_design", "post_route_phys_opt_design", "write_bitstream"),
)
"""UG904: steps of an implementation run, in order."""
HOOK = re.compile(r"STEPS\.([A-Z_]+)\.TCL\.(PRE|POST)")


@dataclass
class Run:
    """A run of the project: how far it is, and the scripts hooked into its steps."""

    name: str
    directory: Path
    is_launched: bool
    is_finished: bool
    hooks: dict[str, str] = field(default_factory=dict)

    def properties(self, *, fails: bool) -> dict[str, str]:
        done = self.is_finished and not fails
        status = "write_bitstream Complete!" if done else "route_design ERROR" if self.is_launched else "Not started"
        return {
            "NAME": self.name,
            "PROGRESS": "100%" if done else "75%" if self.is_launched else "0%",
            "STATUS": status,
            "DIRECTORY": str(self.directory),
            **self.hooks,
        }


class Project:
    """The one project on disk, whose synthesis is done, as FINN leaves it.

    ``source`` runs a hook's script in the run's design; ``fails``: implementation stops at routing.
    """

    def __init__(
        self, path: Path, part: str, source: Callable[[Path], None], *, version: str = "2022.2", fails: bool = False
    ) -> None:
        self.path, self.part, self.version, self.fails = path, part, version, fails
        self.is_open, self.opened_run = False, ""
        runs = path.with_suffix(".runs")
        self.runs = {
            "synth_1": Run("synth_1", runs / "synth_1", is_launched=True, is_finished=True),
            "impl_1": Run("impl_1", runs / "impl_1", is_launched=True, is_finished=True),
        }
        self.reports: dict[str, str] = {}
        self._source = source
        self._waited = True

    def run(self, command: str, arguments: Arguments) -> str | tuple[str, ...]:
        """Run one of the commands; raises VivadoError."""
        if command not in ("version", "open_project") and not self.is_open:
            raise VivadoError(f"{command}: no project is open")
        answer: str | tuple[str, ...] = getattr(self, f"_{command}")(arguments)
        return answer

    def knows(self, thing: str) -> bool:
        """Whether a name is that of the open project or of a run."""
        return self.is_open and (thing in self.runs or thing == self.path.stem)

    def properties(self, thing: str) -> dict[str, str]:
        """Return the readable properties of the project or a run."""
        if thing == self.path.stem:
            return {"NAME": thing, "PART": self.part, "DIRECTORY": str(self.path.parent)}
        return self.runs[thing].properties(fails=self.fails)

    def set_property(self, name: str, value: str, thing: str) -> None:
        """Hook a script into a step of a run, as UG904 has it."""
        match = HOOK.fullmatch(name)
        if thing not in self.runs or match is None or match[1].lower() not in STEPS:
            raise VivadoError(f"set_property: '{name}' of '{thing}' is not modelled, or no step of a run")
        if not Path(value).is_file():
            raise VivadoError(f"set_property: {name}: there is no file '{value}'")
        if not Path(value).is_absolute():
            raise VivadoError(f"set_property: {name}: '{value}' is relative; the run has another folder")
        self.runs[thing].hooks[name] = value

    def _version(self, arguments: Arguments) -> str:
        if "-short" not in arguments.flags:
            return f"Vivado v{self.version} (64-bit)"
        return self.version

    def _open_project(self, arguments: Arguments) -> str:
        given = Path(arguments.positionals["file"])
        if self.is_open:
            raise VivadoError("open_project: a project is open already")
        if given != self.path:
            raise VivadoError(f"open_project: there is no project '{given}'")
        self.is_open = True
        return self.path.stem

    def _close_project(self, _: Arguments) -> str:
        self.is_open, self.opened_run = False, ""
        return ""

    def _current_project(self, _: Arguments) -> str:
        return self.path.stem

    def _get_runs(self, arguments: Arguments) -> tuple[str, ...]:
        wanted = arguments.positionals.get("patterns", "*")
        found = tuple(self.runs) if wanted == "*" else tuple(name for name in self.runs if name == wanted)
        if not found and not arguments.quiet:
            raise VivadoError(f"get_runs: no run matches '{wanted}' (Vivado only warns)")
        return found

    def _run_named(self, command: str, arguments: Arguments) -> Run:
        name = arguments.positionals["run"]
        if name not in self.runs:
            raise VivadoError(f"{command}: there is no run '{name}'")
        return self.runs[name]

    def _reset_run(self, arguments: Arguments) -> str:
        run = self._run_named("reset_run", arguments)
        if self.opened_run:
            raise VivadoError("reset_run: the design of a run is open")
        if run.name == "synth_1":
            raise VivadoError("reset_run: synthesis would be done again; it is meant to be used as it is")
        run.is_launched = run.is_finished = False
        return ""

    def _launch_runs(self, arguments: Arguments) -> str:
        run = self._run_named("launch_runs", arguments)
        if run.is_launched:
            raise VivadoError(f"[Common 17-69] launch_runs: run '{run.name}' needs to be reset before launching")
        last = arguments.values.get("-to_step", "route_design")
        if last not in STEPS:
            raise VivadoError(f"launch_runs: '{last}' is no step of implementation; expected {', '.join(STEPS)}")
        jobs = arguments.values.get("-jobs", "1")
        if not jobs.isdecimal() or int(jobs) < 1:
            raise VivadoError(f"launch_runs: -jobs is '{jobs}'")
        run.is_launched, self._waited = True, False
        for name in sorted(run.hooks):
            self._source(Path(run.hooks[name]))
        run.is_finished = not self.fails
        if not self.fails and last == STEPS[-1]:
            run.directory.mkdir(parents=True, exist_ok=True)
            (run.directory / "top_wrapper.bit").write_text("bits of the new implementation\n")
        return ""

    def _wait_on_run(self, arguments: Arguments) -> str:
        run = self._run_named("wait_on_run", arguments)
        if not run.is_launched:
            raise VivadoError(f"wait_on_run: run '{run.name}' is not launched")
        self._waited = True
        return ""

    def _open_run(self, arguments: Arguments) -> str:
        run = self._run_named("open_run", arguments)
        if not self._waited:
            raise VivadoError(f"open_run: run '{run.name}' is still running; wait_on_run first")
        if not run.is_finished:
            raise VivadoError(f"[Project 1-589] open_run: run '{run.name}' has not finished")
        self.opened_run = run.name
        return "model_design"

    def _report_utilization(self, arguments: Arguments) -> str:
        if "-hierarchical_depth" in arguments.values and "-hierarchical" not in arguments.flags:
            raise VivadoError("report_utilization: -hierarchical_depth needs -hierarchical")
        return self._report("report_utilization", arguments)

    def _report_timing_summary(self, arguments: Arguments) -> str:
        return self._report("report_timing_summary", arguments)

    def _report_timing(self, arguments: Arguments) -> str:
        if arguments.values.get("-sort_by", "slack") not in ("slack", "group"):
            raise VivadoError("report_timing: -sort_by is group or slack")
        return self._report("report_timing", arguments)

    def _report(self, command: str, arguments: Arguments) -> str:
        if not self.opened_run:
            raise VivadoError(f"{command}: no implemented design is open")
        file = arguments.values.get("-file")
        if file is None:
            raise VivadoError(f"{command}: without -file the report is lost in batch mode")
        if not Path(file).parent.is_dir():
            raise VivadoError(f"{command}: there is no folder for '{file}'")
        Path(file).write_text(f"{command}\n")
        self.reports[Path(file).name] = command
        return ""
