"""Tables of `benchmarks/RESULTS.md` have their date, commit and command, and `benchmarks.results` can make them."""

import re

from benchmarks import results
from tests.plans import ROOT

PAGE = ROOT / "benchmarks" / "RESULTS.md"
PRINTED = "planning 1 of 2\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1 row\n"


def test_each_table_has_its_date_its_commit_and_a_command_that_exists() -> None:
    tables = [table for table in results.tables() if table.page == PAGE]
    assert len({table.name for table in tables}) == len(tables) > 10
    for table in tables:
        assert re.match(r"\d{4}-\d\d-\d\d.*, commits? [0-9a-f]{7,8}\b.*, .*core", table.made), table.name
        program = re.match(r"python (?:-m )?(benchmarks[/.]\w+)", table.command)
        assert program, table.name
        assert (ROOT / f"{program[1].removesuffix('.py').replace('.', '/')}.py").exists(), table.name


def test_no_table_stands_outside_of_its_marks() -> None:
    assert "\n|" not in results.MARKED.sub("", PAGE.read_text(encoding="utf-8"))


def test_a_table_is_taken_out_of_an_output_and_replaced_in_its_page(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(results, "made", lambda: "2026-01-02, commit 01234567, 1 core")
    page = tmp_path / "PAGE.md"
    table = results.Table(page, "some", "2025-01-01, commit 1234567, 2 cores", "python a.py", "| old |\n")
    page.write_text(f"Before.\n\n{table.marked}\nBehind.\n")
    results.replace(table, results.told(PRINTED))
    text = page.read_text()
    assert text.startswith(
        "Before.\n\n<!-- table some -->\n*2026-01-02, commit 01234567, 1 core:* `python a.py`\n\n| a | b |"
    )
    assert text.endswith("| 1 | 2 |\n\n1 row\n<!-- end of table -->\n\nBehind.\n")


def test_without_a_table_the_last_line_is_taken_and_long_rows_are_cut() -> None:
    assert results.told("one\ntwo: 3\n") == "two: 3"
    row = results.shortened(f"| name | {'long ' * 200}| 7 |")
    assert len(row) <= results.MOST_CHARACTERS
    assert row.startswith("| name | long")
    assert row.endswith(" ... | 7 |")
