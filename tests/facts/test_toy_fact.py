"""A new fact touches four files of the package: where it is found, the fact, its rule, and the specification.

The toy is a number: the bits of all streams between slots, each times the boundaries that it passes. It is added to a
copy of the package by the edits below, and is then planned, told in the report, judged and refused where it is wrong.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COUNTED = """        return f"{kinds.count('sll')} SLR crossings{halves}{links}"\n"""
EDITS: dict[str, dict[str, str]] = {
    # Where it is found.
    "record/phase.py": {
        "        cost=run.partition_cost,\n": "        bit_hops=sum(crossing.width_bits * crossing.hops"
        " for part in run.wholes for crossing in streams.crossings(part)),\n"
    },
    # The fact: its value, and its words in the summary, which begins the report.
    "facts/partition.py": {
        "    cost: int\n": "    bit_hops: int\n",
        COUNTED: '        links += f", {self.bit_hops:,} bits times boundaries"\n',
    },
    # Its rule.
    "verify/rules/crossings.py": {
        '    phase.expect("wrong-cost", where, "cost", partition["cost"], cost)\n': "    bit_hops = sum("
        'entry["width_bits"] * entry["hops"] for entry in partition["crossings"])\n'
        '    phase.expect("wrong-cost", where, "bit_hops", partition["bit_hops"], bit_hops)\n'
    },
    # The specification of plan.json.
    "verify/phase_records.py": {"    cost: float\n": "    bit_hops: Count\n"},
}
"""By file, the lines that stand there once, each with what is added before it."""
SCRIPT = """
import json
from pathlib import Path

import floorflow as ff
from floorflow.request import DEFAULT_CAP
from tests.conftest import branches

Path("made").mkdir()
out = branches(Path("made"), cap={**DEFAULT_CAP, "LUT": 0.02})
found = [[v.name, v.message] for v in ff.check(out).violations]
plan = json.loads((out / "plan.json").read_text())
partition = plan["phases"][0]["partition"]
stated = partition["bit_hops"]
partition["bit_hops"] += 1
(out / "plan.json").write_text(json.dumps(plan))
mutant = [[v.name, v.message] for v in ff.check(out).violations]
text = (out / "report.txt").read_text()
print(json.dumps({"package": ff.__file__, "found": found, "stated": stated, "mutant": mutant, "report": text}))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Return a folder with a copy of the package in which the toy fact is."""
    shutil.copytree(ROOT / "floorflow", tmp_path / "floorflow")
    for name in ("platforms", "tcl"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name, edits in EDITS.items():
        path = tmp_path / "floorflow" / name
        text = path.read_text(encoding="utf-8")
        for line, added in edits.items():
            assert text.count(line) == 1, f"{name}: {line}"
            text = text.replace(line, added + line)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_a_number_of_the_plan_with_its_words_its_rule_and_its_mutant_touches_four_files(package: Path) -> None:
    command, paths = [sys.executable, "-c", SCRIPT], {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=package, env=os.environ | paths, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert Path(answer["package"]).is_relative_to(package)
    assert answer["found"] == []
    assert answer["stated"] > 0
    assert f", {answer['stated']:,} bits times boundaries" in answer["report"]
    wrong = f"bit_hops is {answer['stated'] + 1}, derived {answer['stated']}"
    assert ["wrong-cost", wrong] in answer["mutant"]
    assert len(EDITS) == 4
