"""A plan from Python: the same bytes as the command line's, rows, pictures, verdicts, and what Ctrl-C leaves."""

import csv
import io
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import onnx
import pytest

import floorflow as ff
from floorflow.api import folders
from floorflow.api.events import told_to
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.search.candidate import solvers
from floorflow.verify.back_end import BUILT_IN
from tests.command_line import floorflow
from tests.plans import FAST, ROOT, TFC
from tests.reconfigured import least_share, quick_board
from tests.verify.planned_in_region import partial_request
from tests.verify.two_by_two import write_two_by_two

PNG = b"\x89PNG\r\n\x1a\n"


def small(**options: object) -> ff.Plan:
    return ff.plan(TFC, "pynq-z1", **{"effort": "fast", **options})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def tfc() -> ff.Plan:
    return small()


@pytest.fixture(scope="module")
def saved(tfc: ff.Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("api") / "out"
    tfc.save(out)
    return out


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_saved_is_what_the_command_line_writes(saved: Path, tmp_path: Path) -> None:
    command = [*("floorflow", "plan", str(TFC), "--platform", "pynq-z1", "--effort", "fast")]
    assert floorflow(*command[1:], "-o", tmp_path / "out").returncode == 0
    mine, its = contents(saved), contents(tmp_path / "out")
    told = [json.loads(files.pop("run.json")) for files in (mine, its)]
    assert mine == its
    assert sum(name.startswith("plots/") for name in mine) == 6
    assert told[0].pop("argv") == command
    for run in told:
        assert run.pop("run_sha256")
        run.pop("seconds")
        run.pop("argv", None)
    assert told[0] == told[1]


def test_a_saved_plan_is_loaded_and_saved_again_as_it_was(tfc: ff.Plan, saved: Path, tmp_path: Path) -> None:
    again = ff.load(saved)
    assert again.plan.to_json() == tfc.plan.to_json()
    beside = {"extras.json", "report.txt"}  # the report tells of the extras by now
    assert {name for name in again.files if again.files[name] != tfc.files.get(name)} == beside
    assert again.summary == tfc.summary
    assert again.pictures["floorplan"].png == tfc.pictures["floorplan"].png
    again.save(tmp_path / "out")
    first, second = contents(saved), contents(tmp_path / "out")
    runs = [json.loads(files.pop("run.json")) for files in (first, second)]
    assert runs[0]["seconds"] > 0
    assert runs[0] == runs[1]
    assert first == second


def test_rows_of_a_loaded_plan_are_those_of_the_plan_in_the_networks_order(tfc: ff.Plan, saved: Path) -> None:
    again = ff.load(saved)
    assert again.engines == tfc.engines
    assert [row["engine"] for row in again.engines] == [engine.name for engine in tfc.plan.networks[0].engines]
    assert (again.channels, again.modules) == (tfc.channels, tfc.modules)


def test_a_folder_without_a_run_file_is_loaded_by_the_files_in_it(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved, tmp_path / "out")
    (tmp_path / "out" / "run.json").unlink()
    (tmp_path / "out" / ".hidden").write_text("mine")
    again = ff.load(tmp_path / "out")
    assert ff.check(again)
    again.save(tmp_path / "again")
    first, second = contents(saved), contents(tmp_path / "again")
    assert json.loads(second["run.json"])["argv"] == []
    assert {**first, "run.json": b""} == {**second, "run.json": b""}


def test_a_plan_of_several_phases_without_a_run_file_is_saved_whole(tmp_path: Path) -> None:
    out = write_two_by_two(tmp_path / "out")
    again = ff.load(out)
    assert ff.check(again)
    again.save(tmp_path / "again")
    assert set(contents(tmp_path / "again")) - {"run.json"} == set(contents(out)) - {"run.json"}
    assert ff.check(tmp_path / "again")


def test_a_plan_saved_without_pictures_is_drawn_when_it_was_loaded(tfc: ff.Plan, tmp_path: Path) -> None:
    plain = small(plots=False)
    plain.save(tmp_path / "out")
    assert not (tmp_path / "out" / "plots").exists()
    again = ff.load(tmp_path / "out")
    assert again.pictures["folding"].png == plain.pictures["folding"].png == tfc.pictures["folding"].png
    again.save(tmp_path / "again")
    assert not (tmp_path / "again" / "plots").exists()


def test_only_what_run_file_lists_is_loaded(saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(saved, out)
    picture = next((out / "plots").glob("*.svg"))
    picture.unlink()
    picture.symlink_to(tmp_path)
    with pytest.raises(ff.InputError, match="is a link"):
        ff.load(out)
    picture.unlink()
    assert f"plots/{picture.stem}.png" not in ff.load(out).pictures.files
    run = json.loads((out / "run.json").read_text())
    run["files"].remove("plan.json")
    (out / "run.json").write_text(json.dumps(run))
    with pytest.raises(ff.InputError, match=r"lists no plan\.json"):
        ff.load(out)


def test_what_comes_next_names_the_files_in_the_folder(tfc: ff.Plan, tmp_path: Path) -> None:
    script = "python3 d/host/run.py"
    steps = [
        "(cd d/finn && python build.py /path/to/tfc_1w1a.onnx)",
        f"{script} --dry-run",
        f"{script} --input IN.npy --output OUT.npy",
        "floorflow calibrate d --reports d/finn/build -o d_again",
    ]
    plan = small(plots=False, constraint_style="soft")
    plan.save(tmp_path / "out")
    assert tfc.next_steps("d") == steps
    implemented = "vivado -mode batch -source d_bound/vivado/zynq_impl.tcl -tclargs PROJECT.xpr d_made"
    assert implemented in plan.next_steps("d")
    assert ff.load(tmp_path / "out").next_steps(Path("d")) == plan.next_steps("d")


def without_a_module(files: Mapping[str, bytes], main: str) -> dict[str, bytes]:
    """Return files of a plan of which the main one says too little."""
    content = json.loads(files[main])
    (content["phases"][0]["modules"] if main == "plan.json" else content["partitions"]).pop()
    return {**files, main: json.dumps(content).encode()}


def test_a_plan_that_check_refuses_is_kept_beside_the_folder_and_never_written(
    tfc: ff.Plan, saved: Path, tmp_path: Path
) -> None:
    shutil.copytree(saved, tmp_path / "out")
    before = contents(tmp_path)
    wrong = ff.load(saved)
    wrong.files = without_a_module(wrong.files, "plan.json")
    for number in (1, 2):
        kept = tmp_path / f"out.refused{number}"
        with pytest.raises(ff.FloorflowError, match=r"(?s)engine-missing: phases\[0\].*") as refused:
            wrong.save(tmp_path / "out", force=True)
        assert refused.value.exit_code == 70
        assert str(kept) in refused.value.hint
        assert (kept / "plan.json").read_bytes() == wrong.files["plan.json"]
        assert not ff.check(kept)
    assert {name: data for name, data in contents(tmp_path).items() if not name.startswith("out.refused")} == before


def test_a_plan_on_resources_alone_is_judged_as_well(tmp_path: Path) -> None:
    plan = ff.plan_resources(TFC, "samo:zc706", plots=False)
    plan.files = without_a_module(plan.files, "schedule.json")
    with pytest.raises(ff.FloorflowError, match="breaks rules of check"):
        plan.save(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out.refused1"]


def test_a_plan_that_was_wrong_in_its_folder_is_bad_input(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved, tmp_path / "old")
    wrong = without_a_module(ff.load(saved).files, "plan.json")["plan.json"]
    (tmp_path / "old" / "plan.json").write_bytes(wrong)
    with pytest.raises(ff.InputError, match="old: the plan in it is not legal"):
        ff.load(tmp_path / "old").save(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_a_back_end_without_a_judge_is_no_fault_of_its_plan(
    tfc: ff.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(BUILT_IN, "finn")
    tfc.save(tmp_path / "out")
    assert [one.name for one in ff.check(tmp_path / "out").violations] == ["backend-unknown"]


def test_nothing_is_replaced_unless_forced(tfc: ff.Plan, tmp_path: Path) -> None:
    out = tmp_path / "out"
    tfc.save(out)
    (out / "mine.txt").write_text("mine")
    with pytest.raises(ff.InputError, match="not empty"):
        tfc.save(out)
    names = tfc.save(out, force=True)
    assert {*names, "mine.txt"} == set(contents(out))
    (out / "run.json").unlink()
    with pytest.raises(ff.InputError, match=r"has no run\.json"):
        tfc.save(out, force=True)


@pytest.mark.parametrize("name", ["extras.json", "plots"])
def test_a_file_of_the_users_where_extras_go_is_refused_before_anything_moves(
    name: str, tfc: ff.Plan, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    tfc.save(out, extras=False)
    (out / name).write_text("mine")
    before = contents(out)
    with pytest.raises(ff.InputError, match=f"{name}: is not of an earlier plan"):
        tfc.save(out, force=True, extras=False)
    assert contents(out) == before


@pytest.mark.parametrize("place", ["none", "full"])
def test_a_plan_is_judged_beside_its_folder_where_there_is_no_temporary_one(
    place: str, tfc: ff.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place == "none":

        def nowhere() -> str:
            raise FileNotFoundError(2, "No usable temporary directory found")

        monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    else:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "full"))
        (tmp_path / "full").mkdir()
        laid = folders.write

        def full(out: Path, *given: Any, **options: Any) -> object:
            if out.is_relative_to(tmp_path / "full"):
                raise ff.InputError(f"{out}: cannot be written (No space left on device)")
            return laid(out, *given, **options)

        monkeypatch.setattr(folders, "write", full)
    tfc.save(tmp_path / "new/out", extras=False)
    assert {path.name for path in tmp_path.iterdir()} - {"full"} == {"new"}
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]
    wrong = small()
    wrong.files = without_a_module(wrong.files, "plan.json")
    with pytest.raises(ff.FloorflowError, match="breaks rules of check"):
        wrong.save(tmp_path / "new/other")


def in_memory(path: Path) -> onnx.ModelProto:
    model = onnx.load(path)
    model.graph.name = "tfc_1w1a"
    return model


@pytest.mark.parametrize("given", [str, read_source, in_memory], ids=["path", "source", "memory"])
def test_a_model_may_be_a_file_or_in_memory(given: Callable[[Path], ff.Model], tfc: ff.Plan) -> None:
    made = ff.plan(given(TFC), "pynq-z1", effort="fast")
    assert made.engines == tfc.engines
    assert Path(made.plan.inputs[0].path).stem == "tfc_1w1a"
    assert made.files["finn/folding_config.json"] == tfc.files["finn/folding_config.json"]


def test_a_model_in_memory_is_known_by_the_file_that_it_would_be(tmp_path: Path) -> None:
    model = in_memory(TFC)
    onnx.save(model, tmp_path / "model.onnx")
    assert ff.read(model).source.sha256 == ff.read(tmp_path / "model.onnx").source.sha256
    assert ff.read(model, name="mine").path == Path("mine.onnx")
    # Only a model in ONNX is called a file of that format; what another reader returned has its network's name.
    source = ff.read(model).source
    assert ff.read(source).path == Path(source.network.name)
    assert ff.read(source, name="mine.json").path == Path("mine.json")
    assert ff.read(model, name="mine").name == "mine"


def test_a_model_that_was_read_is_planned_again_and_again(tfc: ff.Plan) -> None:
    model = ff.read(TFC)
    first, second = (ff.plan(model, "pynq-z1", effort="fast") for _ in range(2))
    assert first.files == second.files == tfc.files


def test_a_platform_may_be_made_before(tfc: ff.Plan) -> None:
    board = ff.platform("pynq-z1", clock_mhz=50)
    slow = ff.plan(TFC, board, effort="fast")
    assert slow.summary["clock_mhz"] == 50
    assert slow.files == small(clock_mhz=50).files
    assert ff.platform("u250", fpgas=2).slots[7]["slot"] == "fpga1.SLR3"
    assert tfc.summary["clock_mhz"] == 100


def test_rows_are_flat_and_all_alike_as_data_frames_take_them(tfc: ff.Plan) -> None:
    for rows in (tfc.engines, tfc.channels, tfc.modules):
        assert len({tuple(row) for row in rows}) == 1
        assert all(value is None or isinstance(value, str | int | float) for row in rows for value in row.values())
        text = io.StringIO()
        csv.DictWriter(text, rows[0]).writerows(rows)
        assert len(text.getvalue().splitlines()) == len(rows)
    assert len(tfc.engines) == 5
    assert len(tfc.channels) == 6
    folding = json.loads(tfc.files["finn/folding_config.json"])
    matrix = next(row for row in tfc.engines if row["engine"] == "MVAU_hls_0")
    assert folding["MVAU_hls_0"]["SIMD"] in matrix.values()
    assert matrix["slot"] == "fpga0.SLR0"
    assert {row["module"] for row in tfc.engines} == {row["module"] for row in tfc.modules}


def test_the_summary_tells_rate_bound_and_what_is_fullest(tfc: ff.Plan) -> None:
    (network,) = tfc.summary["networks"]
    assert network["fps"] == network["sustained_fps"] < 100e6 / network["interval_cycles"]
    assert network["bound_cycles"] <= network["interval_cycles"]
    assert 0 < tfc.summary["fullest"]["share"] <= 1
    assert tfc.summary["interrupted"] is tfc.interrupted is False
    assert tfc.summary["warnings"] == len(tfc.warnings)
    assert str(tfc).startswith("tfc_1w1a on pynq-z1: ")
    assert repr(tfc).startswith("<floorflow.Plan tfc_1w1a on pynq-z1: ")


def test_pictures_show_themselves_and_are_saved_as_either_kind(tfc: ff.Plan, tmp_path: Path) -> None:
    assert set(tfc.pictures) == {"search", "folding", "floorplan", "floorplan_fpga0"}, "one slot: no partition"
    picture = tfc.pictures["floorplan"]
    assert picture._repr_png_().startswith(PNG)
    assert picture.save(tmp_path / "plan.png").read_bytes() == picture.png
    assert picture.save(tmp_path / "plan.svg").read_bytes() == picture.svg
    assert b"<svg" in picture.svg
    for path in (tmp_path / "plan.gif", tmp_path / "no" / "plan.png"):
        with pytest.raises(ff.InputError, match=path.name):
            picture.save(path)
    with pytest.raises(KeyError):
        _ = tfc.pictures["florplan"]


def test_two_fpgas_have_a_floorplan_each_and_one_of_both(branches_on_two_u250: Path) -> None:
    pictures = ff.load(branches_on_two_u250).pictures
    each = {f"{kind}_{fpga}" for kind in ("floorplan", "routing") for fpga in ("fpga0", "fpga1")}
    assert set(pictures) == {"search", "folding", "partition", "floorplan", "topology", *each}
    assert len({pictures[name].png for name in ("floorplan", "floorplan_fpga0", "floorplan_fpga1")}) == 3


def test_a_verdict_counts_as_true_if_the_plan_is_legal(tfc: ff.Plan, saved: Path, tmp_path: Path) -> None:
    assert ff.check(tfc)
    assert not ff.check(saved).violations
    assert not ff.check(tfc).violations
    out = tmp_path / "out"
    small(plots=False).save(out)
    text = (out / "plan.json").read_text()
    (out / "plan.json").write_text(text.replace('"latency_us": ', '"latency_us": 9'))
    verdict = ff.check(out)
    assert not verdict
    assert not verdict.legal
    assert verdict.violations[0].name
    assert verdict.checked["engines"] == 5


def test_events_tell_stages_notes_and_seconds(tmp_path: Path) -> None:
    events: list[ff.Event] = []
    small(progress=events.append).save(tmp_path / "out", progress=events.append)
    ended = [event.stage for event in events if event.seconds is not None and not event.within]
    extras = ["extras: drawing", "extras: other requests", "extras: page"]
    assert ended == ["reading", "lowering", "search", "recording", "writing", *extras]
    assert any(event.stage == "placing" and event.within == ("search",) and event.note for event in events)


def test_a_plan_for_a_rate_says_that_it_seeks_the_highest_first() -> None:
    events: list[ff.Event] = []
    told = str(small(fps=20_000, progress=events.append))
    (note,) = [event.note for event in events if "the highest rate first" in event.note]
    assert note.startswith("--fps 20000: ")
    assert "\n--fps       " in told
    assert "the highest rate" in told
    assert "--fps " not in str(small())


def test_events_tell_the_best_so_far_and_its_bound() -> None:
    events: list[ff.Event] = []
    progress = told_to(events.append)
    progress.best(None, 10)
    with progress.stage("search"), progress.stage("placing"):
        progress.best(12, None)
        progress.best(None, 11)
    best = [event for event in events if event.best is not None]
    assert best == [
        ff.Event("", (), best=ff.Best(None, 10)),
        ff.Event("placing", ("search",), best=ff.Best(12, None)),
        ff.Event("placing", ("search",), best=ff.Best(12, 11)),
    ]


def test_events_tell_the_interval_of_the_plan_as_the_best_in_the_end() -> None:
    events: list[ff.Event] = []
    made = small(progress=events.append)
    (network,) = made.summary["networks"]
    best = [event.best for event in events if event.best is not None]
    assert best[0] == ff.Best(None, network["bound_cycles"])
    assert best[-1].interval_cycles == network["interval_cycles"]


def stopping_at(stage: str) -> Callable[[ff.Event], None]:
    def tell(event: ff.Event) -> None:
        if event.stage == stage:
            raise KeyboardInterrupt

    return tell


LENET, CIFAR = (ROOT / "examples" / "several" / f"{name}.onnx" for name in ("lenet5", "cifar10"))


def alone(_folder: Path, tell: Callable[[ff.Event], None]) -> ff.Plan:
    return small(progress=tell)


def of_several(folder: Path, tell: Callable[[ff.Event], None]) -> ff.Plan:
    other = Path(shutil.copy(TFC, folder / "other.onnx"))
    return ff.plan([TFC, other], "pynq-z1", effort="fast", progress=tell)


def cut_in_time(folder: Path, tell: Callable[[ff.Event], None]) -> ff.Plan:
    board = quick_board(folder)
    return ff.plan(TFC, board, reconfigure="full", cap={"LUT": 1.25 * least_share()}, effort="fast", progress=tell)


def in_regions(folder: Path, tell: Callable[[ff.Event], None]) -> ff.Plan:
    asked = partial_request(folder)
    return ff.plan(TFC, asked.platform, reconfigure="partial", area=asked.area, effort="fast", progress=tell)


def at_memory(_folder: Path, tell: Callable[[ff.Event], None]) -> ff.Plan:
    asked: Any = {"backend": "fcnnx", "memory_gbs": 1.7, "effort": "fast"}
    return ff.plan([LENET, CIFAR], "zc706", progress=tell, **asked)


def on_resources(_folder: Path, tell: Callable[[ff.Event], None]) -> ff.ResourcePlan:
    return ff.plan_resources(TFC, "samo:zc706", progress=tell)


@pytest.mark.parametrize(
    ("planned", "stage"),
    [
        (alone, "placing"),
        *((planned, "recording") for planned in (alone, of_several, cut_in_time, at_memory, on_resources)),
        pytest.param(in_regions, "recording", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_brings_the_best_plan_known_by_then(
    planned: Callable[[Path, Callable[[ff.Event], None]], object], stage: str, tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        planned(tmp_path, once(stopping_at(stage)))
    assert isinstance(caught.value, ff.Interrupted | ff.ResourcePlanInterrupted)
    made = caught.value.plan
    assert made.interrupted
    made.save(tmp_path / "out")
    assert not (tmp_path / "out" / "plots").exists()
    assert ff.check(tmp_path / "out")


Phased = Callable[[Path, Callable[[ff.Event], None]], ff.Plan]


def partitions(notes: list[str]) -> list[tuple[int, int]]:
    """Return the first and the last block of each partition of which notes say that it is being planned."""
    found = (re.fullmatch(r"planning blocks (\d+) to (\d+) of 4 as a partition", note) for note in notes)
    return [(int(each[1]), int(each[2])) for each in found if each is not None]


def two_make_a_path(notes: list[str]) -> bool:
    """Whether two partitions that were planned before the last note are the whole network."""
    known = partitions(notes[:-1])
    return any(first == 0 and (last + 1, 3) in known for first, last in known)


Moment = Callable[[list[str]], bool]


def stopped_in(planned: Phased, folder: Path, has_come: Moment, stage: str = "") -> tuple[BaseException, list[str]]:
    """Press Ctrl-C at a note, or in the next stage of a name after it; return what was raised, and all notes."""
    notes: list[str] = []
    stop = once(stopping_at(stage))
    come: list[str] = []

    def tell(event: ff.Event) -> None:
        if event.note:
            notes.append(event.note)
            if not come and has_come(notes):
                come.append(event.note)
                if not stage:
                    raise KeyboardInterrupt
        elif come:
            stop(event)

    with pytest.raises(KeyboardInterrupt) as caught:
        planned(folder, tell)
    return caught.value, notes


@pytest.mark.parametrize(
    ("planned", "word", "stage"),
    [
        (cut_in_time, "blocks", ""),
        pytest.param(cut_in_time, "planning blocks", "", marks=pytest.mark.slow),
        pytest.param(in_regions, "blocks", "", marks=pytest.mark.slow),
        pytest.param(in_regions, "planning blocks", "", marks=pytest.mark.slow),
        pytest.param(in_regions, "planning blocks", "placing", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_once_all_partitions_of_a_path_are_planned_brings_them(
    planned: Phased, word: str, stage: str, tmp_path: Path
) -> None:
    def has_come(told: list[str]) -> bool:
        is_whole = partitions(told[-1:]) == [(0, 3)]
        return told[-1].startswith(word) and two_make_a_path(told) and not is_whole

    raised, notes = stopped_in(planned, tmp_path, has_come, stage)
    assert isinstance(raised, ff.Interrupted)
    begun = [each for each in partitions(notes) if each != (0, 3)]
    assert len(begun) == 2 + (word == "planning blocks")  # none is begun once it is over
    made = raised.plan
    assert made.interrupted
    assert len(made.plan.phases) == 2
    made.save(tmp_path / "out")
    assert ff.check(tmp_path / "out")


@pytest.mark.parametrize(
    ("planned", "stage"),
    [
        (cut_in_time, ""),
        (in_regions, "placing"),
        pytest.param(cut_in_time, "placing", marks=pytest.mark.slow),
        pytest.param(in_regions, "", marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_before_a_path_is_planned_whole_is_plain(planned: Phased, stage: str, tmp_path: Path) -> None:
    planning = 1 if stage else 2
    raised, notes = stopped_in(planned, tmp_path, lambda told: len(partitions(told)) == planning, stage)
    assert not isinstance(raised, ff.Interrupted)
    assert not two_make_a_path(notes)
    assert len(partitions(notes)) == planning


def once(tell: Callable[[ff.Event], None]) -> Callable[[ff.Event], None]:
    """Press Ctrl-C only once, as a user would."""
    pressed: list[bool] = []

    def told(event: ff.Event) -> None:
        if not pressed:
            try:
                tell(event)
            except KeyboardInterrupt:
                pressed.append(True)
                raise

    return told


def test_ctrl_c_before_any_plan_is_known_is_plain() -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        small(progress=stopping_at("lowering"))
    assert not isinstance(caught.value, ff.Interrupted)


@pytest.mark.parametrize(
    ("stage", "missing"),
    [
        ("extras: drawing", "pictures, extras.json, report.html"),
        pytest.param("extras: other requests", "extras.json, report.html", marks=pytest.mark.slow),
        ("extras: page", "report.html"),
    ],
)
def test_ctrl_c_while_extras_are_made_leaves_the_whole_plan(stage: str, missing: str, tmp_path: Path) -> None:
    made = small(bargains="fold")
    with pytest.raises(KeyboardInterrupt, match=f"is finished and is written to .*out, without {missing}$"):
        made.save(tmp_path / "out", progress=stopping_at(stage))
    assert (tmp_path / "out" / "plan.json").read_bytes() == made.main_file
    assert not made.interrupted
    assert ff.check(tmp_path / "out")
    made.save_extras(tmp_path / "out")
    assert (tmp_path / "out" / "extras.json").is_file()


def test_extras_change_no_file_that_a_tool_reads(tmp_path: Path) -> None:
    made = small(bargains="fold")
    names = made.save(tmp_path / "out", extras=False)
    before = {name: (tmp_path / "out" / name).read_bytes() for name in names}
    more = made.save_extras(tmp_path / "out")
    after = {name: (tmp_path / "out" / name).read_bytes() for name in more}
    assert {name for name in before if after[name] != before[name]} == {"report.txt", "run.json"}
    assert {*after} - {*before} >= {"extras.json", "plots/folding.png", "report.html"}
    assert after["report.html"] == made.page.encode()
    assert made.extras is not None
    assert ff.load(tmp_path / "out").extras == made.extras
    assert ff.check(tmp_path / "out")
    (tmp_path / "out" / "extras.json").write_text("{}")
    with pytest.raises(ff.InputError, match=r"extras\.json: "):
        _ = ff.load(tmp_path / "out").extras
    with pytest.raises(ff.InputError, match="does not hold this plan"):
        small(fps=1_000).save_extras(tmp_path / "out")


def test_events_name_the_stages_that_run_and_the_best_of_this_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever places is told as placing, also when the best layout is finished; no bargain is told as the best."""
    events: list[ff.Event] = []
    running: list[str] = []
    seen: set[str] = set()
    place = solvers.place

    def tell(event: ff.Event) -> None:
        events.append(event)
        if event.seconds is not None:
            running.pop()
        elif event.best is None and not event.note:
            running.append(event.stage)

    def placed(*given: Any) -> Any:
        seen.add(running[-1])
        return place(*given)

    monkeypatch.setattr(solvers, "place", placed)
    made = small(bargains="fold", progress=tell)
    assert made.extras is not None
    assert seen == {"placing"}
    best = [event.best for event in events if event.best is not None and event.best.interval_cycles is not None]
    (network,) = made.summary["networks"]
    assert best[-1].interval_cycles == network["interval_cycles"]
    legal = {row.interval_cycles for row in made.plan.networks[0].trace if row.verdict == "legal"}
    assert {each.interval_cycles for each in best} <= legal
    assert all(each.bound_cycles <= each.interval_cycles for each in best if each.bound_cycles is not None)


def test_two_threads_plan_at_once(tfc: ff.Plan) -> None:
    def work(board: str) -> tuple[dict[str, bytes], bytes]:
        made = ff.plan(TFC, board, effort="fast")
        return dict(made.files), made.pictures["floorplan"].png

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(work, ("pynq-z1", "zcu104"))
    assert first == (tfc.files, tfc.pictures["floorplan"].png)
    assert second == work("zcu104")


def test_any_number_of_processes_makes_the_same_plan() -> None:
    one, three = (ff.plan(CIFAR, "pynq-z1", effort="fast", jobs=jobs) for jobs in (1, 3))
    assert one.files == three.files


@pytest.mark.parametrize("gap", [0.0, 0.2, 1.5])
def test_a_gap_ends_the_search_at_a_plan_that_is_proven_to_be_so_near(gap: float) -> None:
    made = ff.plan(TFC, "pynq-z1", gap=gap, bargains="fold", **FAST)
    (network,), (entry,) = made.summary["networks"], made.plan.networks
    within = (1 + gap) * network["bound_cycles"]
    assert network["interval_cycles"] <= within
    assert made.plan.options.gap == gap
    assert made.extras is not None
    assert (f"--gap {gap:g}" in entry.search.ended_by) == (network["interval_cycles"] > network["bound_cycles"])
    if gap:
        tried = [row.interval_cycles for row in entry.trace]
        assert max(tried) == network["interval_cycles"] > within / 1.2  # the longest first, and no shorter one after it
        assert len(set(tried)) == 1


@pytest.mark.parametrize(
    "other", [{"fps": 1000.0}, {"objective": "latency"}, {"objective": "resources"}, {"reconfigure": "full"}]
)
def test_a_gap_is_of_the_highest_rate(other: dict[str, Any]) -> None:
    with pytest.raises(ff.InputError, match=r"--gap 0\.1"):
        ff.plan(TFC, "pynq-z1", gap=0.1, **other)
