"""The store of modules: whole or not there, by many writers, and refused where it is damaged."""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from floorflow.errors import FloorflowError
from floorflow.facts.stitched import Port, StitchedModule
from floorflow.jobs.library import Library, Wanted, wanted_in
from floorflow.resources import Resources
from tests.jobs.projects import contents
from tests.study.report_samples import hierarchy_xml

MODULE = StitchedModule("m", "m_cell", "impl_m", "fpga0.SLR0", (Port("a", enters=True, number=0, bits=24),))
WANTED = Wanted(
    MODULE,
    "0" * 64,
    "xcku5p-ffvd900-2-i",
    "4.000",
    "    name {m_cell} \\\n    ranges {SLICE_X0Y0:SLICE_X1Y9}",
    "2022.2",
)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Return a folder with what a run leaves."""
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "m_cell.dcp").write_bytes(b"checkpoint " * 20_000)
    (folder / "m_cell_utilization.xml").write_text(hierarchy_xml([(0, "impl_m", Resources(700, 800, 3, 0, 2))]))
    (folder / "m_cell_timing_summary.rpt").write_text("timing\n")
    (folder / "m_cell_timing.json").write_text('{"name": "m_cell", "wns_ns": -0.0, "cells": 1500}\n')
    return folder


def test_an_entry_tells_what_was_measured_and_of_what(made: Path, tmp_path: Path) -> None:
    library = Library(tmp_path / "library")
    assert not library.has(WANTED.name)
    library.put(WANTED, made)
    told = library.link(WANTED.name, made.parent)
    assert told["resources"] == {"LUT": 700, "FF": 800, "BRAM18": 3, "URAM": 0, "DSP": 2}
    assert (told["clock_mhz"], told["reached_mhz"], told["ports"]) == (250.0, 250.0, {"s_axis_0": 24})
    assert (told["part"], told["window"], told["vivado"]) == ("xcku5p-ffvd900-2-i", ["SLICE_X0Y0:SLICE_X1Y9"], "2022.2")
    assert (made.parent / "m_cell.dcp").read_bytes() == (made / "m_cell.dcp").read_bytes()


@pytest.mark.parametrize(
    "other",
    [
        {"implementation_sha256": "1" * 64},
        {"part": "xcku5p-ffvd900-3-e"},
        {"vivado": "2023.1"},
        {"period_ns": "5.000"},
        {"place": WANTED.place.replace("X1Y9", "X1Y8")},
    ],
    ids=str,
)
def test_whatever_differs_has_another_name(other: dict[str, str]) -> None:
    assert replace(WANTED, **other).name != WANTED.name


@pytest.mark.parametrize("name", ["m_cell.dcp", "m_cell_utilization.xml", "m_cell_timing.json"])
def test_what_lacks_a_file_is_no_entry(made: Path, tmp_path: Path, name: str) -> None:
    (made / name).write_bytes(b"")
    library = Library(tmp_path / "library")
    with pytest.raises(FloorflowError, match=f"Vivado left no {name}"):
        library.put(WANTED, made)
    assert not library.has(WANTED.name)


def test_a_damaged_entry_is_refused(made: Path, tmp_path: Path) -> None:
    library = Library(tmp_path / "library")
    library.put(WANTED, made)
    (library.folder / WANTED.name / "m_cell.dcp").write_bytes(b"half")
    with pytest.raises(FloorflowError, match="is damaged"):
        library.link(WANTED.name, made)


def put_again_and_again(folder: Path, made: Path, start: object) -> None:
    start.wait()  # type: ignore[attr-defined]
    for number in range(30):
        Library(folder).put(replace(WANTED, vivado=f"{number}.1"), made)


def test_two_writers_leave_one_whole_entry_each_time(made: Path, tmp_path: Path) -> None:
    """A reader beside them finds nothing or all of it."""
    context = multiprocessing.get_context("fork")
    start, folder = context.Barrier(3), tmp_path / "library"
    writers = [context.Process(target=put_again_and_again, args=(folder, made, start)) for _ in range(2)]
    for writer in writers:
        writer.start()
    start.wait()
    names = [replace(WANTED, vivado=f"{number}.1").name for number in range(30)]
    seen = set[str]()
    while any(writer.is_alive() for writer in writers):
        for name in names:
            if Library(folder).has(name):
                Library(folder).link(name, made.parent)
                seen.add(name)
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert seen
    alone = tmp_path / "alone"
    Library(alone).put(WANTED, made)
    sizes = {len(contents(folder / name)) for name in names}
    assert sizes == {len(contents(alone / WANTED.name))}


def test_comments_and_times_of_packaging_change_no_digest(tmp_path: Path) -> None:
    script = (
        "# Generated from plan {plan}\nsource x.tcl\nset places [list]\n"
        "lappend places [dict create \\\n    name {{m_cell}} \\\n    ranges {{SLICE_X0Y0:SLICE_X{x}Y9}}]\n"
        "\nfloorflow::implementation -name {{impl_m}} -part {{xcku5p-ffvd900-2-i}} -period 4.000 \\\n    -x y\n"
    )
    found = []
    for plan, x, stamp, core in (("a", 1, 1, "v"), ("b", 1, 2, "v"), ("b", 2, 2, "v"), ("b", 1, 2, "w")):
        out = tmp_path / f"{plan}{x}{stamp}{core}"
        for name, text in {
            "ooc/impl_m/run.tcl": script.format(plan=plan, x=x),
            "ooc/impl_m/impl_m.v": f"// Generated from plan {plan}\nmodule impl_m;\n",
            "vivado/floorflow_stitch.tcl": "# ours\n",
            "ip/impl_m/component.xml": f"<a/>\n<x:coreCreationDateTime>{stamp}</x:coreCreationDateTime>\n",
            "ip/impl_m/core.v": core,
        }.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text(text)
        (one,) = wanted_in(out, out / "ip", "impl_m", {"m_cell": MODULE}, "2022.2")
        assert (one.part, one.window) == ("xcku5p-ffvd900-2-i", f"SLICE_X0Y0:SLICE_X{x}Y9")
        found.append(one.name)
    assert found[0] == found[1]
    assert len({*found}) == 3
