"""The paper's networks as a case: every row of its data file, and files that are no case."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floorflow.errors import InputError
from floorflow.papers.dpr.case_file import chunk_case, read_chunk_case
from floorflow.papers.dpr.case_rows import answered_rows, problem_of_row
from floorflow.papers.dpr.problem import cycles_of

CASE = Path(__file__).resolve().parents[3] / "examples" / "seyoum_case.json"
"""Data file of the notes on Seyoum et al.: layers of Xilinx/BNN-PYNQ, two models, answers of a prototype."""
ROUNDING_MS = 0.0011
CONTENT = json.loads(CASE.read_text())


def with_rows(keep: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    return {**CONTENT, "expected": [row for row in CONTENT["expected"] if keep(row)]}


def require_rows(content: dict[str, Any]) -> None:
    """Compare all rows; two were not proven when they were recorded, ours are."""
    written = json.loads(json.dumps(content), parse_float=__import__("decimal").Decimal)
    for ours, wanted in zip(answered_rows(chunk_case(written, "case")), content["expected"], strict=True):
        assert {key: ours[key] for key in wanted if key not in {"static", "dynamic"}} == {
            key: value for key, value in wanted.items() if key not in {"static", "dynamic"}
        }
        for kind in ("static", "dynamic"):
            mine, recorded = ours[kind], wanted[kind]
            assert set(recorded) <= set(mine)
            assert mine["status"] == ("OPTIMAL" if recorded["status"] == "FEASIBLE" else recorded["status"])
            if recorded["status"] == "INFEASIBLE":
                continue
            assert (mine["n"], mine["chunks"]) == (recorded["n"], recorded["chunks"])
            for key in ("T_ms", "T_inf_ms", "T_rec_ms"):
                assert mine[key] == pytest.approx(recorded[key], abs=ROUNDING_MS)


AREAS = {0.3, 0.5, 0.87}
"""The areas whose rows are answered in the gate; those of all others are by -m slow."""


@pytest.mark.parametrize("net", ["CNVW1A1", "CNVW2A2"])
@pytest.mark.parametrize("model", ["M1", "M2"])
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_rows_of_the_papers_foldings_are_met(net: str, model: str, every: bool) -> None:
    kept = with_rows(lambda row: row["net"] == net and row["model"] == model and (every or row["sigma"] in AREAS))
    assert kept["expected"]
    require_rows(kept)


def test_rows_with_a_choice_of_memories_and_finns_cycles_are_met() -> None:
    require_rows(with_rows(lambda row: row["model"] == "M2free" and row["sigma"] in AREAS and row["net"] == "CNVW1A1"))


@pytest.mark.slow
def test_all_other_rows_are_met() -> None:
    require_rows(with_rows(lambda row: row["model"] == "M2free"))


def test_utilisation_is_that_of_the_recorded_folding_where_it_is_the_same() -> None:
    content = with_rows(lambda row: row["model"] == "M1" and row["net"] == "CNVW1A1")
    written = json.loads(json.dumps(content), parse_float=__import__("decimal").Decimal)
    same = 0
    for ours, wanted in zip(answered_rows(chunk_case(written, "case")), content["expected"], strict=True):
        if wanted["dynamic"].get("fold") == ours["dynamic"].get("fold"):
            assert ours["dynamic"].get("util_max") == wanted["dynamic"].get("util_max")
            same += 1
    assert same > 10


def test_stock_foldings_take_what_equation_5_says() -> None:
    case = read_chunk_case(CASE)
    for net, recorded_ms in CONTENT["eq5_stock_ms"].items():
        row = next(row for row in case.rows if row.net == net and row.model == "M1")
        slowest = [layer.matrix_cycles(*folding) for layer, folding in zip(case.layers, case.stock[net], strict=True)]
        cycles = (case.batch - 1) * max(slowest) + sum(slowest)
        assert cycles / case.clock_mhz / 1000 == pytest.approx(recorded_ms, abs=ROUNDING_MS)
        problem = problem_of_row(case, row)
        fastest = [int(layer.cycles.argmin()) for layer in problem.layers]
        assert cycles_of(problem, 0, fastest) < cycles


def test_a_case_without_rows_is_asked_at_its_own_areas() -> None:
    content = {key: value for key, value in CONTENT.items() if key != "expected"}
    rows = chunk_case(json.loads(json.dumps(content), parse_float=__import__("decimal").Decimal), "case").rows
    assert {(r.net, r.model, r.rule, r.finn_latency, r.infra, float(r.sigma)) for r in rows} == {
        (r["net"], r["model"], r["rule"], r["finn_latency"], r["infra"], r["sigma"]) for r in CONTENT["expected"]
    }


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda c: c.pop("batch"), "batch"),
        (lambda c: c.update(batch=0), "batch"),
        (lambda c: c.update(batch="256"), "batch"),
        (lambda c: c["device"]["resources"].update(LUT=-1), "device.resources.LUT"),
        (lambda c: c["layers"][0].pop("IFM"), "layers.0"),
        (lambda c: c["layers"][6].update(MW=1.5), "layers.6.MW"),
        (lambda c: c["layers"].pop(), "entries"),
        (lambda c: c["expected"][0].update(net="CNVW9A9"), "expected.0"),
        (lambda c: c["expected"][0].update(model="M7"), "expected.0"),
        (lambda c: c["expected"][0].update(rule="fin"), "expected.0.rule"),
        (lambda c: c["expected"][0].update(sigma=1.2), "expected.0.sigma"),
        (lambda c: c["model_M1"].pop("coef"), "model_M1"),
        (lambda c: [c.pop("model_M1"), c.pop("model_M2")], "no model"),
        (lambda c: c["folding_values"].update(P=[]), "folding_values.P"),
        (lambda c: c["model_M2"]["fifo"].update({"77": []}), "fifo.77"),
    ],
)
def test_what_is_no_case_is_refused_by_field(
    change: Callable[[dict[str, Any]], object], named: str, tmp_path: Path
) -> None:
    content = json.loads(CASE.read_text())
    change(content)
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(content))
    with pytest.raises(InputError, match=r"bad\.json") as refusal:
        read_chunk_case(file)
    assert named in str(refusal.value)


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"model_M1": NaN}'])
def test_what_is_no_json_object_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(InputError, match=r"bad\.json"):
        read_chunk_case(tmp_path / "bad.json")
