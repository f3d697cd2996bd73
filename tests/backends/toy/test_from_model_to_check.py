"""A back end outside of floorflow goes from its own model format to a legal plan, pictures and `check`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.backends.toy.toolbox import EDGES, TOY, floorflow, plan

PICTURES = {"candidates", "floorplan_fpga0", "folding", "partition", "routing_fpga0"}


def read(out: Path) -> dict[str, Any]:
    return json.loads((out / "plan.json").read_text())


def assert_legal(out: Path) -> None:
    told = floorflow("check", out)
    assert (told.returncode, "legal" in told.stdout, told.stdout.count("violation")) == (0, True, 0)


def test_one_slot_has_the_fastest_legal_plan(tmp_path: Path) -> None:
    ended = plan(EDGES, tmp_path / "out", "-p", "zcu104")
    assert ended.returncode == 0, ended.stderr
    assert_legal(tmp_path / "out")
    made = read(tmp_path / "out")
    # 24 x 32 pixels, 48 x 16 weights, 64 lanes at most: none is faster.
    assert made["summary"]["networks"][0]["interval_cycles"] == 24 * 32 * 48 * 16 // 64
    assert made["options"]["backend_options"] == {"maths": "free", "most_lanes": 64}


def test_several_modules_lie_in_several_slrs_and_are_legal(on_u250: Path) -> None:
    assert_legal(on_u250)
    phase = read(on_u250)["phases"][0]
    assert len(set(phase["partition"]["assignment"].values())) >= 2
    assert phase["partition"]["crossings"]
    assert {path.name for path in (on_u250 / "plots").iterdir()} == {
        f"{name}.{kind}" for name in PICTURES for kind in ("png", "svg")
    }


def test_three_kinds_play_their_roles(on_u250: Path) -> None:
    made = read(on_u250)
    told = {e["name"]: (e["kind"], e["role"], e["label"]) for e in made["networks"][0]["engines"]}
    assert told["smooth"] == ("Filter", "core", "filter")
    assert told["window"] == ("LineBuffer", "front", "lines")
    assert (told["add"], told["fork"]) == (("Mixer", "front", "mix"), ("Mixer", "behind", "fork"))
    modules = {m["name"]: set(m["engines"]) for m in made["phases"][0]["modules"]}
    assert {"window", "smooth", "fork"} <= modules["smooth"]


def test_the_short_branch_into_the_join_waits_for_the_window(on_u250: Path) -> None:
    channels = {c["name"]: c for c in read(on_u250)["phases"][0]["channels"]}
    waiting = channels["plain.0->add.1"]
    window = (32 + 1) / (24 * 32) * waiting["words_per_frame"]
    assert waiting["fifo_depth"] > window
    assert channels["tall.0->sharp.0"]["converter"] == "Reshaper"


def test_tied_filters_are_folded_together(on_u250: Path) -> None:
    engines = read(on_u250)["phases"][0]["networks"][0]["folding"]["engines"]
    sharp, plain = engines["sharp"]["attributes"], engines["plain"]["attributes"]
    assert [sharp[key] == plain[key] for key in ("makers", "maths")] == [True, True]


def test_rates_bands_and_its_own_cells_are_in_the_plan(on_u250: Path) -> None:
    phase = read(on_u250)["phases"][0]
    estimates = phase["networks"][0]["estimates"]
    assert estimates["throughput"]["not_analysed"] == ""
    assert estimates["throughput"]["interval_cycles"] == phase["networks"][0]["interval_cycles"]
    assert estimates["expected_cycles"] == phase["networks"][0]["interval_cycles"]
    assert phase["bands"]["Filter"]["LUT"] == [0.9, 1.3]
    assert all(0 < fit["likelihood"] <= 1 for fit in phase["fits"].values())
    build = json.loads((on_u250 / "toykit" / "build.json").read_text())
    constraints = (on_u250 / "fpga0" / "pblocks.xdc").read_text()
    assert all(constraints.count(f"{{level0_i/level1/level1_i/ulp/{row['cell']}}}]") == 1 for row in build.values())
    assert "StreamingDataflowPartition" not in constraints


def test_nothing_of_finn_is_written_or_told(on_u250: Path) -> None:
    files = {path.relative_to(on_u250).as_posix(): path for path in on_u250.rglob("*") if path.is_file()}
    assert not [name for name in files if "finn" in name.lower()]
    apart = {name for name in files if name.startswith("platform/")} | {"run.json"}  # boards; paths of this machine
    texts = {name: path.read_bytes() for name, path in files.items() if name not in apart}
    assert not [name for name, text in texts.items() if b"finn" in text.lower()]
    attributes = re.compile(r"\b(PE|SIMD|MVAU|mem_mode|ram_style|resType|MW|MH)\b")
    for text in (text.decode() for name, text in texts.items() if not name.endswith(".png")):
        assert not attributes.search(text)


def test_the_last_lines_name_no_file_of_finn(on_u250: Path) -> None:
    assert "finn" not in (on_u250.parent / "told.txt").read_text().lower()


def test_the_pictures_show_foldings_by_their_own_names(on_u250: Path) -> None:
    pictures = {name: (on_u250 / "plots" / f"{name}.svg").read_text() for name in PICTURES}
    engine = read(on_u250)["phases"][0]["networks"][0]["folding"]["engines"]["plain"]["attributes"]
    shown = f"makers {engine['makers']} · takers {engine['takers']} · {engine['maths']}"
    assert shown in pictures["folding"]
    assert f"filter {engine['makers']}\N{MULTIPLICATION SIGN}{engine['takers']}" in pictures["floorplan_fpga0"]


def test_a_plan_is_the_same_twice(on_u250: Path, tmp_path: Path) -> None:
    words = json.loads((on_u250 / "run.json").read_text())["argv"][2:]
    again = floorflow("plan", *words[: words.index("-o")], *words[words.index("-o") + 2 :], "-o", tmp_path / "out")
    assert again.returncode == 0, again.stderr
    for name in ("plan.json", "report.txt", "fpga0/pblocks.xdc", "toykit/build.json"):
        assert (tmp_path / "out" / name).read_bytes() == (on_u250 / name).read_bytes()


def test_inspect_lists_its_engines_and_freedoms() -> None:
    shown = floorflow("inspect", EDGES, "--backend", "toykit", "-p", "zcu104", "--json")
    engines = {e["name"]: e for e in json.loads(shown.stdout)["engines"]}
    assert engines["smooth"]["legal"]["makers"] == [1, 2, 4, 8, 16]
    assert engines["tall"]["legal"]["lanes"] == [1, 2, 4, 8, 16]


@pytest.mark.parametrize(
    "options",
    [
        ("--fold-method", "thrifty"),
        ("--fps", "2000"),
        ("--objective", "latency", "--backend-option", "maths=dsp"),
        ("--folding", str(TOY / "edges.folding")),
    ],
    ids=("own method", "rate", "latency", "folding file"),
)
def test_other_ways_to_plan_are_legal(options: tuple[str, ...], tmp_path: Path) -> None:
    ended = plan(EDGES, tmp_path / "out", "-p", "pynq-z1", "--no-plots", *options)
    assert ended.returncode == 0, ended.stderr
    assert_legal(tmp_path / "out")


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("makers=4 takers=3", "makers=5 takers=3", "smooth: folding makers=5 takers=3 maths=fabric is not legal"),
        ("plain makers=8", "plain makers=4", "sharp: is tied to plain"),
        ("tall lanes=4", "tall lanes=1", "cannot be built: tall.0->sharp.0 (24 to 32 bit)"),
        ("last makers", "lost makers", ":8: there is no engine lost"),
    ],
)
def test_a_folding_file_that_cannot_be_built_is_refused(before: str, after: str, message: str, tmp_path: Path) -> None:
    given = (TOY / "edges.folding").read_text()
    (tmp_path / "bad.folding").write_text(given.replace(before, after))
    ended = plan(EDGES, tmp_path / "out", "-p", "pynq-z1", "--folding", str(tmp_path / "bad.folding"))
    assert (ended.returncode, message in ended.stderr) == (2, True), ended.stderr


def test_a_method_of_its_own_is_told_why_its_proposal_is_none(tmp_path: Path) -> None:
    told = plan(EDGES, tmp_path / "out", "-p", "zcu104", "--fold-method", "thrifty", "--fps", "20000")
    assert told.returncode == 5
    assert (
        "what thrifty proposes needs width converters that cannot be built: window.0->smooth.0 (24 to 32 bit)"
        in told.stderr
    )


def test_the_folding_of_a_model_is_kept(tmp_path: Path) -> None:
    given = dict(line.split(" ", 1) for line in (TOY / "edges.folding").read_text().splitlines())
    lines = [line.split() for line in EDGES.read_text().splitlines()]
    kept = [
        " ".join([*words, given.get(words[1], "") if words[0] in ("lines", "filter", "mix") else ""]) for words in lines
    ]
    (tmp_path / "kept.toy").write_text("\n".join(kept))
    ended = plan(tmp_path / "kept.toy", tmp_path / "out", "-p", "pynq-z1", "--keep-folding", "--no-plots")
    assert ended.returncode == 0, ended.stderr
    assert_legal(tmp_path / "out")
    engines = read(tmp_path / "out")["phases"][0]["networks"][0]["folding"]["engines"]
    assert engines["smooth"]["attributes"] == {"makers": 4, "takers": 3, "maths": "fabric"}


COMPARE = ("compare", EDGES, "-p", "pynq-z1", "--backend", "toykit")


def test_its_foldings_are_compared() -> None:
    told = floorflow(*COMPARE, "--methods", "exact,thrifty,rule")
    assert told.returncode == 0, told.stderr
    assert "thrifty" in told.stdout


def test_comparing_needs_no_list_of_methods() -> None:
    assert floorflow(*COMPARE).returncode == 0


def test_a_front_of_rates_has_foldings_that_it_reads_again(tmp_path: Path) -> None:
    words = ("-p", "pynq-z1", "--backend", "toykit", "--resources", "LUT", "--points", "2", "--foldings")
    told = floorflow("pareto", EDGES, *words, "-o", tmp_path / "front")
    assert told.returncode == 0, told.stderr
    given = next((tmp_path / "front" / "foldings").rglob("folding.txt"))
    ended = plan(EDGES, tmp_path / "out", "-p", "pynq-z1", "--folding", str(given), "--no-plots")
    assert ended.returncode == 0, ended.stderr
    assert_legal(tmp_path / "out")
