"""The floorplan on the page: each die as the picture has it, whose modules tell of themselves, and tables of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from floorflow.facts.plan import Plan as PlanFacts
from floorflow.facts.text import chance
from floorflow.resources import RESOURCE_NAMES
from floorflow.view.background import die_key
from floorflow.view.die import Frame, die_of
from floorflow.view.names import Plan, slot_labels
from floorflow.view.page.html import Html, bar, element, in_box, joined, table
from floorflow.view.palette import Colour, darker, shades
from floorflow.view.parts import MARGIN, draw_key
from floorflow.view.pictures.floorplan import draw_die, floorplan_key, marks_key
from floorflow.view.scene import ModuleView, Scene, read_scene
from floorflow.view.sheet import Sheet
from floorflow.view.slots import Use
from floorflow.view.text import FAMILY

if TYPE_CHECKING:
    from floorflow.hardware.platform import Platform

_DIE, _GUTTER = 220.0, 66.0
"""Width of a die in points, and of what stands beside it."""
_SCALE = 1.4
"""The least text of a picture has five points: no text of the page has less than seven."""
_MOST_LAYERS, _ENGINES = 3, 150.0
"""Layers that a row names, of more the first and the last, and points that its engines may take."""


@dataclass(frozen=True)
class Floor:
    """A phase's dies as HTML, with the hatches that they share."""

    html: Html
    patterns: Mapping[str, str]


def floor(facts: PlanFacts, plan: Plan, platform: Platform, phase: int) -> Floor:
    """Draw the dies of a phase, and tell of its modules and slots."""
    scenes = [read_scene(plan, fpga["name"], phase) for fpga in plan["platform"]["fpgas"]]
    drawn = [_die(scene, platform, phase) for scene in scenes]
    patterns = {name: pattern for sheet, _ in drawn for name, pattern in sheet.patterns.items()}
    pictures = element("div", *(picture for _, picture in drawn), class_="dies")
    tables = element("div", _modules(facts, plan, scenes, phase), _slots(scenes, slot_colours(plan)), class_="beside")
    return Floor(element("div", pictures, tables, class_="floor"), patterns)


def key_of(phase: int, number: int) -> str:
    """Return what a module is called on the page."""
    return f"{phase}.{number}"


def _die(scene: Scene, platform: Platform, phase: int) -> tuple[Sheet, Html]:
    die = die_of(platform, scene.fpga)
    # The die hangs from the upper edge of a sheet without height; what is drawn below it lies below zero.
    sheet = Sheet(_GUTTER * 2 + _DIE, 0.0)
    draw_die(sheet, Frame.of(die, _GUTTER, 0.0, _DIE), scene, die)
    key = Sheet(_DIE + 2 * MARGIN, 0.0)
    draw_key(key, 0.0, die_key([die]) if scene.unconstrained else floorplan_key(scene, die))
    names = {module.name: module for module in scene.modules}
    first = scene.modules[0].name if scene.modules else ""
    shapes = [
        _told(shape.opening, phase, names[shape.name], is_first=shape.name == first)
        if shape.name in names
        else shape.svg
        for shape in sheet.in_order
    ]
    label = f"floorplan of {scene.fpga}: {len(scene.modules)} modules"
    notes = [
        element("p", text, class_=kind) for text, kind in ((scene.note, "doubt"), (scene.unconstrained, "")) if text
    ]
    caption = element("figcaption", element("b", scene.title), *notes)
    sheet_patterns = Sheet(0, 0, shapes=[*sheet.shapes, *key.shapes])
    picture = in_box(label, _svg(sheet, shapes, label), class_="box die")
    marks = element("p", "" if scene.unconstrained else " · ".join(marks_key(scene)), class_="quiet")
    below = in_box(f"key of {scene.fpga}", _svg(key, [shape.svg for shape in key.in_order], ""), class_="box key")
    return sheet_patterns, element("figure", caption, picture, below, marks)


def _svg(sheet: Sheet, shapes: list[str], label: str) -> Html:
    """Return what a sheet holds, no more of it than there is."""
    boxes = [shape.box for shape in sheet.shapes]
    left, right = min(box.left for box in boxes) - 3, max(box.right for box in boxes) + 3
    top, bottom = max(box.top for box in boxes) + 3, min(box.bottom for box in boxes) - 3
    width, height = right - left, top - bottom
    size = f'width="{width * _SCALE:.0f}pt" height="{height * _SCALE:.0f}pt"'
    view = f'viewBox="{left:.1f} {sheet.height - top:.1f} {width:.1f} {height:.1f}"'
    said = f'role="group" aria-label="{escape(label)}" data-walk=""' if label else 'aria-hidden="true"'
    fonts = f'font-family="{FAMILY}, Verdana, sans-serif" xml:space="preserve"'
    return Html("\n".join([f"<svg {size} {view} {said} {fonts}>", *shapes, "</svg>"]))


