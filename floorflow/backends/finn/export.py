"""FINN's own configuration files, for ``ApplyConfig`` and ``Floorplan``, and a plan bound to FINN's kernels."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from floorflow.backends.builds import Binding
from floorflow.backends.finn.card_builds import is_built_by_card
from floorflow.backends.finn.config import as_json
from floorflow.backends.finn.copies_link import copies_lines, networks_lines
from floorflow.backends.finn.host_files import host_files
from floorflow.backends.finn.made_graph import fifo_config
from floorflow.backends.finn.options import FinnOptions
from floorflow.backends.finn.specialise import PREFERENCE
from floorflow.backends.finn.step.bind import as_files, bind_kernels
from floorflow.backends.finn.step.kernel_files import Kernels, read_partitions, read_whole
from floorflow.backends.finn.step.settings import LEAST_DEPTH, fifo_ports
from floorflow.backends.finn.step_data import NetworkInPhase, foreseen, networks_in, prefix_of
from floorflow.backends.finn.step_files import flow_files, link_files, link_script, step_files
from floorflow.errors import InputError
from floorflow.facts import Plan
from floorflow.facts.links import Links
from floorflow.reading import exists, is_file, parse_json


def files(plan: Plan, phase: int) -> dict[str, str]:
    """Return the files of a phase, by their paths in its folder; those of a network apart if there are several."""
    made: dict[str, str] = {}
    for one in _built(plan, phase):
        made |= _configs(one, folder_of(plan, one.network.name), {"fifo_config": _fifo_config(one)})
    for part in _cards(plan, phase):
        made |= _configs(part, f"{part.fpga}/finn", {})
    return made


def _configs(one: NetworkInPhase, folder: str, more: Mapping[str, Any]) -> dict[str, str]:
    contents = {
        "folding_config": folding_config(one),
        "specialize_layers_config": specialize_layers_config(one),
        **more,
        "floorplan": {"Defaults": {}} | foreseen(one).floorplan,
    }
    return {f"{folder}/{name}.json": as_json(content) for name, content in contents.items() if content is not None}


def _cards(plan: Plan, phase: int) -> list[NetworkInPhase]:
    """Return the part of the network on each card that FINN main builds by itself."""
    if not is_built_by_card(plan):
        return []
    (whole,) = networks_in(plan, phase)
    parts = [replace(whole, fpga=fpga.name) for fpga in plan.platform.fpgas]
    return [part for part in parts if part.engines]


def bound_files(plan: Plan, phase: int, fpgas: Sequence[Mapping[str, Any]], library: str) -> dict[str, str]:
    """Return the files with which FINN builds a phase of the plan; ``fpgas`` as `step_files` has them."""
    made: dict[str, str] = {}
    for one in _built(plan, phase):
        own = step_files(one, fpgas, library, known_fifos=_knows_fifos(one))
        made |= {f"{folder_of(plan, one.network.name)}/{name}": text for name, text in own.items()}
        # FINN builds one network into one bitstream, and kernels for copies of it.
        if len(plan.phases) == 1 and (len(plan.networks) == 1 or (plan.replicas is not None and not plan.unbuilt)):
            slices = plan.options.backend_options.crossing_slices
            copies = None if len(plan.networks) == 1 else plan.replicas
            lines = None if copies is None else copies_lines(one, copies.placed)
            data = json.loads(own["floorflow_plan.json"])
            made |= flow_files(data, fpgas, with_slices=slices, copies=lines) | host_files([one], fpgas)
    card = {fpga["name"]: fpga for fpga in fpgas}
    for part in _cards(plan, phase):
        own = step_files(part, [card[part.fpga]], library, known_fifos=_knows_fifos(part))
        # FINN+ joins cards by itself, or does not.
        made |= {f"{part.fpga}/finn/{name}": text for name, text in own.items() if name != "build.yaml"}
    for end in Links(plan.platform, plan.phases[phase]).ends if is_built_by_card(plan) else ():
        made |= link_script(end.fpga)
    if linked := [one for one in _built(plan, phase) if prefix_of(one)]:
        data = json.loads(made[f"{folder_of(plan, linked[0].network.name)}/floorflow_plan.json"])
        folders = [f"{folder_of(plan, one.network.name)}/build" for one in linked]
        made |= link_files(data, fpgas[0], networks_lines(linked), folders) | host_files(linked, fpgas)
    return made


def _built(plan: Plan, phase: int) -> list[NetworkInPhase]:
    """Return the networks that are built: each, but of copies the first for all."""
    return networks_in(plan, phase)[: None if plan.replicas is None else 1]


def folding_file(plan: Plan, network: str) -> str:
    """Return the path of a network's folding_config.json in the folder of a phase."""
    return f"{folder_of(plan, network)}/folding_config.json"


def folder_of(plan: Plan, network: str) -> str:
    """Return the folder of a network's files in that of a phase."""
    return "finn" if len(plan.networks) == 1 or plan.replicas is not None else f"finn/{network}"


def cells(plan: Plan, phase: int, cell_pattern: str) -> dict[str, str]:
    """Return every engine's cell as foreseen, by its id, in a design whose cells a board names by this pattern."""
    found: dict[str, str] = {}
    for one in networks_in(plan, phase):
        # A board without a shell holds FINN's stitched design as a whole, with the names of the whole graph.
        if "{partition}" not in cell_pattern:
            found |= {identity: cell_pattern.format(engine=identity) for identity in one.id_of.values()}
            continue
        graph = foreseen(one)
        for identity, name in graph.inner_names.items():
            found[identity] = cell_pattern.format(engine=name, partition=graph.kernel_of[identity])
    return found


