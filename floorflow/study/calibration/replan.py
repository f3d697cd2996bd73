"""Plan again: the request behind a plan's folder, its model the very file that was planned."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from floorflow.backends.backend import backend_named
from floorflow.errors import InputError
from floorflow.facts import InputFile, Plan
from floorflow.hardware import Platform, described_fpgas, known_links, known_platforms, load_platform
from floorflow.hardware.copies import with_hosts
from floorflow.output import read_run
from floorflow.reading import read_bytes, resolved
from floorflow.request import Request


@dataclass(frozen=True)
class Overrides:
    """What the user says beside the folder; None: look for it. ``keep_folding``: fold as the plan did."""

    model: Path | None = None
    folding: Path | None = None
    platform: Path | None = None
    keep_folding: bool = False
    plots: bool = True


def replanned_request(out: Path, plan: Plan, overrides: Overrides) -> Request:
    """Return the request that the plan in ``out`` answered.

    Raises InputError if the model, the folding file or a board file is not found, or is not the one that the plan was
    made from.
    """
    if not plan.inputs:
        raise InputError(
            f"{out / 'plan.json'}: inputs: names no model, so it cannot be planned again", hint="plan the model anew"
        )
    model, *others = plan.inputs
    others = others if plan.options.start_from is None else others[:-1]  # the last is the plan that was started from
    folding = _input(out, others[0], overrides.folding, "--folding") if others else None
    for beside in others[1:]:
        _same_beside(folding, beside)
    if overrides.keep_folding:
        folding = _planned_folding(out, plan)
    asked = plan.options.model_dump(exclude={"models", "rates", "min_rate"}) | {
        "model": _input(out, model, overrides.model, "--model"),
        "platform": _platform(out, plan, overrides.platform),
        "link": _link(out, plan.options.link),
        "folding": folding,
        "keep_folding": plan.options.keep_folding or overrides.keep_folding,
        "fold_method": "exact" if overrides.keep_folding else plan.options.fold_method,
        "stay_near": out if overrides.keep_folding else None,
        "start_from": None,
        "epsilon": None if overrides.keep_folding else plan.options.epsilon,
        "plots": overrides.plots,
    }
    if described_fpgas(asked["platform"]) is not None:
        del asked["topology"]  # the platform's file says what its links join
    if asked["risk"] is not None:
        del asked["cap"], asked["fill"]  # the risk gives them anew
    return Request(**asked)


def _planned_folding(out: Path, plan: Plan) -> Path:
    """Return the file of the plan that holds its folding.

    Raises InputError if its back end writes no such file.
    """
    backend = backend_named(plan.options.backend)
    file = backend.folding_file(plan, 0, plan.only_network.name)
    if file is None:
        raise InputError(f"--keep-folding: back end {backend.name} writes no file of its folding", hint="leave it out")
    return out / plan.phase_folder(0) / file


def _input(out: Path, entry: InputFile, override: Path | None, option: str) -> Path:
    """Return a file of the plan's inputs: the user's, else the first of that name whose contents are the same."""
    wanted = f"{entry.path} (sha256 {entry.sha256[:12]}...)"
    if override is not None:
        digest = _sha256(override)
        if digest is None:
            raise InputError(f"{option} {override}: cannot be read", hint=f"give the file that was planned, {wanted}")
        if digest != entry.sha256:
            raise InputError(
                f"{option} {override}: has sha256 {digest[:12]}..., but {out} was planned from {wanted}",
                hint="measurements hold for what was built; plan the new file first",
            )
        return override
    for path in _candidate_paths(out, entry.path):
        if _sha256(path) == entry.sha256:
            return path
    raise InputError(f"{out}: its input {wanted} is not found", hint=f"give it with {option} FILE")


def found_models(out: Path, plan: Plan) -> list[Path]:
    """Return the models that were planned, where all of them are found as `replanned_request` looks for them."""
    wanted = [entry for name in plan.options.models for entry in plan.inputs if entry.path == Path(name).name]
    try:
        return [_input(out, entry, None, "--model") for entry in wanted]
    except InputError:
        return []


def _same_beside(folding: Path | None, entry: InputFile) -> None:
    """Require the file that went with the folding file to lie beside it still.

    Raises InputError if it does not, or is another.
    """
    path = (folding or Path()).with_name(entry.path)
    if _sha256(path) != entry.sha256:
        hint = "put the file there that was planned, or give another copy of both with --folding FILE"
        raise InputError(f"{path}: is not the file (sha256 {entry.sha256[:12]}...) that was planned", hint=hint)


def _candidate_paths(out: Path, name: str) -> Iterator[Path]:
    """Yield where a file may lie: as run.json's command line says, in the working folder, beside the plan's folder."""
    told = (read_run(resolved(out)) or {}).get("argv")
    words = [str(word) for word in told] if isinstance(told, list) else []
    yield from (path for path in (Path(word.rpartition("=")[2]) for word in words) if path.name == name)
    yield from (Path(name), resolved(out).parent / name, out / name)


def _sha256(path: Path) -> str | None:
    try:
        return hashlib.sha256(read_bytes(path, "model", "")).hexdigest()
    except InputError:
        return None


def _platform(out: Path, plan: Plan, override: Path | None) -> str:
    """Return the name of a shipped board, or the path of a user's file: the one told now, or the copy in the plan."""
    name = plan.platform.fpgas[0].board
    if override is not None:
        return str(override)
    described = f"platforms/{plan.platform.name}.yaml"
    if described in plan.platform.files:
        return str(out / "platform" / described)
    return name if name in known_platforms() else str(out / "platform" / "boards" / f"{name}.yaml")


def planned_platform(out: Path, plan: Plan) -> Platform:
    """Load the platform of the plan in a folder.

    Raises PlatformError if a file of it is not there any more.
    """
    options = plan.options
    name, link = _platform(out, plan, None), _link(out, options.link)
    topology = None if described_fpgas(name) is not None else options.topology
    copies = plan.copy_memories
    host = copies[0] if copies else options.host_port
    found = load_platform(name, len(plan.platform.fpgas), options.clock_mhz, link, topology, host_port=host)
    return with_hosts(found, plan.dma_memories)


def _link(out: Path, kind: str | None) -> str | None:
    if kind is None or kind in known_links():
        return kind
    return str(out / "platform" / "links" / f"{kind}.yaml")
