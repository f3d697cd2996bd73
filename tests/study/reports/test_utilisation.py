"""`floorflow report`: tables, tree and picture of Vivado's utilisation reports; what is none is refused."""

import json
from pathlib import Path

import pytest

import floorflow as ff
from floorflow.api.reporting import utilisation_text
from floorflow.resources import Resources
from floorflow.study.utilisation import folded
from floorflow.view.pictures.utilisation import Branch, utilisation_chart
from tests.command_line import floorflow
from tests.study import report_samples as samples

HALF = Resources(115_200, 100, 4, 0, 0)
SMALL = Resources(230, 10)
LINES = [
    (0, "top", HALF), (1, "wrap", HALF),
    (2, "small_b", SMALL), (2, "small_a", SMALL), (2, "conv<1>", Resources(69_120)),
]  # fmt: skip
SITES = """
4. SLR CLB Logic and Dedicated Block Utilization
------------------------------------------------

+-----------+------+------+--------+--------+
| Site Type | SLR0 | SLR1 | SLR0 % | SLR1 % |
+-----------+------+------+--------+--------+
| CLB LUTs  |   10 | 2000 |  <0.01 |   1.00 |
+-----------+------+------+--------+--------+
"""


def written(folder: Path, text: str, name: str = "r.rpt") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_flat_report_is_a_table_of_sites(tmp_path: Path) -> None:
    found = ff.utilisation(written(tmp_path, samples.flat_text("top", Resources(lut=10, bram18=3))))
    rows = {row.site: row for row in found.rows}
    assert (rows["CLB LUTs"].used, rows["CLB LUTs"].available, rows["CLB LUTs"].percent) == (10, 1000, 1)
    assert rows["Block RAM Tile"].used == 1.5
    assert (rows["RAMB36/FIFO"].level, rows["CLB LUTs"].level, rows["CLB LUTs"].section) == (1, 0, "CLB Logic")
    assert "  Block RAM Tile                                      1.5" in utilisation_text(found)


def test_tables_by_slr_tell_each_slr(tmp_path: Path) -> None:
    rows = ff.utilisation(written(tmp_path, SITES)).rows
    assert [(row.place, row.used, row.percent) for row in rows] == [("SLR0", 10, 0.01), ("SLR1", 2000, 1)]


@pytest.mark.parametrize("write", [samples.hierarchy_text, samples.hierarchy_xml], ids=["text", "XML"])
def test_instances_are_a_tree_the_largest_first(tmp_path: Path, write) -> None:  # type: ignore[no-untyped-def]
    text = write(LINES).replace("<RptDoc ", '<RptDoc partname="xczu7ev-ffvc1156-2-e" ')
    found = ff.utilisation(written(tmp_path, text, "r.xml"))
    (top,) = found.instances
    assert (top.name, top.share, top.resource) == ("top", 0.5, "LUT")
    assert [child.name for child in top.children[0].children] == ["conv<1>", "small_a", "small_b"]
    assert found.device is not None
    shown = folded(top, found.device, 1)
    assert (shown.name, [child.name for child in shown.children]) == ("top/wrap", ["conv<1>", "2 others"])
    assert shown.children[1].resources == SMALL + SMALL


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    done = floorflow("report", written(tmp_path, samples.power_text([(0, "top", "1.0")])))
    assert done.returncode == 2
    assert "is no utilisation report of Vivado" in done.stderr
    assert "report_utilization" in done.stderr


def test_the_command_prints_json_and_writes_a_picture_with_names_as_text(tmp_path: Path) -> None:
    path = written(tmp_path, samples.hierarchy_text(LINES))
    done = floorflow("report", path, "--json", "-o", tmp_path / "tree.svg")
    assert json.loads(done.stdout)["instances"][0]["resources"]["lut"] == 115_200
    assert "conv&lt;1&gt;" in (tmp_path / "tree.svg").read_text(encoding="utf-8")
    assert floorflow("report", path, "-o", tmp_path / "tree.svg").returncode == 2


def test_a_plan_beside_tells_built_and_estimated(cnv_on_pynq: Path, tmp_path: Path) -> None:
    use = Resources(10, 20, 1, 0, 2)
    path = written(tmp_path, samples.hierarchy_text([(0, "top", use), (1, "MVAU_hls_1", use)]))
    done = floorflow("report", path, cnv_on_pynq, "--json")
    rows = json.loads(done.stdout)["plan"]
    assert [row["kind"] for row in rows] == ["slot", "pblock"]
    assert all(row["known"] == 1 and row["built"]["LUT"] == 10 and row["estimate"]["LUT"] > 0 for row in rows)
    assert "Beside the plan" in floorflow("report", path, cnv_on_pynq).stdout


def test_texts_of_the_picture_lie_in_boxes() -> None:
    leaves = tuple(Branch(f"a_long_name_of_an_instance_{i}" * 3, 1 / (i + 1), 0.1, "10.0% LUT") for i in range(40))
    sheet = utilisation_chart("t" * 300, "s", [Branch("top", 4.5, 0.9, "90.0% LUT", leaves)])
    boxes = [shape.box.grown(0.01) for shape in sheet.shapes if shape.kind == "rect"]
    inside = [text for text in sheet.texts if 44 < text.box.bottom < 44 + 560]
    assert len(inside) > 5
    assert all(any(box.holds(text.box) for box in boxes) for text in inside)
    assert all(text.box.left >= 0 and text.box.right <= sheet.width for text in sheet.texts)
