"""Why no engines of several networks fit together, or keep the rates that are asked for at the least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from floorflow.bandwidth import JointAnswer, JointProblem, choose
from floorflow.dataflow.traffic import EnginePoint
from floorflow.errors import FloorflowError, InfeasibleError, LimitError, Refusal, sentence
from floorflow.resources import Resources, total

PROVEN = "proven infeasible by the cost model: "


def no_engines(problem: JointProblem, joint: JointAnswer) -> FloorflowError:
    """Return why there are no engines: a resource that all of them are short of, or rates that cannot be kept."""
    least = total(_least(points) for points in problem.fronts).as_dict()
    refusals = tuple(
        Refusal("slots together", name, "", least[name], limit, proven=True)
        for name, limit in problem.available.as_dict().items()
        if least[name] > limit
    )
    hint = "a larger platform, --cap, or fewer networks"
    if not refusals:
        hard = [n for n, name in enumerate(problem.names) if name in problem.kept]
        free = replace(problem, kept=frozenset())
        if not hard or choose(free).points is None:
            refusals = (Refusal("budgets together", proven=joint.stats.status == "infeasible"),)
        else:
            refusals, hint = (_rates_refused(problem, hard),), "ask for less with --min-rate"
    proven = all(refusal.proven for refusal in refusals)
    message = f"{', '.join(problem.names)}: {sentence(*refusals)}"
    return InfeasibleError(PROVEN + message, hint, refusals) if proven else LimitError(message, hint, refusals)


def _least(points: Sequence[EnginePoint]) -> Resources:
    columns = zip(*(point.resources.as_tuple() for point in points), strict=True)
    return Resources(*(min(column) for column in columns))


def _rates_refused(problem: JointProblem, hard: Sequence[int]) -> Refusal:
    """Return that least rates cannot be kept; proven where no schedule whatever keeps them."""
    names = tuple(f"{problem.names[n]}={problem.wishes[n].least_fps:g}" for n in hard)
    least = sum(problem.wishes[n].least_fps * min(p.traffic_bytes for p in problem.fronts[n]) for n in hard) / 1e9
    if least > problem.bandwidth_gbs:
        return Refusal("rates together", "GB/s", "", least, problem.bandwidth_gbs, proven=True, names=names)
    wishes = tuple(replace(w, least_fps=w.least_fps if n in hard else 0.0) for n, w in enumerate(problem.wishes))
    loosest = choose(replace(problem, wishes=wishes, any_schedule=True))
    return Refusal("rates together", proven=loosest.stats.status == "infeasible", names=names)


def rates_missed(problem: JointProblem, missed: Sequence[int], frames_per_s: Sequence[float]) -> LimitError:
    """Return that the schedule found keeps too little for networks, by position, that were to get their least rates."""
    told = [
        f"{problem.names[n]} gets {frames_per_s[n]:.4g} frames/s, {problem.wishes[n].least_fps:g} are to be kept"
        for n in missed
    ]
    hint = "ask for less with --min-rate, or try --effort best"
    return LimitError(f"no schedule of the memory was found that keeps all rates: {'; '.join(told)}", hint)