def _told(opening: str, phase: int, module: ModuleView, *, is_first: bool) -> str:
    """Return a module's area with what it tells to pointer and keyboard; one of a die stands in the order of Tab."""
    tab = 0 if is_first else -1
    key, text = key_of(phase, module.number), escape(_sentence(module))
    return f'{opening} class="m" data-m="{key}" tabindex="{tab}" role="img" aria-label="{text}"/>'


def _sentence(module: ModuleView) -> str:
    """Say of a module all that its row says."""
    layers, engines = _layers(module), ", ".join(module.contents.engine_texts)
    parts = [f"{module.number} {module.name}", f"layers {layers}" if layers else "", f"engines {engines}"]
    return " · ".join(
        filter(None, [*parts, f"in {module.slot}", f"{module.lut:,} LUT", f"pblock {_fill(module)} full"])
    )


def _layers(module: ModuleView) -> str:
    names = module.contents.operations
    if len(names) <= _MOST_LAYERS:
        return ", ".join(names)
    return f"{names[0]} to {names[-1]} ({len(names)})"


def _fill(module: ModuleView) -> str:
    return f"{module.fill.get(module.tightest, 0.0):.0%} {module.tightest}"


def _modules(facts: PlanFacts, plan: Plan, scenes: list[Scene], phase: int) -> Html:
    """Return the table of modules; each row is a module on a die."""
    several, labels = len(scenes) > 1, slot_labels(plan)
    modules = sorted((module for scene in scenes for module in scene.modules), key=lambda module: module.number)
    pblocks = facts.phases[phase].pblocks
    heading = ("", "module", "layers", "engines", "slot", "LUT", "fullest", "fits")
    rows = []
    for module in modules:
        likely = pblocks[module.name].likelihood
        fits = "-" if likely is None else chance(likely)
        engines, number = (
            module.contents.engines_text(_ENGINES, 7.0),
            joined([swatch(module.colour), f" {module.number}"]),
        )
        slot = module.slot if several else labels[module.slot]
        rows.append((number, module.name, _layers(module), engines, slot, f"{module.lut:,}", _fill(module), fits))
    keys = [f' data-m="{key_of(phase, module.number)}" tabindex="{-1 if n else 0}"' for n, module in enumerate(modules)]
    note = element("p", "Fullest: the scarcest resource of the pblock, and how much of it is used.", class_="quiet")
    made = table("modules", heading, rows, numbers="n....nnn", of_rows=keys)
    return joined([element("h3", "Modules"), Html(made.replace("<tbody>", '<tbody data-walk="">', 1)), note])


def swatch(colour: Colour, kind: str = " of") -> Html:
    """Return a sample of a colour; one ``of`` a die is as that is in the dark."""
    paint = f'fill="{colour}" stroke="{darker(colour)}"'
    return Html(f'<svg class="swatch{kind}" aria-hidden="true"><rect {paint} width="14" height="14"/></svg>')


def slot_colours(plan: Plan) -> dict[str, Colour]:
    """Return a colour a slot: a hue an FPGA, from dark at its lowest slot to light; names stand beside them."""
    colours: dict[str, Colour] = {}
    for number, fpga in enumerate(plan["platform"]["fpgas"]):
        names = [slot["name"] for slot in fpga["slots"]]
        colours |= dict(zip(names, shades(number, len(names)), strict=True))
    return colours


def _slots(scenes: list[Scene], colours: Mapping[str, Colour]) -> Html:
    """Return how full each slot is of what it has."""
    slots = [slot for scene in scenes for slot in scene.slots]
    names = [name for name in RESOURCE_NAMES if any(name in slot.use for slot in slots)]
    rows, limits = [], {name: use.limit for slot in slots for name, use in slot.use.items()}
    for slot in slots:
        uses = [_use(slot.use[name]) if name in slot.use else "-" for name in names]
        rows.append((joined([swatch(colours[slot.name], ""), f" {slot.name}"]), str(len(slot.modules)), *uses))
    made = table(
        "use of slots", ("slot", "modules", *(f"{name}, of {limits[name]:.0%}" for name in names)), rows, numbers=" n"
    )
    note = "Shares of what shell and infrastructure leave, beside the limit; colours as in the network below."
    return joined([element("h3", "Slots"), made, element("p", note, class_="quiet")])


def _use(use: Use) -> Html:
    return joined([bar(use.share, use.limit), f" {use.share:.0%}"])
