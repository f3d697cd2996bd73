"""The page: the summary, what cannot be built first; floorplan, network, bargains, search, warnings, the way on.

All is in one file, with a policy that lets the browser ask for nothing and run nothing but the script that is in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from floorflow.facts import brief, extras
from floorflow.facts.closing import closing_rows
from floorflow.facts.context import Context
from floorflow.facts.guide import ABOUT, BuildStep, facts_told
from floorflow.facts.next_steps import next_steps
from floorflow.facts.search import ended, tried_rows
from floorflow.view.names import networks_text
from floorflow.view.page.dies import floor
from floorflow.view.page.html import Html, bar, document, element, in_box, joined, listed, table
from floorflow.view.page.layers import network_table

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_HINT = (
    "Point at a module, a row or a layer to see the same elsewhere; by keyboard, Tab goes to a die or a table and "
    "arrow keys through it."
)


def page(views: Sequence[Context], platform: Platform, way: Sequence[BuildStep]) -> str:
    """Return report.html of a plan by its phases; ``way``: the steps on from its folder."""
    facts = views[0].plan
    names, copied = [network.name for network in facts.networks], facts.replicas
    shown_as = networks_text(names) if copied is None else f"{copied.copies} copies of {copied.network}"
    title = f"{shown_as} on {facts.platform}"
    floors, patterns = _floors(views, platform)
    sections = [
        ("summary", "Summary", _summary(views)),
        ("floorplan", "Floorplan", floors),
        ("network", "Network by layer", _networks(views)),
        ("less", extras.LESS_RATE, _bargains(views[0])),
        ("closing", "What makes it hard to close", _closing(views)),
        ("search", "What the search tried", _search(views[0])),
        ("notes", "Assumptions and warnings", listed(w for w in facts.warnings if w not in facts.unbuilt)),
        ("next", "How to go on", _way(views, way)),
    ]
    shown = [(name, heading, content) for name, heading, content in sections if content]
    links = element(
        "nav", *(element("a", heading, href=f"#{name}") for name, heading, _ in shown), aria_label="sections"
    )
    parts = [element("section", element("h2", heading), content, id=name) for name, heading, content in shown]
    made = element("p", f"floorflow {facts.version}, seed {facts.seed}", class_="quiet")
    hatches = Html(f'<svg class="hatches" aria-hidden="true"><defs>{"".join(patterns.values())}</defs></svg>')
    body = [element("header", element("h1", title), made, links), hatches, element("main", *parts)]
    told = element("p", id="told", hidden="")
    script = Path(__file__).with_name("page.js").read_text(encoding="utf-8")
    return document(title, joined([*body, told], "\n"), script=script)


def _summary(views: Sequence[Context]) -> Html:
    """Return the ten lines, whole; what cannot be built stands above them."""
    facts = views[0].plan
    unbuilt = [element("p", f"{text[:1].upper()}{text[1:]}.", class_="unbuilt") for text in facts.unbuilt]
    lines = [
        line for line in brief.summary_lines(views) if not (facts.unbuilt and line.text.startswith("cannot be built"))
    ]
    told = [
        element("div", element("dt", line.label or "rate"), element("dd", line.text))
        for line in brief.most_important(lines)
    ]
    return joined([*unbuilt, element("dl", *told)])


def _floors(views: Sequence[Context], platform: Platform) -> tuple[Html, dict[str, str]]:
    facts, plan = views[0].plan, views[0].plan.model_dump(by_alias=True)
    parts, patterns = [element("p", _HINT, class_="quiet screen")], dict[str, str]()
    for number, view in enumerate(views):
        found = floor(facts, plan, platform, number)
        patterns |= found.patterns
        parts += [*_phase_heading(views, view), found.html]
    return joined(parts), patterns


def _phase_heading(views: Sequence[Context], view: Context) -> list[Html]:
    return [element("h3", f"Phase {view.phase.name}")] if len(views) > 1 else []


def _networks(views: Sequence[Context]) -> Html:
    """Return the layers of each network in each phase; of copies, which are alike, those of one."""
    facts, plan = views[0].plan, views[0].plan.model_dump(by_alias=True)
    parts = [] if facts.replicas is None else [element("p", "All copies are alike; this is the first.")]
    for number, view in enumerate(views):
        parts += _phase_heading(views, view)
        own = view.phase.networks if facts.replicas is None else view.phase.networks[:1]
        for part in own:
            parts += [element("h3", part.network)] * (len(facts.networks) > 1)
            cycles = f"One frame every {part.interval_cycles:,} cycles at {part.estimates.clock_mhz:g} MHz. "
            about = "Dots have the colour of their slot, lines are streams; bars are shares of the interval."
            parts += [element("p", cycles + about, class_="quiet"), network_table(facts, plan, number, part)]
    return joined(parts)


def _bargains(view: Context) -> Html:
    """Return what less rate would free; the knee is where most is freed for what it costs."""
    facts, found = view.plan, view.extras
    if found is None:
        return Html("")
    notes = [extras.without_limits(found, facts.options.clock_mhz), *extras.left_out(found)]
    caps = facts.options.cap.as_dict()
    notes += extras.best_bargains(found, caps)
    parts = [listed(filter(None, notes))]
    if found.bargains is not None:
        (heading, now, *rows), more = extras.bargain_rows(
            found.bargains, facts.networks[0].search.interval_cycles, caps
        )
        best, last = extras.knee(found.bargains), [own[-1] for own in extras.alike(found.bargains.rows)]
        freed = [extras.freed_by(found.bargains, row) for row in last]
        is_best = [row is best for row in last]
        cells = [(*now, "")] + [
            (*row, joined([bar(share), f" {max(share, 0.0):.0%}", element("b", " knee") if knee else ""]))
            for row, share, knee in zip(rows, freed, is_best, strict=True)
        ]
        of_rows = ["", *(' class="sets"' * knee for knee in is_best)]
        shown = (*heading, "most that is freed")
        parts += [
            table("bargains", shown, cells, numbers="nn n  n", of_rows=of_rows),
            listed([*more, extras.UNLIKE_STEPS]),
        ]
    return joined(parts)


def _closing(views: Sequence[Context]) -> Html:
    parts = []
    for view in views:
        heading, *rows = closing_rows(view.plan, view.phase)
        if rows:
            of_rows = [' class="sets"' * (row[-1] != "comfortable") for row in rows]
            parts += [*_phase_heading(views, view), table("closing", heading, rows, of_rows=of_rows)]
    return joined(parts)


def _search(view: Context) -> Html:
    """Return every interval that was tried for each network, and what ended its search."""
    facts, parts = view.plan, []
    told = facts.networks if facts.replicas is None else facts.networks[:1]
    for network in told:
        in_phases = len(facts.phases) > 1
        heading, *rows = tried_rows(network.search, network.trace, facts.options.clock_mhz, in_phases=in_phases)
        parts += [element("h3", network.name)] * (len(told) > 1)
        parts.append(element("p", f"Ended by: {ended(network.search, network.trace)}."))
        if rows:
            parts.append(table(f"tries for {network.name}", heading, rows, numbers=" nn" if in_phases else "nn"))
    return joined(parts)


def _way(views: Sequence[Context], way: Sequence[BuildStep]) -> Html:
    """Return what to try next, and NEXT.md."""
    told = views if views[0].plan.memory_schedule is None else []
    steps = [(f"{view.phase.name}: " if len(views) > 1 else "") + step for view in told for step in next_steps(view)]
    tried = [element("h3", "What to try next"), listed(steps)] if steps else []
    return joined(
        [*tried, element("h3", "From here to a bitstream"), element("p", ABOUT), element("ol", *map(_step, way))]
    )


def _step(step: BuildStep) -> Html:
    commands = [in_box(step.title, element("pre", "\n".join(step.commands)))] if step.commands else []
    return element("li", element("b", step.title), *commands, element("p", " ".join(facts_told(step)), class_="quiet"))
