"""How builds verify: FINN's verify_steps in the order of its steps, and the vectors that they compare with.

FINN verifies a whole network at the end of some of its steps, given one input and one expected output. Vectors are made
by a step of floorflow's from the model's weights, so that they are in a build, not in a plan.
"""

import ast
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import yaml

from floorflow.verify.back_end import Files, Row
from floorflow.verify.phase_records import ChannelRecord

NAME, OF_BUILD = "verification-differs", "build-vectors-differ"
FINDINGS = {
    NAME: "build.yaml or build.py do not verify wherever FINN can, in the order of its steps, by floorflow's vectors",
}
SCRIPT, CONFIG = "build.py", "build.yaml"
VECTORS = {
    "verify_input_npy": "floorflow_input.npy",
    "verify_expected_output_npy": "floorflow_expected.npy",
}
_FRONT = "step_qonnx_to_finn step_tidy_up step_streamline step_convert_to_hw "
STEPS = {
    # FINN 39f0c9a and 0.10, build_dataflow_config.py: default_build_dataflow_steps.
    SCRIPT: (
        f"{_FRONT}step_create_dataflow_partition step_specialize_layers step_target_fps_parallelization "
        "step_apply_folding_config step_minimize_bit_width step_generate_estimate_reports step_hw_codegen "
        "step_hw_ipgen step_set_fifo_depths step_create_stitched_ip step_measure_rtlsim_performance "
        "step_out_of_context_synthesis step_synthesize_bitfile step_make_pynq_driver step_deployment_package"
    ).split(),
    # FINN+ 1.6.1, the same.
    CONFIG: (
        f"{_FRONT}step_minimize_bit_width_initial step_create_dataflow_partition step_specialize_layers "
        "step_target_fps_parallelization step_apply_folding_config step_minimize_bit_width "
        "step_transpose_decomposition step_generate_estimate_reports step_assign_ddr_weight_offsets "
        "step_generate_hardware step_create_stitched_ip step_measure_rtlsim_performance "
        "step_out_of_context_synthesis step_prepare_synthesis step_synthesize_bitfile step_make_driver "
        "step_deployment_package"
    ).split(),
}
"""FINN's own steps in their order, by the file that is for it: FINN main's, FINN+'s."""
_PYTHON = {
    "step_qonnx_to_finn": "finn_onnx_python",
    "step_tidy_up": "initial_python",
    "step_streamline": "streamlined_python",
}
STITCHED = "stitched_ip_rtlsim"
VERIFIES = {
    # floorflow_cppsim calls step_apply_folding_config, of which FINN main's verifies.
    SCRIPT: {**_PYTHON, "floorflow_cppsim": "folded_hls_cppsim", "step_create_stitched_ip": STITCHED},
    CONFIG: {**_PYTHON, "step_minimize_bit_width": "folded_hls_cppsim", "step_create_stitched_ip": STITCHED},
}
"""At the end of which steps FINN verifies, and what it calls that (verify_step in build_dataflow_steps.py)."""
CONVERT, THRESHOLDS = "step_convert_to_hw", "floorflow_thresholds"
FIRST, LAST, CUT = "floorflow_vectors", "floorflow_verified", "floorflow_cut"


@dataclass(frozen=True)
class Build:
    """The steps that a file asks for, where FINN is to verify, and the files of vectors."""

    steps: Sequence[str]
    verifies: Sequence[str]
    vectors: Mapping[str, str]
    apart: bool
    """standalone_thresholds: FINN makes an engine of all thresholds, else of none behind a unit."""


def places_of_thresholds(rows: Iterable[Row], channels: Sequence[ChannelRecord]) -> set[bool]:
    """Return whether thresholds behind units are engines of their own (True), or in the units (False), or both."""
    kinds = {row["id"]: (row["entry"]["kind"].split("_")[0], row["entry"]["attributes"]) for row in rows}
    units = {name: of for name, (kind, of) in kinds.items() if kind in ("MVAU", "VVAU")}
    behind = {(c["source"], kinds.get(c["target"], ("", {}))[0]) for c in channels}
    apart = any(source in units and kind == "Thresholding" for source, kind in behind)
    return {*([True] if apart else []), *([False] if any(not of["noActivation"] for of in units.values()) else [])}


