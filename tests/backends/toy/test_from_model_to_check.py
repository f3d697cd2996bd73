"""A back end outside of floorflow goes from its own model format to a legal plan, pictures and `check`."""

import json
import re
from pathlib import Path

import pytest

from floorflow.errors import InputError
from tests.backends.layered_plans import assert_legal, read
from tests.backends.toy.toolbox import EDGES, TOY, floorflow, plan

PICTURES = {"floorplan_fpga0", "folding", "partition", "routing_fpga0"}


@pytest.mark.usefixtures("installed")
def test_one_slot_has_the_fastest_legal_plan(tmp_path: Path) -> None:
    ended = plan(EDGES, tmp_path / "out", "-p", "zcu104", "--no-plots")
    assert ended.returncode == 0, ended.stderr
    assert_legal(tmp_path / "out")
    made = read(tmp_path / "out")
    # 24 x 32 pixels, 48 x 16 weights, 64 lanes at most: none is faster.
    assert made["summary"]["networks"][0]["interval_cycles"] == 24 * 32 * 48 * 16 // 64
    assert made["options"]["backend_options"] == {"maths": "free", "most_lanes": 64}


def test_several_modules_lie_in_several_slrs_and_are_legal(on_u250: Path) -> None:
    told = floorflow("check", on_u250)
    assert (told.returncode, "legal" in told.stdout, told.stdout.count("violation")) == (0, True, 0)
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
    engine = read(on_u250)["phases"][0]["networks"][0]["folding"]["engines"]["sharp"]["attributes"]
    shown = f"makers {engine['makers']} · takers {engine['takers']} · {engine['maths']}"
    assert shown in pictures["folding"]
    assert f"filter {engine['makers']}\N{MULTIPLICATION SIGN}{engine['takers']}" in pictures["floorplan_fpga0"]


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
@pytest.mark.usefixtures("installed")
def test_other_ways_to_plan_are_legal(options: tuple[str, ...], tmp_path: Path) -> None:
    ended = plan(EDGES, tmp_path / "out", "-p", "pynq-z1", "--effort", "fast", "--no-plots", *options)
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


@pytest.mark.usefixtures("installed")
def test_the_folding_of_a_model_is_kept(tmp_path: Path) -> None:
    given = dict(line.split(" ", 1) for line in (TOY / "edges.folding").read_text().splitlines())
    lines = [line.split() for line in EDGES.read_text().splitlines()]
    kept = [
        " ".join([*words, given.get(words[1], "") if words[0] in ("lines", "filter", "mix") else ""]) for words in lines
    ]
    (tmp_path / "kept.toy").write_text("\n".join(kept))
    ended = plan(
        tmp_path / "kept.toy", tmp_path / "out", "-p", "pynq-z1", "--keep-folding", "--effort", "fast", "--no-plots"
    )
    assert ended.returncode == 0, ended.stderr
    assert_legal(tmp_path / "out")
    engines = read(tmp_path / "out")["phases"][0]["networks"][0]["folding"]["engines"]
    assert engines["smooth"]["attributes"] == {"makers": 4, "takers": 3, "maths": "fabric"}


def test_its_foldings_are_compared() -> None:
    told = floorflow("compare", EDGES, "-p", "pynq-z1", "--backend", "toykit", "--methods", "exact,thrifty,rule")
    assert told.returncode == 0, told.stderr
    assert "thrifty" in told.stdout


@pytest.mark.usefixtures("installed")
def test_a_front_of_rates_has_foldings_that_it_reads_again(tmp_path: Path) -> None:
    words = ("-p", "pynq-z1", "--backend", "toykit", "--resources", "LUT", "--points", "2", "--foldings")
    told = floorflow("pareto", EDGES, *words, "-o", tmp_path / "front")
    assert told.returncode == 0, told.stderr
    given = next((tmp_path / "front" / "foldings").rglob("folding.txt"))
    ended = plan(EDGES, tmp_path / "out", "-p", "pynq-z1", "--folding", str(given), "--effort", "fast", "--no-plots")
    assert ended.returncode == 0, ended.stderr
    assert_legal(tmp_path / "out")


