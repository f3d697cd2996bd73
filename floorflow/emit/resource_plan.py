"""The report of a plan on a platform of resources alone."""

from __future__ import annotations

from floorflow.emit.tables import number, rate, table, wrapped
from floorflow.facts.resource_plan import PartitionInTime, ResourcePlan
from floorflow.resources import RESOURCE_NAMES


def resource_report(plan: ResourcePlan) -> str:
    """Return report.txt: what a batch takes and what is proven, each partition, each engine."""
    title = f"{plan.network.name} on {plan.platform.name}, floorflow {plan.version}"
    sections = {
        "What was read and assumed": _assumed(plan),
        "A batch": _batch(plan),
        "Partitions": table([_HEAD, *(_row(part) for part in plan.partitions)]),
        **{f"Engines of {part.name}": _engines(part) for part in plan.partitions},
        "Warnings": wrapped(plan.warnings),
    }
    body = [f"{heading}\n{'-' * len(heading)}\n" + "\n".join(lines) for heading, lines in sections.items() if lines]
    return "\n\n".join([f"{title}\n{'=' * len(title)}", *body]) + "\n"


_HEAD = ["partition", "cycles", "load us", "run us", *RESOURCE_NAMES, "loads bits", "stores bits", "Gb/s"]


def _row(part: PartitionInTime) -> list[str]:
    used = part.resources.model_dump()
    shares = [f"{used[name]:,} ({part.shares[name]:.1%})" if name in part.shares else "-" for name in RESOURCE_NAMES]
    times = [f"{part.interval_cycles:,}", number(part.load_us), number(part.run_us)]
    return [part.name, *times, *shares, f"{part.loaded_bits:,}", f"{part.stored_bits:,}", number(part.gbps)]


def _assumed(plan: ResourcePlan) -> list[str]:
    facts, limits = plan.platform, plan.platform.limits.model_dump()
    model, load = plan.inputs[0], number(facts.reconfiguration_us)
    return [
        f"model      {model.path}, sha256 {model.sha256}",
        f"back end   {plan.options.backend}, for a part as on {facts.board}",
        f"platform   resources alone, SAMO's numbers: {_list(facts.resources.model_dump())}; nothing is placed",
        f"allowed    {_list(limits)}",
        f"memory     {facts.memory_gbps:g} Gb/s both ways together; loading the device takes {load} us",
        f"clock      {plan.options.clock_mhz:g} MHz",
        "FIFOs have the least depth, more where branches join; their resources and those of converters are counted",
    ]


def _list(amounts: dict[str, int]) -> str:
    return ", ".join(f"{amount:,} {name}" for name, amount in amounts.items() if amount)


def _batch(plan: ResourcePlan) -> list[str]:
    stats = plan.stats
    lines = [
        f"{plan.batch:,} frame{'s' * (plan.batch != 1)} in {number(plan.period_us)} us, {rate(plan.fps)} frames/s",
        f"{stats.status}: bound {number(stats.bound)} us, gap {'unknown' if stats.gap is None else f'{stats.gap:.2%}'}",
    ]
    if plan.reload_us:
        again = plan.batch * 1e6 / (plan.period_us + plan.reload_us)
        lines.append(f"batch after batch, the first partition loaded again: {rate(again)} frames/s")
    return lines


def _engines(part: PartitionInTime) -> list[str]:
    rows = [["engine", "cycles", *RESOURCE_NAMES, "folding"]]
    for name, engine in part.engines.items():
        used = engine.resources.model_dump()
        folding = ", ".join(f"{key} {value}" for key, value in engine.attributes.items())
        rows.append([name, f"{engine.cycles:,}", *(f"{used[each]:,}" for each in RESOURCE_NAMES), folding])
    return table(rows)
