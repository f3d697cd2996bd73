"""An outcome of a search is a value, and what gives way where there is no plan is tried in order."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import onnx
import pytest
import yaml

from floorflow.assets import asset_folder
from floorflow.backends.finn.read.dataflow import read_source
from floorflow.emit import bundle
from floorflow.errors import INTERRUPTED, InfeasibleError, LimitError, Refused, Stop, outcome_of, required
from floorflow.facts import read_plan
from floorflow.output import write
from floorflow.record.run import record
from floorflow.request import DEFAULT_CAP, Request
from floorflow.search.candidate.context import PlanningContext
from floorflow.search.candidate.findings import Outcome, SearchResult, Steps
from floorflow.search.candidate.preparing import prepare
from floorflow.search.candidate.progress import SILENT, Progress
from floorflow.search.interval.search import search
from floorflow.search.policy import host_weights, relaxation
from floorflow.search.policy.relaxation import HOPS, Relaxation, outcome_under, searched_alone
from floorflow.verify import check
from tests.plans import TFC
from tests.random_models import random_graph

PACKAGE = Path(__file__).resolve().parents[2] / "floorflow"
CARRIERS = {"InfeasibleError", "LimitError", "KeyboardInterrupt", "WorkIsSpent"}
SPENT = ("other_requests.py", "WorkIsSpent")
"""The one place where work that is spent ends something: the extras of a plan."""
TO_EXCEPTIONS = {"preparing.py": ["prepare"], "flow.py": ["plan", "plan_several", "plan_on_resources"]}
"""Functions that hand an outcome to whoever expects exceptions: what stands outside of these rooms."""


def names(node: ast.AST | None) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} if node is not None else set()


def carriers(tree: ast.AST) -> Iterator[str]:
    """Yield the exceptions of outcomes that are raised, caught or suppressed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            yield from names(node.exc) & CARRIERS
        if isinstance(node, ast.ExceptHandler):
            yield from names(node.type) & CARRIERS
        if isinstance(node, ast.Call) and "suppress" in names(node.func):
            yield from {name for each in node.args for name in names(each)} & CARRIERS


FILES = [path for room in ("search", "segments") for path in sorted((PACKAGE / room).rglob("*.py"))]


@pytest.mark.parametrize("path", [*FILES, PACKAGE / "flow.py"], ids=lambda path: path.stem)
def test_no_exception_carries_an_outcome(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert {(path.name, name) for name in carriers(tree)} <= {SPENT}
    callers = [
        function.name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(node, ast.Call) and "required" in names(node.func) for node in ast.walk(function))
    ]
    assert callers == TO_EXCEPTIONS.get(path.name, [])


@pytest.mark.parametrize(
    ("why", "error"), [("proven", InfeasibleError), ("limit", LimitError), ("interrupted", KeyboardInterrupt)]
)
def test_a_refusal_becomes_the_exception_of_its_kind_and_back(why: Any, error: type[BaseException]) -> None:
    refused = Refused("no room", "take more", why=why)
    with pytest.raises(error) as caught:
        required(refused)
    if isinstance(caught.value, Exception):
        assert outcome_of(lambda: required(refused)) == refused


def test_a_stop_hears_a_signal_and_nothing_else() -> None:
    with Stop() as stop:
        raise KeyboardInterrupt
    assert stop.heard
    with pytest.raises(ValueError, match="other"), Stop() as stop:
        raise ValueError("other")
    assert not stop.heard


def numbered(name: str, steps: list[Any]) -> Relaxation:
    """Return a relaxation that asks once more, for another number, where there is no plan."""

    def relax(context: Any, _: Any) -> Steps[Outcome]:
        steps.append((name, context))
        outcome = yield context
        return (yield context + 10) if isinstance(outcome, Refused) and not outcome.interrupted else outcome

    return Relaxation(name, relax, f"more of {name}")


def test_relaxations_are_tried_in_order_the_last_first() -> None:
    asked: list[Any] = []
    relaxing: list[Any] = []
    nothing = Refused("nothing")

    def search(context: Any) -> Outcome:
        asked.append(context)
        return nothing

    relaxations = (numbered("outer", relaxing), numbered("inner", relaxing))
    assert outcome_under(searched_alone(0), relaxations, search) is nothing  # type: ignore[arg-type]
    assert asked == [0, 10, 10, 20]
    assert relaxing == [("outer", 0), ("inner", 0), ("inner", 10)]


