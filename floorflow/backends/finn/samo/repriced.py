"""Foldings of FINN's engines at the cycles and resources of the fork's estimators (``--costs samo``).

The engines are today's; their types and attributes are told to the estimators by the fork's names. The fork has no
parallel windows, no UltraRAM, and no estimator for kinds that came later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorflow.backends.finn.names import family
from floorflow.backends.finn.samo.estimators import ESTIMATORS, Floats
from floorflow.dataflow.model import Attributes, Option
from floorflow.dataflow.options import OptionTable
from floorflow.errors import InputError
from floorflow.resources import Resources

Told = dict[str, Any]
_MEMORIES = {"internal_embedded": "const", "internal_decoupled": "decoupled"}
FORK_TYPES: Mapping[str, str] = {
    "MVAU": "StreamingFCLayer_Batch",
    "VVAU": "Vector_Vector_Activate_Batch",
    "ConvolutionInputGenerator": "ConvolutionInputGenerator",
    "Thresholding": "Thresholding_Batch",
    "ChannelwiseOp": "ChannelwiseOp_Batch",
    "FMPadding": "FMPadding_Batch",
    "DownSampler": "DownSampler",
    "StreamingMaxPool": "StreamingMaxPool_Batch",
    "Pool": "Pool_Batch",
    "AddStreams": "AddStreams_Batch",
    "DuplicateStreams": "DuplicateStreams_Batch",
    "LabelSelect": "LabelSelect_Batch",
}
"""The fork's types by families of kinds."""
UNPRICED = frozenset({"GlobalAccPool"})
"""Families that are in none of SAMO's tables, of which FINN then as now counted cycles alone."""


def repriced(op_type: str, attributes: Attributes, table: OptionTable) -> OptionTable:
    """Return the foldings that the fork has, at its cycles and resources.

    Raises
    ------
    InputError
        If the fork has no estimator for the kind.

    """
    if family(op_type) in UNPRICED:
        return replace(table, numbers=np.concatenate([table.numbers[:1], 0 * table.use, table.numbers[6:]]))
    fork = _fork_type(op_type)
    table = table.take((table.attribute("parallel_window", 0) == 0) & table.of_styles(_is_in_fork))
    numbers = table.numbers.copy()
    styles: dict[int, tuple[Attributes, list[int]]] = {}
    for row, style in enumerate(table.styles):
        styles.setdefault(id(style), (style, []))[1].append(row)
    for style, listed in styles.values():
        rows = np.array(listed, dtype=np.intp)
        part = table.take(rows)
        foldings = (part.attribute(name, 1).astype(np.float64) for name in ("SIMD", "PE"))
        numbers[:6, rows] = _estimated(fork, {**attributes, **style}, *foldings)
    return replace(table, numbers=numbers)


def estimate(op_type: str, attributes: Attributes) -> tuple[int, Resources]:
    """Return cycles and resources of one folded engine.

    Raises
    ------
    InputError
        If the fork has no estimator for the kind, or it asks for an attribute that is missing.

    """
    if attributes.get("parallel_window", 0) == 1 or "ultra" in attributes.values():
        raise InputError(f"--costs samo: SAMO's FINN has no parallel windows and no UltraRAM ({op_type})")
    parallelism = [attributes.get(name, 1) for name in ("SIMD", "PE")]
    if not all(isinstance(one, int) and one > 0 for one in parallelism):
        raise InputError(f"--costs samo: SIMD and PE of {op_type} are {parallelism}, expected numbers from 1")
    foldings = (np.array([one], dtype=np.float64) for one in parallelism)
    try:
        cycles, *use = _estimated(_fork_type(op_type), dict(attributes), *foldings)[:, 0].tolist()
    except KeyError as error:
        raise InputError(f"--costs samo: attribute {error} of {op_type} is missing") from error
    return cycles, Resources(*use)


def _fork_type(op_type: str) -> str:
    fork = FORK_TYPES.get(family(op_type))
    if fork is None:
        raise InputError(
            f"--costs samo: SAMO's FINN has no estimator for {op_type}", hint="use --finn main, or other costs"
        )
    return fork


def _is_in_fork(option: Option) -> bool:
    """Whether the fork knows the memory: it has no UltraRAM."""
    return "ultra" not in option.folding.values()


def _estimated(fork: str, has: Told, simd: Floats, pe: Floats) -> NDArray[np.int64]:
    """Return cycles, LUT, FF, BRAM18, URAM and DSP of foldings of one style, (6, n_options)."""
    if fork not in {"StreamingFCLayer_Batch", "Vector_Vector_Activate_Batch"}:
        simd = pe = np.maximum(simd, pe)
    cycles, lut, dsp, bram = ESTIMATORS[fork](_told(fork, has), simd, pe)
    columns = (np.ceil(cycles), lut, 0 * pe, bram, 0 * pe, dsp)
    return np.stack([np.broadcast_to(np.asarray(column), pe.shape) for column in columns]).astype(np.int64)


def _told(fork: str, has: Told) -> Told:
    """Return attributes by the fork's names."""
    told = {**has, "mem_mode": _MEMORIES.get(str(has.get("mem_mode")), "const")}
    more: Mapping[str, Callable[[], Told]] = {
        "Pool_Batch": lambda: {"KernelSize": _first(has["KernelSize"]), "OutImgDim": _first(has["OutImgDims"])},
        "StreamingMaxPool_Batch": lambda: {"PoolDim": [_first(has["PoolDim"])] * 2},
    }
    told |= more.get(fork, dict)()
    for name, value in told.items():
        told[name] = list(value) if isinstance(value, tuple) else value
    return told


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list | tuple) else value
