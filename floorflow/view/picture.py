"""The floorplan of one FPGA as a figure: silicon, modules in dataflow order, streams, table and key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from floorflow.view.background import draw_background, label_background
from floorflow.view.die import FABRIC, Die, die_of
from floorflow.view.geometry import Box
from floorflow.view.host import draw_far_ends
from floorflow.view.labels import Label, place_labels
from floorflow.view.palette import COLUMN_COLOURS, INK, QUIET, Colour, darker, module_colours
from floorflow.view.panel import PANEL_WIDTH, draw_key, draw_panel, draw_slots, panel_height
from floorflow.view.reading import Plan, module_count, read_scene
from floorflow.view.scene import Scene
from floorflow.view.sheet import Frame, Sheet, drawing_settings, new_sheet
from floorflow.view.streams import Route, draw_routes, label_crossings, route
from floorflow.view.text import Occupied

if TYPE_CHECKING:
    from floorflow.target.platform import Platform

_MARGIN, _SLOTS_WIDTH, _GUTTER, _DIE_WIDTH = 18.0, 114.0, 62.0, (410.0, 600.0)
_HEADER, _KEY, _AXIS = 50.0, 30.0, 16.0
"""Heights of title, key and clock-region numbers, all in points; the die's width is between two values."""


def floorplan(plan: Plan, platform: Platform, fpga: str, phase: int = 0) -> Figure:
    """Draw the floorplan of one FPGA.

    ``plan`` is plan.json as a plain dict (`docs/plan.md`), ``phase`` an index into its ``phases``.

    Raises
    ------
    InputError
        If the plan has no floorplan of that FPGA, or the platform no such FPGA.

    """
    scene, die = read_scene(plan, fpga, phase), die_of(platform, fpga)
    with drawing_settings():
        frame, sheet = _lay_out(scene, die)
        colours = dict(zip((module.name for module in scene.modules), _colours(plan, scene, phase), strict=True))
        _draw_die(sheet, frame, scene, die, colours)
        _draw_margins(sheet, frame, scene, die, colours)
        return sheet.figure


def _colours(plan: Plan, scene: Scene, phase: int) -> tuple[Colour, ...]:
    """Return the modules' colours; the ramp runs over the modules of all FPGAs."""
    ramp = module_colours(module_count(plan, phase))
    return tuple(ramp[module.number - 1] for module in scene.modules)


def _lay_out(scene: Scene, die: Die) -> tuple[Frame, Sheet]:
    """Give the die the height of the table of modules, within limits that keep the sheet readable on a screen."""
    proportion = min(max(die.height_over_width, 0.7), 1.8)
    die_width = min(max(panel_height(scene) / proportion, _DIE_WIDTH[0]), _DIE_WIDTH[1])
    die_height = die_width * proportion
    body = max(die_height + _AXIS, panel_height(scene))
    width = _MARGIN + _SLOTS_WIDTH + _GUTTER + die_width + _GUTTER + PANEL_WIDTH + _MARGIN
    top = _MARGIN + _KEY + body
    left = _MARGIN + _SLOTS_WIDTH + _GUTTER
    right = left + die_width + _GUTTER
    frame = Frame(
        die=Box(left, top - die_height, left + die_width, top),
        slots=Box(_MARGIN, top - body, _MARGIN + _SLOTS_WIDTH, top),
        panel=Box(right, top - body, right + PANEL_WIDTH, top),
        columns=die.column_count,
        rows=die.row_count,
    )
    return frame, new_sheet(width, top + _HEADER)


def _draw_die(sheet: Sheet, frame: Frame, scene: Scene, die: Die, colours: Mapping[str, Colour]) -> None:
    draw_background(sheet, frame, die)
    areas = [(module, frame.place(module.box)) for module in scene.modules]
    for module, area in areas:
        colour = colours[module.name]
        patch = sheet.rectangle(area, facecolor=(*colour, 0.82), edgecolor=darker(colour), linewidth=1.0, zorder=5)
        patch.set_gid(module.name)
    occupied = Occupied()
    labels = place_labels(areas, occupied)
    for label in labels.values():
        _draw_label(sheet, label)
    label_background(sheet, frame, die, occupied)
    routes = _routes(scene, die, labels)
    draw_routes(sheet, routes)
    draw_far_ends(sheet, frame, scene.streams, {name: label.box for name, label in labels.items()}, occupied)
    label_crossings(sheet, routes, [frame.place(box).top for _, box in die.slrs[:-1]], occupied)


def _draw_label(sheet: Sheet, label: Label) -> None:
    if label.leader is not None:
        sheet.line(label.leader, label.box.centre, color=INK, linewidth=0.6, zorder=12)
    patch = {
        "boxstyle": "round,pad=0.22",
        "facecolor": (1, 1, 1, 0.88),
        "edgecolor": "#6b7078",
        "linewidth": 0.5,
    }
    plain = len(label.lines) == 1 and not label.turned
    style: dict[str, Any] = {"ha": "center", "va": "center_baseline" if plain else "center", "zorder": 13}
    rotation = 90 if label.turned else 0
    text = "\n".join(label.lines)
    sheet.write(*label.box.centre, text, label.size, bbox=patch, rotation=rotation, linespacing=1.1, **style)


def _routes(scene: Scene, die: Die, labels: Mapping[str, Label]) -> tuple[Route, ...]:
    """Route the streams that have both ends on this FPGA."""
    slr = {module.name: _slr_at(die, module.box) for module in scene.modules}
    return tuple(
        route(
            stream,
            labels[stream.source].box,
            labels[stream.target].box,
            crosses=slr[stream.source] != slr[stream.target],
        )
        for stream in scene.streams
        if stream.source is not None and stream.target is not None
    )


def _slr_at(die: Die, box: Box) -> str:
    return next(name for name, slr in die.slrs if slr.bottom <= box.bottom < slr.top)


def _draw_margins(sheet: Sheet, frame: Frame, scene: Scene, die: Die, colours: Mapping[str, Colour]) -> None:
    sheet.write(_MARGIN, sheet.height - 24, scene.title, 14, weight="bold")
    sheet.write(_MARGIN, sheet.height - 39, scene.subtitle, 9, color=QUIET)
    draw_slots(sheet, frame.slots, scene.slots, {name: frame.place(box) for name, box in die.slrs})
    draw_panel(sheet, frame.panel, scene, colours)
    present = {kind for row in die.kinds for kind in row} - {FABRIC}
    draw_key(
        sheet,
        Box(_MARGIN, _MARGIN, sheet.width - _MARGIN, _MARGIN + _KEY - 6),
        kinds=[kind for kind in COLUMN_COLOURS if kind in present],
        has_static=bool(die.static),
        has_reserved=bool(die.reserved),
        crosses=len(die.slrs) > 1,
    )