def test_after_a_signal_nothing_more_is_tried() -> None:
    asked: list[Any] = []

    def search(context: Any) -> Outcome:
        asked.append(context)
        return INTERRUPTED

    relaxations = (numbered("outer", []), numbered("inner", []))
    assert outcome_under(searched_alone(0), relaxations, search) is INTERRUPTED  # type: ignore[arg-type]
    assert asked == [0]


def test_a_search_that_raises_is_refused_and_the_next_is_tried() -> None:
    asked: list[Any] = []

    def search(context: Any) -> Outcome:
        asked.append(context)
        raise LimitError("too many steps")

    found = outcome_under(searched_alone(0), (numbered("outer", []),), search)  # type: ignore[arg-type]
    assert (str(found), asked) == ("too many steps", [0, 10])


def test_a_signal_between_searches_leaves_whoever_asked_with_the_best_known() -> None:
    def relax(context: Any, _: Any) -> Steps[Outcome]:
        best = yield context
        last = yield context
        return best if isinstance(last, Refused) and last.interrupted else last

    class Interrupts(Progress):
        def note(self, text: str) -> None:
            raise KeyboardInterrupt

    best = Refused("stands for the best")
    relaxation = Relaxation("twice", relax, "again")
    found = outcome_under(searched_alone(0), (relaxation,), lambda _: best, Interrupts())  # type: ignore[arg-type]
    assert found is best


def test_a_signal_in_the_work_of_a_relaxation_ends_it() -> None:
    def relax(context: Any, _: Any) -> Steps[Outcome]:
        yield context
        raise KeyboardInterrupt

    relaxation = Relaxation("hasty", relax, "")
    found = outcome_under(searched_alone(0), (relaxation,), lambda _: Refused("nothing"))  # type: ignore[arg-type]
    assert found is INTERRUPTED


