"""Read ``platforms/devices/<part>.yaml`` (schema floorflow-device/1) and refuse a die that contradicts itself."""

from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, Strict

from floorflow.hardware.device import Device, SiteType, Slr
from floorflow.hardware.grid import Tile, TileKind
from floorflow.hardware.reading import FileModel, parse, require
from floorflow.technology import Architecture, technology_of

DEVICES_KEPT = 8
"""Dies that are kept as long as their files do not change: a run asks for the same one several times."""

Count = Annotated[int, Field(ge=0, le=2**40)]
Positive = Annotated[int, Field(gt=0, le=2**24)]
Span = Annotated[tuple[Count, Count], Strict(strict=False)]  # YAML has lists, no tuples
Char = Annotated[str, Field(min_length=1, max_length=1)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Amounts = dict[Literal["LUT", "FF", "LUTRAM", "BRAM18", "URAM", "DSP"], Count]
SiteName = Literal["SLICE", "DSP48", "DSP48E2", "RAMB18", "RAMB36", "URAM288", "LAGUNA"]


class TileModel(FileModel):
    """A layout character; the last four fields only for fabric."""

    kind: TileKind
    description: str
    tile_rows: Positive = 1
    first_row: Count = 0
    sites: dict[SiteName, Positive] = Field(default={})
    resources: Amounts = Field(default={})


class ClockRegionsModel(FileModel):
    """Clock-region rows, and first and last physical column of each clock-region column."""

    rows: Positive
    columns: list[Span] = Field(min_length=1)


class SlrModel(FileModel):
    """A super logic region and its first and last clock-region row."""

    name: str = Field(pattern=r"^SLR[0-9]+$")
    clock_region_rows: Span


class SllModel(FileModel):
    """Laguna columns, wires of one column at one boundary, and the clock-region rows that boundaries join."""

    wires_per_column: Positive
    columns: list[Count]
    boundaries: list[Span]


class ContentModel(FileModel):
    """The source's own count of each clock region: by layout, then clock-region column, then field."""

    fields: list[str]
    layouts: dict[str, list[list[Count]]]


class DeviceModel(FileModel):
    """A whole device file."""

    file_schema: Literal["floorflow-device/1"] = Field(alias="schema")
    part: Name
    die: str
    aliases: list[str] = Field(default=[])
    family: str = ""
    architecture: Architecture
    rows_per_clock_region: Positive
    clock_regions: ClockRegionsModel
    slrs: list[SlrModel] = Field(min_length=1)
    layouts: dict[str, str] = Field(min_length=1)
    clock_region_layouts: list[str]
    legend: dict[Char, TileModel]
    site_columns: dict[SiteName, list[Count]]
    site_rows: dict[SiteName, list[Span | None]]
    sll: SllModel | None = None
    clock_region_content: ContentModel | None = None
    totals: Amounts
    official_totals: Amounts | None = None
    official_totals_source: str = ""
    provenance: list[str]
    confidence: dict[str, str]
    validation: list[str] = Field(default=[])
    notes: list[str] = Field(default=[])


@lru_cache(DEVICES_KEPT)
def read_device(text: str, file: str) -> Device:
    """Return the device that ``text``, the content of ``file``, describes.

    PlatformError if a field is missing, unknown or malformed, or the file contradicts itself.
    """
    model = parse(DeviceModel, text, file)
    _check_layouts(model, file)
    _check_tiles(model, file)
    _check_sites(model, file)
    _check_regions(model, file)
    device = _device_of(model)
    _check_totals(model, device, file)
    return device


def _device_of(model: DeviceModel) -> Device:
    height = model.rows_per_clock_region
    return Device(
        part=model.part,
        die=model.die,
        architecture=model.architecture,
        rows_per_clock_region=height,
        clock_region_columns=tuple(model.clock_regions.columns),
        layouts=tuple(model.layouts[name] for name in model.clock_region_layouts),
        legend={char: Tile(**dict(tile)) for char, tile in sorted(model.legend.items())},
        slrs=tuple(
            Slr(slr.name, slr.clock_region_rows[0] * height, (slr.clock_region_rows[1] + 1) * height - 1)
            for slr in model.slrs
        ),
        site_types={name: _site_type(model, name) for name in sorted(model.site_columns)},
        sll_wires=_sll_wires(model),
        confidence=dict(sorted(model.confidence.items())),
    )


def _site_type(model: DeviceModel, name: SiteName) -> SiteType:
    """Put together how sites are numbered: a column stands in ``site_columns`` once for each site across."""
    columns = model.site_columns[name]
    tile = model.legend[min(_holders(model, name))]
    across = columns.count(columns[0])
    return SiteType(
        name=name,
        columns=tuple(columns),
        rows=tuple(model.site_rows[name]),
        tile_rows=tile.tile_rows,
        across=across,
        up=tile.sites[name] // across,
    )


def _sll_wires(model: DeviceModel) -> tuple[int, ...]:
    if model.sll is None:
        return ()
    return (model.sll.wires_per_column * len(model.sll.columns),) * len(model.sll.boundaries)


def _check_layouts(model: DeviceModel, file: str) -> None:
    """Check that layouts are equally long, known to the legend, and given for every clock-region row."""
    length = len(next(iter(model.layouts.values())))
    for name, layout in model.layouts.items():
        require(
            len(layout) == length > 0,
            file,
            f"layouts.{name}",
            f"expected {length} characters, as in the first",
        )
        unknown = sorted(set(layout) - set(model.legend))
        require(not unknown, file, f"layouts.{name}", f"the legend does not explain {unknown}")
    names = model.clock_region_layouts
    missing = sorted(set(names) - set(model.layouts))
    require(not missing, file, "clock_region_layouts", f"{missing} are not in layouts")
    rows = model.clock_regions.rows
    require(len(names) == rows, file, "clock_region_layouts", f"expected {rows} names, one a clock-region row")


def _check_tiles(model: DeviceModel, file: str) -> None:
    """Check that tiles fill clock regions and that each resource and site type has one tile height."""
    heights: dict[str, int] = {}
    for char, tile in model.legend.items():
        field = f"legend.{char}.tile_rows"
        for rows in (model.rows_per_clock_region, tile.first_row):
            require(rows % tile.tile_rows == 0, file, field, f"{rows} rows are no multiple of it")
        for name in [*tile.resources, *tile.sites]:
            height = heights.setdefault(name, tile.tile_rows)
            require(height == tile.tile_rows, file, field, f"expected {height}, as elsewhere for {name}")


def _check_sites(model: DeviceModel, file: str) -> None:
    """Check that ``site_columns`` names exactly the columns that hold the sites, and ``site_rows`` their rows."""
    held = {site for char in _used(model) for site in model.legend[char].sites}
    needed: set[SiteName] = {"SLICE", "RAMB18", "RAMB36", *(("LAGUNA",) if model.sll else ())}
    for name in sorted(held | needed | set(model.site_columns)):
        chars = _holders(model, name)
        columns = {p for text in model.layouts.values() for p, char in enumerate(text) if char in chars}
        listed = model.site_columns.get(name, [])
        field = f"site_columns.{name}"
        require(set(listed) == columns != set(), file, field, "expected the columns whose layouts hold such sites")
        require(listed == sorted(listed), file, field, "expected ascending columns")
        across = {listed.count(p) for p in listed}
        even = all(model.legend[char].sites[name] % max(across) == 0 for char in chars)
        require(len(across) == 1 and even, file, field, "expected each column as often as a tile is sites wide")
        _check_site_rows(model, name, file)


def _used(model: DeviceModel) -> set[str]:
    return {char for text in model.layouts.values() for char in text}


def _holders(model: DeviceModel, name: SiteName) -> set[str]:
    """Return the characters that occur and hold sites of a type."""
    return {char for char in _used(model) if name in model.legend[char].sites}


def _check_site_rows(model: DeviceModel, name: SiteName, file: str) -> None:
    """Check that Y numbers run through the clock-region rows without gap and suffice for the tiles."""
    rows, expected = model.site_rows.get(name, []), model.clock_regions.rows
    field = f"site_rows.{name}"
    require(len(rows) == expected, file, field, f"expected {expected} entries, one a clock-region row")
    spans = [span for span in rows if span is not None]
    require(spans != [] and _tiles(spans, spans[-1][1] + 1), file, field, "expected Y numbers without gaps from 0")
    kind = _site_type(model, name)
    most = model.rows_per_clock_region // kind.tile_rows * kind.up
    for y, span in enumerate(rows):
        size = 0 if span is None else span[1] - span[0] + 1
        chars = _holders(model, name) & set(model.layouts[model.clock_region_layouts[y]])
        missing = min((model.legend[char].first_row for char in chars), default=model.rows_per_clock_region)
        need = most - missing // kind.tile_rows * kind.up
        fits = size % kind.up == 0 and need <= size <= most
        require(fits, file, f"{field}.{y}", f"expected a multiple of {kind.up} numbers, {need} to {most}")


def _tiles(spans: list[Span], size: int) -> bool:
    """Whether the spans cover 0 to ``size - 1``, in order, without gap or overlap."""
    starts = [first for first, _ in spans]
    return starts == [0, *(last + 1 for _, last in spans[:-1])] and spans[-1][1] == size - 1


def _check_regions(model: DeviceModel, file: str) -> None:
    """Check that clock regions cover all columns, SLRs all rows, and that part and architecture agree."""
    width = len(next(iter(model.layouts.values())))
    spans = model.clock_regions.columns
    require(
        _tiles(spans, width),
        file,
        "clock_regions.columns",
        f"expected spans that cover columns 0 to {width - 1}",
    )
    rows = model.clock_regions.rows
    bands = [slr.clock_region_rows for slr in model.slrs]
    require(_tiles(bands, rows), file, "slrs", f"expected SLRs that cover clock-region rows 0 to {rows - 1}")
    boundaries = [] if model.sll is None else model.sll.boundaries
    joints = [(lower[1], upper[0]) for lower, upper in pairwise(bands)]
    require(boundaries == joints, file, "sll.boundaries", f"expected {joints}: the rows where SLRs meet")
    architecture = technology_of(model.part).architecture
    require(architecture == model.architecture, file, "architecture", f"part {model.part} is {architecture}")


def _check_totals(model: DeviceModel, device: Device, file: str) -> None:
    """Compare ``totals`` with what the layouts hold."""
    counted = device.resources(device.bounds).as_dict()
    for name, amount in counted.items():
        stated = {str(key): value for key, value in model.totals.items()}.get(name, 0)
        require(stated == amount, file, f"totals.{name}", f"the layouts hold {amount}, the file says {stated}")
