"""A folding as the files of FINN's ApplyConfig and SpecializeLayers, before there is a plan of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from floorflow.backends.finn.config.style_file import STYLE_FILE
from floorflow.backends.finn.specialise import PREFERENCE, layers
from floorflow.dataflow.model import FoldedDataflow

FOLDING_FILE = "folding_config.json"


def folding_texts(folded: FoldedDataflow) -> Mapping[str, str]:
    """Return folding_config.json, and specialize_layers_config.json where hls or rtl is not FINN's own choice."""
    config = {name: dict(sorted(option.folding.items())) for name, option in sorted(folded.options.items())}
    chosen = ((layer, engine.attributes.get(PREFERENCE)) for layer, engine in layers(folded.dataflow).items())
    styles = {layer: {PREFERENCE: style} for layer, style in chosen if style is not None}
    files = {FOLDING_FILE: _json({"Defaults": {}} | config)}
    return files | {STYLE_FILE: _json({"Defaults": {}} | styles)} if styles else files


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, sort_keys=True) + "\n"
