"""Why networks get no engines, or too little of the memory: what is short, and whether that is proven."""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from floorflow.bandwidth.joint import JointAnswer, JointProblem, choose
from floorflow.errors import Refusal, Refused, sentence
from floorflow.resources import Resources, total

PROVEN = "proven infeasible by the cost model: "


def no_engines(problem: JointProblem, joint: JointAnswer) -> Refused:
    """Return why there are no engines: a resource that all of them are short of, or rates that cannot be kept."""
    fewest = (reduce(Resources.least, (point.resources for point in points)) for points in problem.fronts)
    least = total(fewest).as_dict()
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
    return Refused(PROVEN + message, hint, refusals, "proven") if proven else Refused(message, hint, refusals)


def _rates_refused(problem: JointProblem, hard: Sequence[int]) -> Refusal:
    """Return that least rates cannot be kept; proven where no schedule whatever keeps them."""
    names = tuple(f"{problem.names[n]}={problem.wishes[n].least_fps:g}" for n in hard)
    least = sum(problem.wishes[n].least_fps * min(p.traffic_bytes for p in problem.fronts[n]) for n in hard) / 1e9
    if least > problem.bandwidth_gbs:
        return Refusal("rates together", "GB/s", "", least, problem.bandwidth_gbs, proven=True, names=names)
    wishes = tuple(replace(w, least_fps=w.least_fps if n in hard else 0.0) for n, w in enumerate(problem.wishes))
    loosest = choose(replace(problem, wishes=wishes, any_schedule=True))
    return Refusal("rates together", proven=loosest.stats.status == "infeasible", names=names)


def rates_missed(problem: JointProblem, missed: Sequence[int], frames_per_s: Sequence[float]) -> Refused:
    """Return that the schedule found keeps too little for networks, by position, that were to get their least rates."""
    told = [
        f"{problem.names[n]} gets {frames_per_s[n]:.4g} frames/s, {problem.wishes[n].least_fps:g} are to be kept"
        for n in missed
    ]
    hint = "ask for less with --min-rate, or try --effort best"
    return Refused(f"no schedule of the memory was found that keeps all rates: {'; '.join(told)}", hint)
