"""Folders of results: written whole or not at all, with what differs between equal runs in run.json."""

from __future__ import annotations

import platform as python_platform
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from types import MappingProxyType

from floorflow import __version__, reading
from floorflow.errors import FloorflowError, InputError
from floorflow.importing import whole_imports
from floorflow.output import RUN_FILE, Written, add, listed_files, read_run, recover, write

EXTRAS_FILE = "extras.json"
LATER = (EXTRAS_FILE, "plots/")
"""What may follow a plan in its folder."""
PLAN_FILES = ("plan.json", "schedule.json")
"""Of which every folder that holds a plan has one."""
_MOST_TOLD = 20
"""Violations that a message lists; `check` lists them all."""
_PACKAGES = ("matplotlib", "networkx", "numpy", "onnx", "ortools", "pydantic", "pymetis")


def require_folder(folder: Path, what: str) -> None:
    """Refuse what is no folder; ``what`` was to be given. What a killed run left in it is undone."""
    reading.require_folder(folder, what)
    recover(folder)


def save(
    folder: str | Path,
    files: Mapping[str, str | bytes],
    command: Sequence[str],
    seconds: float,
    *,
    force: bool,
    steps: Mapping[str, float] = MappingProxyType({}),
    loaded_from: Path | None = None,
) -> tuple[str, ...]:
    """Write files and run.json to a folder; return the names of the files, run.json among them.

    A plan is judged first: nothing is written to ``folder`` that `check` would refuse. ``steps``: the seconds of single
    steps, where these are told. ``loaded_from``: the folder whose plan it is, made earlier.
    """
    require_legal(Path(folder), files, loaded_from)
    write(Path(folder), files, _run(command, seconds, steps), force=force)
    return (*sorted(files), RUN_FILE)


def _run(command: Sequence[str], seconds: float, steps: Mapping[str, float]) -> dict[str, object]:
    return {
        "argv": list(command),
        "python": python_platform.python_version(),
        "seconds": round(seconds, 3),
        **({"seconds_of": {name: round(spent, 3) for name, spent in steps.items()}} if steps else {}),
        "versions": {"floorflow": __version__} | {name: version(name) for name in _PACKAGES},
    }


@dataclass(frozen=True)
class Later:
    """Files that follow a plan: what they are called together, where they begin, and what makes them."""

    what: str
    begins: str
    make: Callable[[], Mapping[str, bytes]]