def test_after_a_signal_no_design_without_weights_of_the_hosts_is_sought(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(TFC, "alveo-u250", effort="fast", plots=False)
    context = prepare(read_source(TFC), request, 1)
    full = search(context)
    assert isinstance(full, SearchResult)
    bounds = iter([1, full.candidate.kept_cycles])  # with, without: that is sought second, and would be near enough
    monkeypatch.setattr(host_weights._Sparing, "_bound", lambda *_: next(bounds))
    steps = host_weights.spare_host_weights(context, SILENT)
    assert next(steps) is context
    with pytest.raises(StopIteration) as ended:
        steps.send(replace(full, interrupted=True))
    assert ended.value.value.interrupted


def asked(folder: Path, **options: Any) -> Request:
    """Ask for a small network with forks, adds and concats, squeezed until it needs all SLRs of a card.

    But for its hops it is what `far_on_u250` is planned for.
    """
    onnx.save(random_graph(27), folder / "branches.onnx")
    usual = {"cap": {**DEFAULT_CAP, "LUT": 0.01}, "tie_break": "scarcity", "effort": "fast", "plots": False}
    return Request(folder / "branches.onnx", "alveo-u250", **usual | options)


def prepared(request: Request) -> PlanningContext:
    assert isinstance(request.fpgas, int)
    return prepare(read_source(request.model), request, request.fpgas)


def search_nearest(context: PlanningContext) -> SearchResult:
    return required(outcome_under(searched_alone(context), (HOPS,), search))


def most_hops(result: SearchResult) -> int:
    problem = result.candidate.problem
    return max(problem.hops(stream, result.candidate.partition.slot_of) for stream in problem.streams)


@dataclass(frozen=True)
class Nearest:
    """What is found for `asked` without an option, and the folder with its plan."""

    result: SearchResult
    out: Path


def found_nearest(request: Request, out: Path) -> Nearest:
    context = prepared(request)
    result = search_nearest(context)
    plan = record(read_source(request.model), context, result)
    write(out, bundle(plan, context.platform, context.backend), {})
    return Nearest(result, out)


@pytest.fixture(scope="module")
def nearest(tmp_path_factory: pytest.TempPathFactory) -> Nearest:
    folder = tmp_path_factory.mktemp("nearest")
    return found_nearest(asked(folder), folder / "out")


def test_unless_asked_streams_cross_one_boundary_where_they_would_cross_two(
    nearest: Nearest, far_on_u250: Path
) -> None:
    near = nearest.result
    assert (most_hops(near), near.max_hops, near.hop_proof) == (1, 1, "")
    assert near.candidate.problem.is_legal(near.candidate.partition.slot_of)
    far = read_plan(far_on_u250 / "plan.json")
    hops = far.phases[0].partition.hops
    assert (hops.most > 1, far.options.max_hops, hops.proof) == (True, 3, "")
    assert len(set(near.candidate.slot_of.values())) >= 3


def test_a_plan_of_one_hop_is_legal_and_says_so(nearest: Nearest) -> None:
    assert check(nearest.out) == []
    hops = read_plan(nearest.out / "plan.json").phases[0].partition.hops
    assert (hops.most, hops.proof, hops.streams) == (1, "", [])


def above_a_full_slr(folder: Path, **options: Any) -> Request:
    """Ask for a card whose two lower SLRs are all but taken: the host is in the first, engines fit only the others.

    The rate is given, for to seek the highest takes long there and tells nothing of hops.
    """
    text = (asset_folder("platforms") / "boards" / "alveo-u250.yaml").read_text(encoding="utf-8")
    board = yaml.safe_load(text) | {"name": "full"}
    board["shell"]["measured_available"] |= {"SLR0": {"LUT": 45_000}, "SLR1": {"LUT": 100}}
    (folder / "full.yaml").write_text(yaml.safe_dump(board), encoding="utf-8")
    return Request(TFC, folder / "full.yaml", **{"effort": "fast", "plots": False, "fps": 100_000} | options)


@pytest.mark.slow
def test_where_nothing_is_proven_of_all_foldings_the_plans_own_modules_may_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relaxation, "_engines_proof", lambda _: "")
    found = search_nearest(prepared(above_a_full_slr(tmp_path)))
    assert found.max_hops == 2
    assert found.hop_proof.startswith("no assignment of the modules to slots lets every stream cross at most 1 SLR")
    problem = replace(found.candidate.problem, max_hops=1)
    places = product(range(len(problem.slots)), repeat=len(problem.demands))
    assert not any(problem.is_legal(dict(zip(problem.demands, slots, strict=True))) for slots in places)


def test_more_hops_come_with_the_proof_that_fewer_will_not_do_and_the_plan_is_legal_and_holds_it(
    tmp_path: Path,
) -> None:
    out = found_nearest(above_a_full_slr(tmp_path), tmp_path / "out").out
    assert check(out) == []
    plan = read_plan(out / "plan.json")
    hops = plan.phases[0].partition.hops
    assert (hops.most, {stream.hops for stream in hops.streams}) == (2, {2})
    assert hops.proof.startswith("no assignment of engines to slots lets every stream cross at most 1 SLR boundary")
    assert all(len(stream.registers) == 2 for stream in hops.streams)
    told = " ".join((out / "report.txt").read_text(encoding="utf-8").split())
    assert hops.proof in told
    assert any(hops.proof in warning for warning in plan.warnings)


def test_where_one_hop_was_asked_for_no_more_are_taken(tmp_path: Path) -> None:
    with pytest.raises((InfeasibleError, LimitError)) as caught:
        search_nearest(prepared(above_a_full_slr(tmp_path, max_hops=1)))
    assert "--max-hops 2" in caught.value.hint


@pytest.mark.slow
def test_what_is_not_proven_is_refused_with_the_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relaxation, "_engines_proof", lambda _: "")
    monkeypatch.setattr(relaxation, "_modules_proof", lambda *_: "")
    with pytest.raises((InfeasibleError, LimitError)) as caught:
        search_nearest(prepared(above_a_full_slr(tmp_path)))
    assert caught.value.hint.endswith("--max-hops 2")


def test_another_memory_channel_needs_no_more_hops(tmp_path: Path) -> None:
    found = search_nearest(prepared(above_a_full_slr(tmp_path, host_port="DDR[2]")))
    assert (most_hops(found), found.hop_proof) == (0, "")
