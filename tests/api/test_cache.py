"""What earlier runs found: answers kept on disk, with the same plans, and plans that a search starts from."""

import hashlib
import os
import pickle
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import floorflow as ff
from floorflow import flow
from floorflow.output import cache
from floorflow.output.cache import Cache, cache_in
from floorflow.partition.problem import PartitionFailure
from floorflow.placement import PlacementSolution
from floorflow.request import Request
from floorflow.resources import Resources
from floorflow.stats import WorkIsSpent, count, counted, kept, kept_by
from tests.command_line import floorflow
from tests.plans import CNV, FAST, FREE, TFC

TOO_LARGE: dict[str, Any] = {"cap": {"LUT": 0.01}, **FAST}


def planned(folder: Path | None, **options: Any) -> ff.Plan:
    return ff.plan(TFC, "pynq-z1", cache=folder, **{"bargains": "fold", **FAST, **options})


def not_searched(*_: object) -> None:
    raise AssertionError("this is searched for")


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ff.Plan]:
    folder = tmp_path_factory.mktemp("cache") / "made" / "here"
    plan = planned(folder)
    plan.save(folder.parent / "out")
    return folder, plan


def test_plans_are_the_same_without_a_cache_with_an_empty_one_and_with_a_full_one(full: tuple[Path, ff.Plan]) -> None:
    folder, empty = full
    free = planned(None)
    with patch.object(flow, "ONE", {"none": not_searched}):
        again = planned(folder)
        assert again.files == empty.files == free.files
        assert (str(again), again.summary, again.warnings) == (str(free), free.summary, free.warnings)
        assert again.extras == empty.extras  # no search either
        assert again.extras is not None
    assert free.extras == again.extras
    assert again.pictures["floorplan"].svg == free.pictures["floorplan"].svg


def test_what_is_told_beside_is_worked_out_where_it_was_not_yet(full: tuple[Path, ff.Plan], tmp_path: Path) -> None:
    planned(tmp_path)
    assert planned(tmp_path).extras == full[1].extras


def test_parts_are_kept_for_other_questions(full: tuple[Path, ff.Plan]) -> None:
    other = {"constraint_style": "soft", "bargains": "none"}
    free, met, recall = planned(None, **other), [], Cache.recall

    def found(cache: Cache, key: str | None) -> Any:
        answer = recall(cache, key)
        met.append(type(answer[0]) if isinstance(answer, tuple) else type(answer))
        return answer

    with patch.object(Cache, "recall", found):
        near = planned(full[0], **other)
    assert near.files == free.files
    assert PlacementSolution in met


def test_a_refusal_is_kept(tmp_path: Path) -> None:
    told = []
    for change in ({}, {"none": not_searched}):
        with patch.dict(flow.ONE, change), pytest.raises(ff.Infeasible) as refused:
            planned(tmp_path, **TOO_LARGE)
        told.append((str(refused.value), refused.value.hint, refused.value.refusals))
    assert told[0] == told[1]


def test_an_interrupted_plan_is_no_answer(tmp_path: Path) -> None:
    def tell(event: ff.Event) -> None:
        if event.stage == "placing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ff.plan(TFC, "pynq-z1", cache=tmp_path, progress=tell, **FAST)
    with pytest.raises(AssertionError, match="searched"), patch.object(flow, "ONE", {"none": not_searched}):
        planned(tmp_path, bargains=None)


@pytest.mark.parametrize(
    "change", [{"seed": 1}, {"cap": {"LUT": 0.6}}, {"time_limit": 1e6}, {"platform": "pynq-z2"}, {"effort": "default"}]
)
def test_another_question_is_another(full: tuple[Path, ff.Plan], change: dict[str, Any]) -> None:
    asked = {"platform": "pynq-z1", "bargains": "fold", **FAST, **change}
    with pytest.raises(AssertionError, match="searched"), patch.object(flow, "ONE", {"none": not_searched}):
        ff.plan(TFC, cache=full[0], **asked)


def test_another_model_under_the_same_name_is_another_question(tmp_path: Path) -> None:
    model = tmp_path / "net.onnx"
    model.write_bytes(TFC.read_bytes())
    ff.plan(model, "pynq-z1", cache=tmp_path / "kept", **FAST)
    model.write_bytes(TFC.read_bytes() + b"\x0a\x00")  # an empty producer's name more
    with pytest.raises(AssertionError, match="searched"), patch.object(flow, "ONE", {"none": not_searched}):
        ff.plan(model, "pynq-z1", cache=tmp_path / "kept", **FAST)


