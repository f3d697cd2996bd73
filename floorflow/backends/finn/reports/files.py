"""Which of a build's files are FINN's own reports."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from floorflow.backends.finn.reports import estimates, synthesis
from floorflow.backends.finn.reports.build_contents import is_json, role_of_json
from floorflow.backends.finn.reports.node_json import nodes
from floorflow.backends.reports import BuiltFoldings, Report
from floorflow.dataflow.model import Attributes

KNOWN = ("post_synth_resources.json", "estimate_layer_resources*.json")
"""FINN's reports, that of synthesis first."""
_CONFIG = "final_hw_config.json"
"""FINN's folding of what was built, which has the FIFOs too; others are what was asked for."""
_FOLDED = ("PE", "SIMD", "parallel_window")
"""What must be as planned in it for an engine's rows to be of the planned folding."""


def read_report(file: str, text: str) -> Report | BuiltFoldings | None:
    """Return what a file holds that is FINN's, by its name or contents; None for anything else.

    Raises
    ------
    InputError
        If it is malformed; names file and line.

    """
    if PurePath(file).suffix.lower() != ".json" and not is_json(text):
        return None
    role = role_of_json(file, text)
    if role == "synthesis":
        return synthesis.read(text, file)
    if role in {"estimates", "estimates of HLS"}:
        return estimates.read(text, file, estimates.FINN if role == "estimates" else estimates.HLS)
    if role == "folding" and (PurePath(file).name == _CONFIG or "StreamingFIFO" in text):
        return BuiltFoldings(file, {name: _folding(entry) for name, entry in nodes(text, file).items()})
    return None


def _folding(entry: Mapping[str, Any]) -> Attributes:
    return {name: entry[name] for name in _FOLDED if name in entry}