def folding_config(one: NetworkInPhase) -> dict[str, dict[str, Any]]:
    """Return folding_config.json: every engine's folding, and the depths of FIFOs at its ports where these ask.

    FINN+ would pass over a FIFO whose depth is right already, and over its memory.
    """
    folding = {name: dict(entry.attributes) for name, entry in one.folding.items()}
    if _depths_at_ports(one):
        for name, depths in _fifo_depths(one).items():
            folding[name] |= depths
    return {"Defaults": {}} | folding


def _fifo_depths(one: NetworkInPhase) -> dict[str, dict[str, list[int]]]:
    """Return ``inFIFODepths`` and ``outFIFODepths`` of every engine, from which FINN makes the planned FIFOs.

    An engine with which a kernel begins asks for none: FINN would put a second FIFO there. Where the planned one stands
    behind a converter in the kernel before, fifo_config.json alone has its depth.
    """
    bound = foreseen(one).bound
    slot_of, ports = one.phase.slot_of, fifo_ports(bound)
    for stream, link in bound.links:
        if link.source is None or link.target is None:
            continue
        if slot_of[stream["source"]] != slot_of[stream["target"]]:
            ports[link.target]["inFIFODepths"][link.target.positions[link.target_port]] = LEAST_DEPTH
    return {name: ports[bound.nodes[identity]] for name, identity in one.id_of.items()}


def _depths_at_ports(one: NetworkInPhase) -> bool:
    """Whether engines' ports ask for the plan's depths: FINN+ knows these too, but from fifo_config.json alone."""
    options = one.plan.options.backend_options
    return _knows_fifos(one) and isinstance(options, FinnOptions) and options.finn != "plus"


def _knows_fifos(one: NetworkInPhase) -> bool:
    """Whether the plan has depths: it prices FIFOs, and knows what these keep."""
    options, throughput = one.plan.options.backend_options, one.phase.network(one.network.name).estimates.throughput
    known = throughput is not None and throughput.interval_cycles is not None
    return isinstance(options, FinnOptions) and options.sets_fifos(knows_depths=known)


def specialize_layers_config(one: NetworkInPhase) -> dict[str, dict[str, Any]] | None:
    """Return specialize_layers_config.json: the layers that are hls or rtl against FINN's own choice; None if none is.

    FINN reads it before it makes engines: layers are numbered by generic op type, hls and rtl together.
    """
    config: dict[str, dict[str, Any]] = {"Defaults": {}}
    counts: Counter[str] = Counter()
    for engine in one.engines:
        layer = engine.kind.rpartition("_")[0]
        if PREFERENCE in engine.attributes:
            config[f"{layer}_{counts[layer]}"] = {PREFERENCE: engine.attributes[PREFERENCE]}
        counts[layer] += 1
    return config if len(config) > 1 else None


def _fifo_config(one: NetworkInPhase) -> dict[str, Any] | None:
    """Return fifo_config.json; None where FINN is to find depths."""
    options = one.plan.options.backend_options
    if not isinstance(options, FinnOptions) or not _knows_fifos(one):
        return None
    return fifo_config(list(one.id_of.values()), one.phase.channels, folding_config(one), options.finn)


_KERNELS = ("", "kernel_partitions", "intermediate_models/kernel_partitions")
"""Where FINN keeps the kernels, below the folder that a user may give."""
_WHOLE = (
    "step_create_stitched_ip.onnx",
    "step_set_fifo_depths.onnx",
    "step_generate_hardware.onnx",
    "floorflow_fifos.onnx",
    "graph_with_fifos.onnx",
)
"""FINN's models with FIFOs and without kernels, the last one first."""
_HINT = "Give FINN's output_dir, its intermediate_models/kernel_partitions, or the graph behind a stitched IP."


def bind(plan: Plan, files: Mapping[str, bytes], build: Path) -> Binding:
    """Return the constraints of a plan of one network by the names of FINN's kernels.

    Raises InputError if the kernels are not those of the plan, or an engine may be several nodes; names both.
    """
    network, phase = plan.only_network, plan.only_phase
    name = f"{folder_of(plan, network.name)}/floorflow_plan.json"
    if name not in files:
        raise InputError(f"the plan has no {name}", hint="make the plan again with this version")
    hint = "the plan's folder was changed; make the plan again"
    data: dict[str, Any] = parse_json(files[name].decode("utf-8", "replace"), name, hint)
    try:
        found = bind_kernels(data, _kernels(data, build))
    except (AttributeError, LookupError, TypeError) as problem:
        raise InputError(f"{name}: is none that plan wrote ({problem!r})", hint) from problem
    except ValueError as problem:
        raise InputError(
            f"{build}: {problem}", hint=f"the plan is of phase {phase.name}, network {network.name}"
        ) from problem
    return Binding(as_files(found), found.cells, found.renamed, found.notes)


def _kernels(data: Mapping[str, Any], build: Path) -> Kernels:
    if not exists(build):
        raise InputError(f"{build}: no such folder", hint=_HINT)
    if any("{partition}" in fpga["cell_pattern"] for fpga in data["fpgas"]):
        return read_partitions(_kernel_folder(build))
    return read_whole(build if is_file(build) else _whole_model(build))


def _kernel_folder(build: Path) -> Path:
    folders = [build / place for place in _KERNELS]
    found = next((folder for folder in folders if any(folder.glob("partition_*.onnx"))), None)
    if found is None:
        raise InputError(f"{build}: holds no kernels (partition_<number>.onnx)", hint=_HINT)
    return found


def _whole_model(build: Path) -> Path:
    paths = [folder / name for name in _WHOLE for folder in (build, build / "intermediate_models")]
    found = next((path for path in paths if is_file(path)), None)
    if found is None:
        raise InputError(f"{build}: holds no graph with FIFOs ({', '.join(_WHOLE)})", hint=_HINT)
    return found
