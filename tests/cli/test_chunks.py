"""``floorflow chunks`` on a network and on a case, and what it refuses."""

import csv
import json
from pathlib import Path

import pytest

from floorflow import api
from floorflow.errors import InputError
from tests.command_line import floorflow
from tests.plans import ROOT

TFC, CASE = str(ROOT / "examples" / "tfc_1w1a.onnx"), ROOT / "examples" / "seyoum_case.json"


def test_a_network_is_cut_where_the_area_is_too_small_for_all_of_it(tmp_path: Path) -> None:
    found = api.chunks(TFC, "pynq-z1", area="0.02:0.06:0.04", batch=16)
    small, large = found.as_dict()["points"]
    assert small["static"]["ms"] is None
    assert small["dynamic"]["status"] == "optimal"
    assert len(small["dynamic"]["chunks"]) > 1
    assert large["static"]["ms"] == large["dynamic"]["ms"]
    names = set(found.save(tmp_path / "out"))
    pictures = {f"{name}.{kind}" for name in ("time", "composition") for kind in ("png", "svg")}
    assert names == {"chunks.json", "chunks.csv", "run.json", *pictures}
    rows = list(csv.DictReader((tmp_path / "out" / "chunks.csv").read_text().splitlines()))
    assert [float(row["dynamic_ms"]) for row in rows] == [small["dynamic"]["ms"], large["dynamic"]["ms"]]


def test_equal_runs_find_equal_designs() -> None:
    found = [api.chunks(TFC, "pynq-z1", area=[0.03], batch=16, regions=2, sizes="free").as_dict() for _ in range(2)]
    for content in found:
        for point in content["points"]:
            for kind in ("static", "dynamic"):
                del point[kind]["seconds"]
    assert found[0] == found[1]


def test_powers_are_some_of_all_foldings_and_traffic_takes_time() -> None:
    asked = {"area": [0.03], "batch": 64}
    every, powers, slow = (
        api.chunks(TFC, "pynq-z1", **asked, **more).as_dict()["points"][0]["dynamic"]["ms"]
        for more in ({}, {"foldings": "powers"}, {"memory_gbs": 0.001})
    )
    assert every <= powers
    assert slow > every


def test_a_case_is_answered_on_standard_output(tmp_path: Path) -> None:
    content = json.loads(CASE.read_text())
    content["expected"] = [row for row in content["expected"] if row["model"] == "M1" and row["sigma"] in {0.3, 0.87}]
    asked = [{key: row[key] for key in row if key not in {"static", "dynamic"}} for row in content["expected"]]
    (tmp_path / "case.json").write_text(json.dumps({**content, "expected": asked}))
    done = floorflow("chunks", "--case", "case.json", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for ours, wanted in zip(json.loads(done.stdout)["expected"], content["expected"], strict=True):
        for kind in ("static", "dynamic"):
            assert ours[kind]["status"] == wanted[kind]["status"]
            assert ours[kind].get("T_ms") == pytest.approx(wanted[kind].get("T_ms"), abs=0.0011)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"area": "0.3:0.1:0.05"}, "--area"),
        ({"area": "0.3:1:0"}, "--area"),
        ({"area": "1.5"}, "--area"),
        ({"area": "half"}, "--area"),
        ({"area": ""}, "--area"),
        ({"sizes": "0.7,0.7", "regions": 2}, "--sizes"),
        ({"sizes": "0.7", "regions": 2}, "--sizes"),
        ({"sizes": "free", "size_step": "0"}, "--size-step"),
        ({"regions": 9}, "--regions"),
        ({"method": "guess"}, "--method"),
        ({"method": "milp", "regions": 2}, "--method milp"),
        ({"method": "milp", "memory_gbs": 1.0}, "--method milp"),
        ({"memory_gbs": -1.0}, "--memory-gbs"),
        ({"memory_gbs": float("nan")}, "--memory-gbs"),
        ({"platform": "alveo-u250"}, "alveo-u250"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_option(options: dict[str, object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        api.chunks(TFC, options.pop("platform", "pynq-z1"), **options)  # type: ignore[arg-type]


def test_what_fits_no_area_ends_with_3_and_says_what_is_short(tmp_path: Path) -> None:
    done = floorflow("chunks", TFC, "-p", "pynq-z1", "--area", "0.001", "--json", folder=tmp_path)
    assert done.returncode == 3
    assert "short" in done.stderr
    assert json.loads(done.stdout)["points"][0]["dynamic"]["status"] == "infeasible"


def test_the_command_refuses_with_exit_2_and_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{}")
    for words in (["--case", "none.json"], ["--case", "bad.json"], [TFC], [TFC, "-p", "pynq-z1", "--area", "2"]):
        done = floorflow("chunks", *words, folder=tmp_path)
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        assert not done.stdout
