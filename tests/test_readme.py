"""The README shows what the commands really print."""

from __future__ import annotations

from pathlib import Path

from floorflow.cli.tables import summary
from floorflow.schema import read_plan

README = Path(__file__).resolve().parent.parent / "README.md"


def test_the_summary_in_the_readme_is_the_examples_own(cnv_on_u250: Path) -> None:
    printed = summary(read_plan(cnv_on_u250 / "plan.json"), Path("out/cnv"))
    assert "".join(f"    {line}\n" for line in printed.splitlines()) in README.read_text()