def verification_faults(
    folder: Files, place: str, seed: int, thresholds: set[bool] | None, *, is_whole: bool
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the builds in a folder, with the file; ``is_whole``: each makes all of a network.

    ``thresholds``: see `places_of_thresholds`, None of a part of a network.
    """
    told: Mapping[str, Any] = {}
    steps = f"{place}/floorflow_plan.json"
    if folder.exists(steps):
        told = (folder.json(steps) or {}).get("vectors") or {}
    for name, read in ((SCRIPT, _script), (CONFIG, _config)):
        path = f"{place}/{name}"
        text = folder.text(path) if folder.exists(path) else None
        if text is None:
            continue
        try:
            build = read(text)
        except (ValueError, SyntaxError, TypeError, KeyError, AttributeError, yaml.YAMLError) as problem:
            yield path, f"is no build of floorflow's ({type(problem).__name__}: {problem!s:.80})"
            continue
        yield from ((path, fault) for fault in _faults(build, name, is_whole=is_whole))
        if thresholds is not None and CONVERT in build.steps:
            yield from ((path, fault) for fault in _threshold_faults(build, thresholds))
        frames = told.get("frames")
        if build.verifies and (not isinstance(frames, int) or frames < 1 or told.get("seed") != seed):
            yield steps, f"vectors are {told!r:.80}, expected frames, and the plan's seed {seed}"


def _faults(build: Build, file: str, *, is_whole: bool) -> Iterator[str]:
    own, known = [step for step in build.steps if step.startswith("step_")], STEPS[file]
    strange = [step for step in own if step not in known]
    if strange:
        yield f"FINN has no {', '.join(strange)}"
    elif own != sorted(own, key=known.index) or len({*own}) < len(own):
        yield f"FINN's steps are in another order than FINN's: {', '.join(own)}"
    is_cut = CUT in build.steps
    whole = build.steps[: build.steps.index(CUT)] if is_cut else build.steps
    wanted = [VERIFIES[file][step] for step in whole if step in VERIFIES[file]]
    if list(build.verifies) != wanted:
        yield f"verify_steps are {', '.join(build.verifies) or 'none'}; by its steps FINN verifies {', '.join(wanted)}"
    if is_whole and not is_cut and STITCHED not in wanted:
        yield "no step makes the stitched IP, whose simulation alone sees FIFOs and slices"
    if (build.steps[:1] == [FIRST]) != bool(wanted):
        yield f"{FIRST} is to be the first step where FINN verifies, and there alone"
    last = max((k for k, step in enumerate(whole) if step in VERIFIES[file]), default=-1)
    if [k for k, step in enumerate(build.steps) if step == LAST and k > last] == [] and wanted:
        yield f"no {LAST} behind what FINN verifies last: it would only print what it finds"
    given = [build.vectors[key].rpartition("/")[2] for key in VECTORS]
    # Both may be the user's; of one alone the other is never made.
    if wanted and given != [*VECTORS.values()] and ({*given} & {*VECTORS.values()} or not all(given)):
        yield f"vectors are {' and '.join(given)}, {FIRST} makes {' and '.join(VECTORS.values())}"


def _threshold_faults(build: Build, planned: set[bool]) -> Iterator[str]:
    """Yield where FINN would make other engines of thresholds: it has one setting, and a step makes both."""
    if build.apart != (planned == {True}):
        yield f"standalone_thresholds is {build.apart}, the plan has {'both' if len(planned) > 1 else not build.apart}"
    if (THRESHOLDS in build.steps) != (len(planned) > 1):
        yield f"{THRESHOLDS} is to be there where some thresholds stand apart and some do not, and there alone"
    elif len(planned) > 1 and build.steps.index(THRESHOLDS) > build.steps.index(CONVERT):
        yield f"{THRESHOLDS} is to stand ahead of {CONVERT}"


def _config(text: str) -> Build:
    content = yaml.safe_load(text)
    steps = [str(step).removeprefix("floorflow_step.") for step in content["steps"]]
    vectors = {key: str(content.get(key) or "") for key in VECTORS}
    return Build(steps, list(content.get("verify_steps") or ()), vectors, bool(content["standalone_thresholds"]))


def _script(text: str) -> Build:
    tree = ast.parse(text)
    lists = [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign) and _name(node) == "STEPS"]
    (listed,) = lists
    if not isinstance(listed, ast.List):
        raise TypeError("STEPS is no list")
    steps = [item.attr if isinstance(item, ast.Attribute) else ast.literal_eval(item) for item in listed.elts]
    given = {node.arg: ast.unparse(node.value) for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    verifies = re.findall(r"VerificationStepType\('(\w+)'\)", given.get("verify_steps", ""))
    vectors = {key: given.get(key, "").strip("'\"") for key in VECTORS}
    return Build(steps, verifies, vectors, given["standalone_thresholds"] == "True")


def _name(node: ast.Assign) -> str:
    return node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""


def vector_faults(folder: Path, channels: Sequence[ChannelRecord], rows: Mapping[str, Row]) -> Iterator[str]:
    """Yield what is wrong with the vectors of a build that verified: missing, or of other frames than the plan's."""
    files = [folder / name for name in VECTORS.values()]
    if not any(path.is_file() for path in files) and not (folder / "verification_output").is_dir():
        return  # of a model without weights
    shapes = []
    for path in files:
        try:
            shapes.append(_shape(path))
        except (OSError, ValueError, SyntaxError, LookupError, TypeError, struct.error) as problem:
            yield f"{path.name}: {problem!s:.100}"
            return
    frames = [shape[0] if shape else 0 for shape in shapes]
    if frames[0] != frames[1] or not frames[0]:
        yield f"there are {frames[0]} inputs and {frames[1]} expected outputs"
    entered = [(rows[c["target"]], c) for c in channels if _is_host(c["source"]) and c["target"] in rows]
    left = [(rows[c["source"]], c) for c in channels if _is_host(c["target"]) and c["source"] in rows]
    if len(entered) != 1 or len(left) != 1:
        return  # of a part of a network: vectors are the whole's
    for (row, channel), shape, path in zip((*entered, *left), shapes, files, strict=True):
        is_input = path is files[0]
        bits = row["entry"]["input_bits" if is_input else "output_bits"]
        elements, found = channel["words_per_frame"] * channel["width_bits"] // max(bits, 1), prod(shape[1:])
        # Behind the last engine the host may take the largest of what comes out.
        if found != elements and (is_input or not 0 < found < elements):
            way = "input" if is_input else "output"
            yield f"{path.name} has the shape {shape}: {found} values a frame, the plan's {way} has {elements}"


def _is_host(end: str) -> bool:
    return end.rpartition("/")[2].startswith("host:")


def _shape(path: Path) -> tuple[int, ...]:
    """Return the shape that a .npy file tells (NumPy's format 1 and 2)."""
    with path.open("rb") as file:
        head = file.read(12)
        if head[:6] != b"\x93NUMPY":
            raise ValueError("it is no .npy file")
        size = struct.unpack("<H" if head[6] == 1 else "<I", head[8 : 10 if head[6] == 1 else 12])[0]
        file.seek(10 if head[6] == 1 else 12)
        return tuple(map(int, ast.literal_eval(file.read(min(size, 10_000)).decode("latin-1"))["shape"]))