GOOD = ["network n", "input a rows=4 columns=4 channels=2 bits=8", "filter f a outputs=2 weights=4", "output f"]


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (3, "fliter f a outputs=2 weights=4", "unknown word 'fliter'"),
        (3, "filter", "'filter' has no name"),
        (3, "filter 2f a outputs=2 weights=4", "'2f' is no name"),
        (3, "filter f a outputs=2", "filter lacks weights"),
        (3, "filter f a outputs=two weights=4", "outputs is 'two'"),
        (3, "filter f a outputs=2 weights=4 PE=2", "unknown 'PE'"),
        (3, "filter f b outputs=2 weights=4", "there is no stream b to read"),
        (3, "filter f a a outputs=2 weights=4", "it reads 2 streams"),
        (3, "filter a a outputs=2 weights=4", "the name is taken"),
        (3, "lines f a taps=2", "taps=2 is even"),
        (3, "mix f a copies=3", "more than two copies"),
        (4, "output g", "there is no stream g to read"),
        (4, "tie f g", "g cannot be tied"),
    ],
)
@pytest.mark.usefixtures("installed")
def test_a_wrong_line_is_named(line: int, text: str, message: str, tmp_path: Path) -> None:
    from toykit.model import read

    model = tmp_path / "bad.toy"
    model.write_text("\n".join([*GOOD[: line - 1], text, *GOOD[line:]]))
    with pytest.raises(InputError, match=re.escape(f"{model}:{line}: ")) as refused:
        read(model)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", ": cannot be read"),
        ("\n".join(GOOD[:3]).encode(), ": lacks a network, an engine or an output"),
        ("\n".join([*GOOD[:3], "output g"]).encode(), ":4: g: there is no stream g to read"),
    ],
    ids=("no text", "no output", "unknown stream"),
)
def test_a_wrong_file_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    model = tmp_path / "bad.toy"
    model.write_bytes(content)
    ended = plan(model, tmp_path / "out", "-p", "zcu104")
    assert (ended.returncode, f"{model}{message}" in ended.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("most_lanes=0", "--backend-option most_lanes 0: expected at least 1 and at most 4,096"),
        ("maths=wood", "--backend-option maths wood: expected free, dsp or fabric"),
        ("lanes=2", "hint: did you mean most_lanes?"),
        ("PE=2", "hint: the back end has most_lanes, maths"),
    ],
)
def test_a_wrong_option_is_named(option: str, message: str, tmp_path: Path) -> None:
    model = tmp_path / "good.toy"
    model.write_text("\n".join(GOOD))
    ended = plan(model, tmp_path / "out", "-p", "zcu104", "--backend-option", option)
    assert (ended.returncode, message in ended.stderr) == (2, True), ended.stderr


def test_check_says_what_to_install_and_judges_the_rest(on_u250: Path) -> None:
    told = floorflow("check", on_u250, "--json", installed=False)
    assert told.returncode == 1
    (found,) = json.loads(told.stdout)["violations"]
    assert found["name"] == "backend-unknown"
    assert found["message"].startswith("no part of the judge is installed for the back end 'toykit'; install")


def test_planning_says_that_it_is_unknown() -> None:
    told = floorflow("plan", EDGES, "--backend", "toykit", "-p", "zcu104", "-o", "never", installed=False)
    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.splitlines() == [
        "error: --backend toykit: unknown back end",
        (
            "hint: known are fcnnx, finn, fpgaconvnet, hls4ml; another is there once the package that brings it is "
            "installed (docs/backends.md)"
        ),
    ]


def test_its_plan_cannot_be_loaded(on_u250: Path, tmp_path: Path) -> None:
    told = floorflow("calibrate", on_u250, "--reports", tmp_path, "-o", tmp_path / "new", installed=False)
    assert told.returncode == 2
    assert f"{on_u250 / 'plan.json'}: options: --backend toykit: unknown back end" in told.stderr


def test_two_of_one_name_are_refused(on_u250: Path, tmp_path: Path) -> None:
    other = tmp_path / "other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text(
        "[floorflow.backends]\ntoykit = other:TOY\n[floorflow.judges]\ntoykit = other.judge\n"
    )
    told = floorflow("inspect", EDGES, "--backend", "toykit", path=(TOY, tmp_path))
    assert (told.returncode, "registered twice" in told.stderr) == (2, True)
    judged = floorflow("check", on_u250, path=(TOY, tmp_path))
    assert (judged.returncode, "other.judge and toykit.judge" in judged.stdout) == (1, True)


def test_an_old_folder_of_it_is_replaced_by_another_back_end(tmp_path: Path) -> None:
    made = plan(EDGES, tmp_path / "out", "-p", "pynq-z1", "--no-plots", "--effort", "fast")
    assert made.returncode == 0, made.stderr
    tfc = EDGES.parents[2] / "examples" / "tfc_1w1a.onnx"
    words = ("-p", "pynq-z1", "--no-plots", "--effort", "fast", "--fps", "100", "-o", tmp_path / "out")
    assert floorflow("plan", tfc, *words, installed=False).returncode == 2
    told = floorflow("plan", tfc, *words, "--force", installed=False)
    assert told.returncode == 0, told.stderr
    assert not (tmp_path / "out" / "toykit").exists()


def test_a_model_of_another_back_end_that_is_installed_gets_a_hint_at_it() -> None:
    told = floorflow("inspect", EDGES)
    assert told.returncode == 2
    assert "--backend: toykit" in told.stderr
    assert "--backend" not in floorflow("inspect", EDGES, installed=False).stderr
    assert "--backend:" not in floorflow("inspect", EDGES, "--backend", "finn").stderr
