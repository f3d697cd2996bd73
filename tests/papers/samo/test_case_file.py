"""Reading a case: what is read, and what is refused with file and field."""

import copy
import json
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import pytest

from floorflow.errors import InputError
from floorflow.papers.samo.case_file import read_case
from tests.papers.samo.samo_cases import CASES, content_of, tables

NAME = "fcn_tiny_a_b1__toy_small"


def test_a_case_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(content_of(NAME) | {"unlimited_resources": ["BRAM"]}))
    problem = read_case(file)
    assert [node.name for node in problem.nodes] == [node["name"] for node in content_of(NAME)["table"]["nodes"]]
    assert problem.limits == (11000, 24, inf, 8000)
    assert (problem.objective, problem.batch, problem.bandwidth_gbit_s) == ("latency", 1, 1.0)


def test_no_option_of_samos_tables_breaks_a_rule_of_its_own_node() -> None:
    listed = sum(len(node["options"]) for table in tables().values() for node in table["nodes"])
    of_table = {case["table"]: name for name, case in CASES.items()}
    kept = sum(len(n.cycles) for name in of_table.values() for n in _read(content_of(name)).nodes)
    assert kept == listed == 28_870


def _read(content: Any) -> Any:
    from floorflow.papers.samo.case_file import problem_of

    return problem_of(content, "case.json")


def test_options_that_break_channel_factors_or_intra_folding_are_left_out() -> None:
    content = copy.deepcopy(content_of(NAME))
    relu = next(node for node in content["table"]["nodes"] if node["matching_intra"])
    before = len(relu["options"])
    relu["options"] += [[1, 2, 1, 5.0, 0, 0, 0, 0], [relu["channels_in"] + 1] * 2 + [1, 5.0, 0, 0, 0, 0]]
    nodes = {node.name: node for node in _read(content).nodes}
    assert len(nodes[relu["name"]].cycles) == before


Change = Callable[[dict[str, Any]], None]
MISTAKES: dict[str, Change] = {
    "schema": lambda c: c.update(schema="samo-case/9"),
    "platform": lambda c: c.pop("platform"),
    "platform.resources.DSP": lambda c: c["platform"]["resources"].update(DSP=-1),
    "platform.bandwidth_gbit_s": lambda c: c["platform"].update(bandwidth_gbit_s="wide"),
    "table.nodes": lambda c: c["table"].update(nodes=[]),
    "table.nodes.1.options": lambda c: c["table"]["nodes"][1].update(options=[]),
    "table.nodes.1.options.0.3": lambda c: c["table"]["nodes"][1]["options"].__setitem__(
        0, [1, 1, 1, None, 0, 0, 0, 0]
    ),
    "table.edges.0": lambda c: c["table"]["edges"].__setitem__(0, ["nobody", c["table"]["nodes"][0]["name"]]),
    "table.edges.1": lambda c: c["table"]["edges"][1].reverse(),
    "objective": lambda c: c.update(objective="beauty"),
    "clock_mhz": lambda c: c.update(clock_mhz=0),
    "unlimited_resources.0": lambda c: c.update(unlimited_resources=["gold"]),
}


@pytest.mark.parametrize("field", MISTAKES)
def test_a_wrong_field_is_named(field: str) -> None:
    content = copy.deepcopy(content_of(NAME))
    MISTAKES[field](content)
    with pytest.raises(InputError, match=rf"^case\.json: {field}: ."):
        _read(content)


@pytest.mark.parametrize("text", ["", "{", "[1, 2", "\xff", "[" * 100_000])
def test_what_is_no_json_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"case\.json: (the file|cannot be read)"):
        read_case(file)