def test_files_that_are_broken_or_foreign_are_replaced(full: tuple[Path, ff.Plan], tmp_path: Path) -> None:
    planned(tmp_path, bargains="none")
    names = sorted(path.name for path in tmp_path.iterdir())
    (tmp_path / "notes.txt").write_text("mine")
    for number, name in enumerate(names):
        whole = (tmp_path / name).read_bytes()
        if number % 4 == 3:
            (tmp_path / name).unlink()
            (tmp_path / name).mkdir()  # nothing can be written there
        else:
            (tmp_path / name).write_bytes((whole[:-9], b"", whole[:60] + b"?" + whole[61:])[number % 4])
    assert planned(tmp_path, bargains="none").files == planned(None, bargains="none").files
    mended = [name for number, name in enumerate(names) if number % 4 != 3]
    assert all(Cache(tmp_path).recall(name) is not None for name in mended)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not list(tmp_path.glob(".part-*"))


class _Planted:
    def __init__(self, call: Callable[..., object], *words: object) -> None:
        self.made = call, words

    def __reduce__(self) -> Any:
        return self.made


@pytest.mark.parametrize(
    "planted",
    [
        _Planted(os.mkdir, "planted"),
        _Planted(eval, "__import__('os').mkdir('planted')"),
        _Planted(flow.plan, Request(TFC, "pynq-z1")),
        _Planted(getattr, Request, "changed"),
    ],
)
def test_what_was_planted_is_not_run(planted: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    held = zlib.compress(pickle.dumps(planted))
    (tmp_path / "key").write_bytes(b"floorflow-answer/1\n" + hashlib.sha256(b"key" + held).digest() + held)
    assert Cache(tmp_path).recall("key") is None
    assert not (tmp_path / "planted").exists()


def test_values_come_back_as_they_went(tmp_path: Path) -> None:
    values = (Resources(1, 2, 3, 4, 5), np.arange(6.0).reshape(2, 3), {"a": (1, None)}, PartitionFailure(()), {3, 4})
    kept_here = Cache(tmp_path)
    for value in values:
        key = kept_here.key_of("value", value)
        kept_here.remember(key, (value, 1.5))
        back, units = kept_here.recall(key)
        assert np.all(back == value)
        assert units == 1.5


def test_what_cannot_be_told_or_read_back_is_not_kept(tmp_path: Path) -> None:
    kept_here = Cache(tmp_path)
    assert kept_here.key_of(object()) is None
    assert kept_here.key_of(lambda: 1) is None
    kept_here.remember(kept_here.key_of("open"), tmp_path.open)
    kept_here.remember(None, 1)
    assert not list(tmp_path.iterdir())


Values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.floats(0, 2)
    | st.text("ab:", max_size=2)
    | st.binary(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.lists(inner, max_size=2).map(tuple),
    max_leaves=4,
)


@pytest.mark.joint  # a hundred examples take a second and more
@given(Values, Values)
def test_questions_have_one_key_if_they_are_one(one: Any, other: Any) -> None:
    nowhere = Cache(Path("nowhere"))
    assert (nowhere.key_of(one) == nowhere.key_of(other)) == (repr(one) == repr(other))


def test_keys_are_the_same_in_every_process() -> None:
    text = (
        "from floorflow.output.cache import Cache; from floorflow.request import Request\n"
        "print(Cache('nowhere').key_of({'b', 'a', 'c'}, {'x': 1.5}, Request('m.onnx', 'pynq-z1', seed=3)))"
    )
    keys = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        made = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=True)
        keys.add(made.stdout)
    assert len(keys) == 1
    assert len(keys.pop().strip()) == 64


def test_changed_code_asks_another_question(tmp_path: Path) -> None:
    key_of = Cache(tmp_path).key_of
    now = key_of("question")
    with patch.object(cache, "_own", lambda: b"other code"):
        assert key_of("question") != now
    package = tmp_path / "package"
    package.mkdir()
    (package / "code.py").write_text("one = 1")
    before = cache._files(package)
    (package / "code.py").write_text("one = 2")
    assert cache._files(package) != before


