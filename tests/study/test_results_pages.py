"""Each table of `benchmarks/RESULTS.md` tells its date, commit and command, and can be made anew by it."""

import re

from benchmarks import results


def test_each_table_tells_date_commit_and_command_and_can_be_replaced() -> None:
    text = (results.ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8")
    for table in results.tables():
        assert re.match(r"20\d\d-\d\d-\d\d.*, commits? [0-9a-f]{7,8}\b", table.made), table.name
        program = re.findall(r"^python (?:-m )?(benchmarks[/.]\w+)", table.command)[0].replace(".", "/")
        assert (results.ROOT / f"{program}.py").exists(), table.name
        text = text.replace(table.marked, "")
    assert "\n|" not in text  # none stands outside of its marks
    assert results.told("planning\n| a |\n|---|\n| 1 |\n\n1 row\n") == "| a |\n|---|\n| 1 |\n\n1 row"
