"""Comparing methods: what each found, against what is proven, as table, JSON and picture."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import floorflow as ff
from floorflow.api import studies as api
from floorflow.cli.main import app
from floorflow.cli.studies import comparison_table
from floorflow.errors import InputError
from floorflow.request import Request, known_methods
from floorflow.study.comparison.compare import Comparison, compare
from tests.plans import CNV, TFC

METHODS = ("exact", "cpsat", "finn", "finn-wide", "rule", "annealing", "brute")


@pytest.fixture(scope="module")
def fastest() -> Comparison:
    return compare(Request(TFC, "pynq-z1", costs="estimated"), METHODS)


@pytest.fixture(scope="module")
def at_a_rate() -> Comparison:
    # FINN leaves products to HLS, which by 2024 has them in LUTs.
    request = Request(CNV, "pynq-z1", fps=800.0, costs="estimated", vivado="2024.2")
    return compare(request, ("exact", "finn", "rule"))


def test_every_method_is_known() -> None:
    assert sorted(known_methods("fold_method")) == sorted(METHODS)


def test_proving_methods_agree_and_meet_the_bounds(fastest: Comparison) -> None:
    exact, cpsat = fastest.entries[:2]
    assert exact.interval_cycles == cpsat.interval_cycles == fastest.bound_cycles
    assert exact.scarcity == pytest.approx(cpsat.scarcity)
    assert (exact.gap, cpsat.gap) == (pytest.approx(0), pytest.approx(0))


def test_nothing_beats_the_bounds(fastest: Comparison, at_a_rate: Comparison) -> None:
    for comparison in (fastest, at_a_rate):
        for entry in comparison.entries:
            if entry.interval_cycles is not None:
                assert entry.scarcity >= entry.bound - 1e-9
                assert entry.resources.lut >= entry.engines.lut
                below = [bound for cycles, bound in comparison.curve if cycles >= entry.interval_cycles]
                assert entry.scarcity >= max(below) - 1e-9
                assert entry.interval_cycles >= (comparison.bound_cycles or 0)


def test_the_joint_bound_lies_between_the_folding_bound_and_the_plan(fastest: Comparison) -> None:
    assert fastest.bound_cycles <= fastest.joint_bound_cycles
    plan = ff.plan(TFC, "pynq-z1", costs="estimated", effort="fast", plots=False)
    assert fastest.joint_bound_cycles <= plan.summary["networks"][0]["interval_cycles"]


def test_a_rate_is_kept(at_a_rate: Comparison) -> None:
    assert at_a_rate.requested_cycles == 118_656
    assert at_a_rate.bound_cycles is None
    assert at_a_rate.joint_bound_cycles is None
    assert all(entry.frames_per_s >= 800 for entry in at_a_rate.entries)
    exact, finn, _ = at_a_rate.entries
    assert finn.gap == pytest.approx(1 - exact.scarcity / finn.scarcity)
    assert finn.gap > 0.1


def test_finns_folding_takes_a_dsp_block_a_product_where_hls_does() -> None:
    request = Request(CNV, "pynq-z1", fps=800.0, costs="estimated", vivado="2022.2")
    (finn,) = compare(request, ("finn",)).entries
    assert finn.frames_per_s is None
    assert "exceeds the limits on single engines" in finn.verdict
    assert "(DSP)" in finn.verdict


def test_what_was_not_found_says_why(fastest: Comparison) -> None:
    brute = fastest.entries[-1]
    assert brute.interval_cycles is None
    assert re.match(r"not tried: [\d.]+e\+\d+ combinations, 1e\+06 allowed", brute.verdict)


def test_balance_costs_rate_and_only_cpsat_keeps_it() -> None:
    free, balanced = (
        compare(Request(TFC, "pynq-z1", costs="estimated"), ("cpsat",), epsilon).entries[0] for epsilon in (None, 0.5)
    )
    assert balanced.interval_cycles >= free.interval_cycles
    layers = [name for name in balanced.folding if name.startswith("MVAU")]
    assert len(layers) == 4


def test_unknown_methods_and_open_numbers_of_fpgas_are_refused() -> None:
    with pytest.raises(InputError, match="folding method 'genetic' is unknown"):
        compare(Request(TFC, "pynq-z1", costs="estimated"), ("genetic",))
    with pytest.raises(InputError, match="--fpgas auto"):
        compare(Request(TFC, "pynq-z1", fpgas="auto"), ("exact",))


def test_the_table_has_a_row_a_method(fastest: Comparison) -> None:
    table = comparison_table(fastest.as_dict())
    assert table.row_count == len(METHODS)
    assert list(table.columns[0].cells) == list(METHODS)


def test_files_are_json_and_pictures(fastest: Comparison) -> None:
    files = api.Comparison(fastest, (), 0.0).files()
    content = json.loads(files["compare.json"])
    assert content["schema"] == "floorflow-comparison/1"
    assert [row["method"] for row in content["methods"]] == list(METHODS)
    assert content["methods"][2]["interval_over_bound"] == fastest.entries[2].interval_cycles / fastest.bound_cycles
    assert bytes(files["compare.png"]).startswith(b"\x89PNG")
    text = files["compare.svg"].decode()
    for name in ("cpsat", "finn-wide", "brute: not tried"):
        assert name in text
    assert api.Comparison(fastest, (), 0.0).files()["compare.svg"] == files["compare.svg"]


def test_the_command_prints_json_and_writes_a_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["compare", str(TFC), "-p", "pynq-z1", "--methods", "exact,finn", "--costs", "finn", "--json"]
    done = CliRunner().invoke(app, [*arguments, "-o", str(out)])
    assert done.exit_code == 0, done.output
    printed = json.loads(done.stdout)
    assert printed["costs"] == "finn"
    assert {path.name for path in out.iterdir()} == {"compare.json", "compare.png", "compare.svg", "run.json"}
    assert CliRunner().invoke(app, [*arguments, "-o", str(out)]).exit_code == 2


def test_the_command_prints_a_table() -> None:
    done = CliRunner().invoke(app, ["compare", str(TFC), "-p", "pynq-z1", "--methods", "exact,rule"])
    assert done.exit_code == 0
    said = " ".join(done.stdout.split())
    assert re.search(r"no folding is faster than ([\d,]+) cycles, no plan than \1", said)
    assert CliRunner().invoke(app, ["compare", str(TFC), "-p", "pynq-z1", "--methods", "magic"]).exit_code == 2
