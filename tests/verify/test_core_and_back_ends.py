"""The rules that hold for every back end know no kind, attribute or file of FINN: those stand in verify/finn alone."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import floorflow.verify
from floorflow.verify.back_end import ANSWERS
from floorflow.verify.finn.files import FLOORPLAN_FILE, FOLDING_FILE
from floorflow.verify.finn.foldings import FOLDING_ATTRIBUTES
from floorflow.verify.finn.judge import findings
from floorflow.verify.finn.kinds import KINDS
from floorflow.verify.finn.styles import PREFERENCE, STYLE_FILE
from tests.sources import PACKAGE, trees

VERIFY = Path(floorflow.verify.__file__).parent
CORE = sorted(path for path in VERIFY.rglob("*.py") if "finn" not in path.relative_to(VERIFY).parts)
NAMES_IT = "back_end.py"
"""The one file of the core that names FINN: it says where the part that comes with floorflow is."""
READS = {"number", "numbers", "pair", "has", "texts", "choice", "parallelism", "pixels", "_flag", "_divisor"}
"""What FINN's part calls with the name of an attribute."""


def constants(path: Path) -> Iterator[str]:
    for node in ast.walk(trees()[path.relative_to(PACKAGE).as_posix()]):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


pytestmark = pytest.mark.joint  # the first that asks parses the whole package


@cache
def attributes_of_finn() -> set[str]:
    """Names of attributes that FINN's part reads, and those of its foldings."""
    found = {name for _, names in FOLDING_ATTRIBUTES for name in names} | {PREFERENCE}
    for path in (VERIFY / "finn").glob("*.py"):
        for node in ast.walk(trees()[path.relative_to(PACKAGE).as_posix()]):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in READS:
                found |= {a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)}
    return found - {"auto"}  # the default of some, no attribute


def test_the_scan_finds_attributes() -> None:
    assert {"MW", "IFMChannels", "PE", "mem_mode", "depthwise", "NumChannels"} <= attributes_of_finn()


def test_the_core_names_nothing_of_finn() -> None:
    layers = {kind.rpartition("_")[0] for kind in KINDS}
    for path in CORE:
        text = path.read_text(encoding="utf-8")
        words = {*re.findall(r"\w+", text)}
        assert not words & {*KINDS, *layers}, path
        assert not {*constants(path)} & (attributes_of_finn() | {*findings}), path
        assert not any(name in text for name in (FOLDING_FILE, STYLE_FILE, "finn/", FLOORPLAN_FILE)), path
        assert path.name == NAMES_IT or "finn" not in text.lower(), path


def test_the_document_lists_the_findings_and_the_answers() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "backends.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([a-z-]+)` \| (.*) \|$", text.partition("### FINN's part")[2], re.MULTILINE))
    assert listed == dict(findings)
    answers = re.findall(r"^\| `([a-z_]+)", text.partition("### What it answers")[2].partition("###")[0], re.MULTILINE)
    assert tuple(answers) == ANSWERS
