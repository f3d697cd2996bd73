"""A model file as operations, with the name that QONNX's clean-up gives each node."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from floorflow.network import FloatBits, Network, partial_network
from floorflow.network.obstacles import Obstacles
from floorflow.network.onnx_file import OnnxFile, load

_AFTER_CLEAN_UP: Mapping[str, str] = {"Gemm": "MatMul"}
"""Operators that QONNX makes of others before it numbers them."""
_EIGHT_BIT_INPUT = re.compile(r"input '.*' has no quantiser before ")
"""The reader's note that it takes such an input as 8 bits; here it has the bits of the other activations."""
_FLOAT = "the network has no quantisers"
_BITS_OPTIONS = ("weight_bits", "activation_bits")


@dataclass(frozen=True)
class LayerSource:
    """A model that was read; ``clean_names`` are nodes' names after ``qonnx.util.cleanup``, by their own.

    ``has_quantisers``: whether it says itself which bits values have.
    """

    network: Network
    sha256: str
    clean_names: Mapping[str, str]
    has_quantisers: bool


def read_layers(path: Path, bits: FloatBits) -> LayerSource:
    """Read ONNX of any dialect; ``bits`` are for one without quantisers.

    Raises
    ------
    InputError
        If the file is missing, broken or not understood at all.

    """
    return layers_from(load(path), bits)


def layers_from(file: OnnxFile, bits: FloatBits) -> LayerSource:
    """Return the same of a file that was loaded; its model is changed in place."""
    names, sha256 = _clean_names(file), file.sha256  # before dialects rewrite the model in place
    network = partial_network(file, bits)
    notes = tuple(_own_spelling(note) for note in network.notes if not _EIGHT_BIT_INPUT.match(note))
    return LayerSource(replace(network, notes=notes), sha256, names, _FLOAT not in " ".join(network.notes))


def check_read(network: Network) -> None:
    """Refuse a network of which not everything could be read; all obstacles are named."""
    Obstacles(list(network.obstacles)).check("The back end reads networks of convolutions, dense layers and pools.")


def _clean_names(file: OnnxFile) -> dict[str, str]:
    counted: Counter[str] = Counter()
    names = {}
    for node in file.nodes:
        op = _AFTER_CLEAN_UP.get(node.op_type, node.op_type)
        names[node.name] = f"{op}_{counted[op]}"
        counted[op] += 1
    return names


def _own_spelling(note: str) -> str:
    for name in _BITS_OPTIONS:
        note = note.replace(f"--{name.replace('_', '-')}", f"--backend-option {name}")
    return note