def test_work_counts_whether_it_is_done_or_remembered(tmp_path: Path) -> None:
    def solve() -> str:
        for _ in range(10):
            count(0.1)
        return "solved"

    def after_others() -> str:
        count(0.3)
        return kept(solve, "question")

    spent, left = [], []
    for keeper in (None, cache_in(tmp_path), cache_in(tmp_path)):
        with kept_by(keeper):
            with counted() as done:
                count(0.7)
                assert kept(solve if not len(spent) > 1 else not_searched, "question") == "solved"
            spent.append(done.spent)
            with counted(0.75) as short, pytest.raises(WorkIsSpent):
                after_others()
            left.append(short.spent)
    assert spent == [spent[0]] * 3
    assert spent[0] > 1.6
    assert left == [left[0]] * 3


@pytest.mark.parametrize("wrong", ["a file", "below a file"])
def test_a_folder_that_cannot_be_written_is_refused(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" if wrong == "a file" else tmp_path / "file" / "below"
    ended = floorflow("plan", TFC, "-p", "pynq-z1", "--cache", folder, "-o", tmp_path / "out")
    assert ended.returncode == 2
    assert f"--cache {folder}" in ended.stderr
    assert not (tmp_path / "out").exists()
    assert (tmp_path / "file").read_text() == ""


ALIKE: dict[str, Any] = {"runtime_weights": "always", **FREE, **FAST}
"""What the plan that is there already was asked for."""


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"fps": 0.5},
        *(
            pytest.param(c, marks=pytest.mark.slow)
            for c in ({"cap": {"LUT": 0.6}}, {"seed": 3, "granularity": "layer"})
        ),
    ],
)
def test_a_search_may_start_from_an_earlier_plan(change: dict[str, Any], cnv_on_u250: Path, tmp_path: Path) -> None:
    earlier = ff.load(cnv_on_u250)
    (was,) = earlier.summary["networks"]
    if "fps" in change:
        change = {"fps": was["fps"] * change["fps"]}
    made = ff.plan(CNV, "alveo-u250", start_from=cnv_on_u250, **ALIKE, **change)
    made.save(tmp_path / "out", extras=False)
    assert ff.check(tmp_path / "out").legal
    (network,) = made.summary["networks"]
    assert network["fps"] >= change.get("fps", was["fps"] * (0.5 if "cap" in change else 1))
    assert str(made.plan.options.start_from) == "out"
    assert [one.path for one in made.plan.inputs] == [CNV.name, "plan.json"]
    if not change.keys() & {"granularity", "cap"}:
        assert [row["slot"] for row in made.engines] == [row["slot"] for row in earlier.engines]


@pytest.mark.slow
def test_what_has_no_plan_in_its_slots_is_searched_for(cnv_on_u250: Path) -> None:
    with patch("floorflow.search.interval.rate.kept_by_slots", return_value=(None, None, ())):
        made = ff.plan(CNV, "alveo-u250", start_from=cnv_on_u250, **ALIKE)
    (now,), (was,) = made.summary["networks"], ff.load(cnv_on_u250).summary["networks"]
    assert now["interval_cycles"] == was["interval_cycles"]


@pytest.mark.parametrize(
    ("model", "board", "options", "told"),
    [
        (TFC, "alveo-u250", {}, "another network"),
        (CNV, "zcu104", {}, "it is of xcu250"),
        (CNV, "alveo-u250", {"fpgas": 2}, "it is of xcu250"),
        (CNV, "alveo-u250", {"keep_folding": True}, "--keep-folding"),
        (CNV, "alveo-u250", {"stay_near": "elsewhere"}, "--stay-near"),
        (CNV, "alveo-u250", {"objective": "latency"}, "latency"),
        (CNV, "alveo-u250", {"start_from": "nowhere"}, "nowhere"),
    ],
)
def test_a_plan_of_something_else_is_nothing_to_start_from(
    model: Path, board: str, options: dict[str, Any], told: str, cnv_on_u250: Path
) -> None:
    with pytest.raises(ff.InputError, match=told) as refused:
        ff.plan(model, board, **{"start_from": cnv_on_u250, **options}, **FAST)
    assert refused.value.hint
