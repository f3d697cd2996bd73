"""What only one back end knows stays in its folder: its imports, kinds, attributes and file names are nowhere else."""

import ast
import re
from collections.abc import Iterator

from floorflow.backends.finn.kinds.registry import KINDS
from floorflow.backends.finn.names import FOLDING_ATTRIBUTES, HARDWARE_ATTRIBUTES, family
from tests.sources import trees

OWN = ("backends/finn/", "verify/finn/")
PLAIN_WORDS = {
    "dtype",
    "depthwise",
    "bodies",
    "Size",
    "Stride",
    "Padding",
    "Function",
    "Labels",
    "Dim",
    "Kernel",
    "Channels",
    "K",
    "M",
    "Func",
    "out_dtype",
}
"""Attributes of FINN's that are words of their own, or QONNX's (of MultiThreshold)."""
KIND_NAMES = {family(kind) for kind in KINDS} - {"Pool", "Lookup", "Reshape"} | {"StreamingDataflowPartition"}
ATTRIBUTES = {*FOLDING_ATTRIBUTES, *HARDWARE_ATTRIBUTES, "preferred_impl_style", "inFIFODepths"} - PLAIN_WORDS
FILES = {"folding_config.json", "specialize_layers_config.json", "finn/floorplan.json", "final_hw_config.json"}
FILES |= {"post_synth_resources", "estimate_layer_resources"}
FORBIDDEN = re.compile(
    "|".join((
        rf"\b(?:{'|'.join(sorted(KIND_NAMES))})(?:_hls|_rtl)?\b",
        rf"\b(?:{'|'.join(sorted(ATTRIBUTES))})\b",
        *map(re.escape, sorted(FILES)),
    ))
)  # fmt: skip


def docstrings(tree: ast.AST) -> set[int]:
    """Return the constants that only explain: strings that stand alone."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def findings(tree: ast.Module) -> Iterator[str]:
    """Yield what a file says of FINN in its strings and imports; docstrings may explain."""
    explained = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("floorflow.backends.finn"):
            yield f"line {node.lineno}: imports {node.module}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explained:
            yield from (f"line {node.lineno}: {found!r}" for found in FORBIDDEN.findall(node.value))


def test_nothing_of_finn_is_named_outside_its_back_end() -> None:
    elsewhere = {name: tree for name, tree in trees().items() if not name.startswith(OWN)}
    assert [f"{name}: {found}" for name, tree in elsewhere.items() for found in findings(tree)] == []


def test_the_scan_sees_what_it_looks_for() -> None:
    text = (
        '"""MVAU is explained here."""\nfrom floorflow.backends.finn.names import family\n'
        'A = "MVAU_hls"\nB = f"{A} has PE"\nC = "finn/folding_config.json"\nD = "a pad, PEAK and MVAUX"\n'
    )
    assert list(findings(ast.parse(text))) == [
        "line 2: imports floorflow.backends.finn.names",
        "line 3: 'MVAU_hls'",
        "line 5: 'folding_config.json'",
        "line 4: 'PE'",
    ]