def save_later(
    folder: str | Path,
    later: Sequence[Later],
    files: Mapping[str, bytes],
    command: Sequence[str],
    seconds: float,
    *,
    steps: Mapping[str, float] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Add what follows a plan to the folder that has it, each kind as soon as it is made; return all names.

    ``files`` are the plan's own, the rest as for `save`.

    Raises InputError if the folder holds another plan, or the disk refuses; KeyboardInterrupt on Ctrl-C, with a
    message that says that the plan stands, and what is missing.
    """
    out, names = Path(folder), {*files, RUN_FILE}
    try:
        for each in later:
            made = each.make()
            if made:
                add(out, made, _run(command, seconds, steps), _standing(out, files))
                names.update(made)
    except KeyboardInterrupt:
        missing = [each.what for each in later if not (out / each.begins).exists()]
        without = f", without {' and '.join(missing)}" if missing else ""
        raise KeyboardInterrupt(f"the plan is finished and is written to {folder}{without}") from None
    return tuple(sorted(names))


def _standing(out: Path, files: Mapping[str, bytes]) -> Written:
    """Return by what a folder is known that holds the plan which files are to be added to."""
    with suppress(InputError):
        if all(reading.read_bytes(out / name, "plan", "") == files[name] for name in PLAN_FILES if name in files):
            return Written(reading.read_bytes(out / RUN_FILE, "plan", ""))
    raise InputError(f"{out}: does not hold this plan", hint="save it there first")


def holds(folder: str | Path, files: Mapping[str, bytes]) -> bool:
    """Tell whether a folder holds these files, all of them as they are, and a run.json of ours that lists them."""
    out = Path(folder)
    try:
        recover(out)
        return files.keys() <= files_in(out) and all(
            reading.read_bytes(out / name, "plan", "") == data for name, data in files.items()
        )
    except InputError:
        return False


def require_legal(out: Path, files: Mapping[str, str | bytes], loaded_from: Path | None = None) -> None:
    """Judge files that are to be written to ``out`` as `check` does; what is no plan is not judged.

    Raises InputError if the plan was read from a folder and that breaks a rule already; FloorflowError if a rule is
    broken, with what it is: the files lie beside ``out`` then, for whoever looks for the fault.
    """
    if not any(name in files for name in PLAN_FILES):
        return
    with whole_imports():
        from floorflow.verify import check
    with _staged(out.resolve(), files) as staged:
        # A back end made elsewhere may come without a judge; all that does not rest on it is judged.
        broken = [one for one in check(staged) if one.name != "backend-unknown"]
    if not broken:
        return
    if loaded_from is not None and check(loaded_from):
        hint = f"floorflow check {shlex.quote(str(loaded_from))} lists what is wrong in it; plan again"
        raise InputError(f"{loaded_from}: the plan in it is not legal", hint=hint)
    kept = _kept_aside(out.resolve())
    write(kept, files, {})
    told = [f"{one.name}: {one.where}: {one.message}" for one in broken[:_MOST_TOLD]]
    told += [f"and {len(broken) - _MOST_TOLD:,} more"] if len(broken) > _MOST_TOLD else []
    raise FloorflowError(
        "\n  ".join([f"internal error: the plan breaks rules of check and is not written to {out}:", *told]),
        hint=f"the refused plan is kept in {kept}: report it with what floorflow bug-report {kept} packs",
    )


@contextmanager
def _staged(out: Path, files: Mapping[str, str | bytes]) -> Iterator[Path]:
    """Lay files in a folder that is gone afterwards: where temporary files go, else beside the output folder, or in it.

    A search may have taken hours: a ``/tmp`` that is full, or that is missing, is no reason to lose its plan.
    """
    beside = next(folder for folder in out.parents if folder.is_dir())
    places = [None, beside, *([out] if out.is_dir() else [])]
    with ExitStack() as held:
        for place in places:
            try:
                staged = Path(held.enter_context(TemporaryDirectory(prefix=".floorflow-judged-", dir=place)))
                write(staged, files, {})
                break
            except (OSError, InputError) as error:
                held.close()
                if place == places[-1]:
                    raise InputError(
                        f"{out}: the plan cannot be judged before it is written ({error})",
                        hint="set TMPDIR to a folder with room",
                    ) from error
        yield staged


def _kept_aside(out: Path) -> Path:
    """Make a new folder beside the output folder, or where temporary files go if that cannot be written."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            kept = out.parent / f"{out.name}.refused{number}"
            try:
                kept.mkdir()
            except FileExistsError:
                continue
            return kept
    except OSError:
        pass
    return Path(mkdtemp(prefix="floorflow-refused-"))


def files_in(folder: Path) -> set[str]:
    """Return the names of the files that an earlier run wrote to a folder; without run.json all but hidden ones.

    Raises InputError if run.json is not ours, or lists what does not lie in the folder.
    """
    held = folder.resolve()
    listed = listed_files(held)
    if listed is not None:
        return set(listed)
    return {
        name.as_posix()
        for path in held.rglob("*")
        for name in (path.relative_to(held),)
        if path.is_file() and not path.is_symlink() and not any(part.startswith(".") for part in name.parts)
    }


def run_of(folder: Path) -> tuple[list[str], float]:
    """Return the command line that made a folder and the seconds that took, as its run.json says; else none and 0."""
    run = read_run(folder.resolve()) or {}
    try:
        return [str(word) for word in run["argv"]], float(run["seconds"])
    except (ValueError, KeyError, TypeError, OverflowError):
        return [], 0.0
