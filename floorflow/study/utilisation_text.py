"""A utilisation report in words: a table by site type, a tree of instances, and a plan's estimates beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from floorflow.resources import RESOURCE_NAMES
from floorflow.study.utilisation import Instance, SiteRow, Utilisation, device_of, folded

_LONGEST = 60
"""Letters of a name in the tree."""


def utilisation_text(found: Utilisation, beside: Sequence[Mapping[str, Any]], depth: int) -> str:
    """Return the report as text; ``beside`` are rows of a plan's slots and pblocks."""
    facts = (found.design, found.part, found.state)
    lines = [f"{found.file}: {', '.join(fact for fact in facts if fact)}"]
    section = ""
    for row in found.rows:
        if row.section != section:
            section = row.section
            lines += ["", section, f"  {'':<44} {'used':>10} {'available':>10} {'percent':>8}"]
        lines.append(_site(row))
    if found.instances:
        of = "of the device" if found.device else "of what the design uses (its device is not known)"
        lines += ["", f"Instances: the largest share {of}"]
        lines.append(f"  {'':<{_LONGEST}}" + "".join(f"{name:>9}" for name in RESOURCE_NAMES) + "  largest")
        for top in found.instances:
            lines += _branch(folded(top, device_of(found), depth), 0)
    if beside:
        lines += ["", "Beside the plan: built / estimated, of engines whose cells are known"]
        lines.append(f"  {'':<44} {'engines':>9}" + "".join(f"{name:>22}" for name in RESOURCE_NAMES))
        lines += [_compared(row) for row in beside]
    return "\n".join(lines) + "\n"


def _site(row: SiteRow) -> str:
    name = "  " * row.level + row.site + (f" in {row.place}" if row.place else "")
    has = "" if row.available is None else _amount(row.available)
    percent = "" if row.percent is None else f"{row.percent:.2f}"
    return f"  {name:<44} {_amount(row.used):>10} {has:>10} {percent:>8}".rstrip()


def _amount(number: float) -> str:
    return f"{number:,.0f}" if number.is_integer() else f"{number:,}"


def _branch(instance: Instance, level: int) -> Iterator[str]:
    name = "  " * level + instance.name
    if len(name) > _LONGEST:
        name = name[: _LONGEST - 25] + "…" + name[-24:]
    amounts = "".join(f"{amount:>9,}" for amount in instance.resources.as_tuple())
    yield f"  {name:<{_LONGEST}}{amounts}  {instance.share:.1%} {instance.resource}"
    for child in instance.children:
        yield from _branch(child, level + 1)


def _compared(row: Mapping[str, Any]) -> str:
    cells = []
    for name in RESOURCE_NAMES:
        built, estimate = row["built"][name], row["estimate"][name]
        ratio = f" ({built / estimate:.2f})" if estimate else ""
        cells.append(f"{f'{built:,} / {estimate:,}{ratio}':>22}")
    return f"  {row['place']:<44} {row['known']:>4} of {row['engines']:<2}{''.join(cells)}"
