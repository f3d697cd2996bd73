"""Topologies and kinds of link; `test_slot_graph` has the routes."""

from pathlib import Path

import pytest
import yaml

from floorflow.errors import PlatformError
from floorflow.hardware import Platform, known_links, load_platform
from floorflow.hardware.links import joined, most_fpgas
from floorflow.resources import Resources
from floorflow.verify.hardware.routes import joined_pairs

PLATFORMS = Path(__file__).resolve().parents[2] / "platforms"


@pytest.mark.parametrize(
    ("topology", "count", "expected"),
    [
        ("pair", 2, "01"),
        ("chain", 1, ""),
        ("chain", 4, "01 12 23"),
        ("ring", 2, "01"),
        ("ring", 3, "01 12 02"),
        ("ring", 5, "01 12 23 34 04"),
        ("star", 4, "01 02 03"),
        ("mesh", 2, "01"),
        ("mesh", 4, "01 12 23 03"),
        ("mesh", 5, "01 12 23 34 14"),
        ("mesh", 9, "01 12 23 34 45 56 67 78 05 14 38 47"),
        ("full", 4, "01 12 23 02 13 03"),
    ],
)
def test_topologies_join_neighbours_first(topology, count, expected):
    assert [f"{low}{high}" for low, high in joined(topology, count)] == expected.split()


@pytest.mark.parametrize(
    ("topology", "max_links", "expected"),
    [
        ("pair", None, 2),
        ("chain", 1, 2),
        ("chain", 2, 16),
        ("ring", 1, 2),
        ("star", 2, 3),
        ("mesh", 2, 4),
        ("mesh", 3, 7),
        ("mesh", 4, 16),
        ("full", 3, 4),
        ("full", None, 16),
    ],
)
def test_ends_of_links_bound_the_number_of_fpgas(topology, max_links, expected):
    assert most_fpgas(topology, max_links, 16) == expected


@pytest.mark.parametrize("count", range(1, 26))
def test_a_mesh_is_rows_beside_each_other_in_which_each_is_joined_to_the_next(count):
    width = next(n for n in range(1, 6) if n * n >= count)
    places = [(n // width, n % width if n // width % 2 == 0 else width - 1 - n % width) for n in range(count)]
    near = {
        (a, b) for a in range(count) for b in range(a, count) if abs(complex(*places[a]) - complex(*places[b])) == 1
    }
    assert {*joined("mesh", count)} == near == {*joined_pairs("mesh", count)}
    assert len(joined("mesh", count)) == len(near)
    assert {(n, n + 1) for n in range(count - 1)} <= near


def test_streams_have_what_the_protocol_leaves_of_a_link():
    platform = load_platform("alveo-u250", 2)
    (link,) = platform.links
    assert (link.gbps, link.overhead) == (100, 0.016)
    (crossing,) = (edge.crossing for edge in platform.graph.edges if edge.crossing.kind == "link")
    assert crossing.gbps == pytest.approx(100 / 1.016)
    assert load_platform("alveo-u250", 2, link="ethernet-100g").links[0].payload_gbps == pytest.approx(95.7, abs=0.01)


def test_the_hub_of_a_star_has_a_core_for_every_link():
    platform = load_platform("alveo-u250", 3, topology="star")
    cores = [(item.name, item.slot) for item in platform.infrastructure if item.name.startswith("link core")]
    assert [slot for _, slot in cores] == ["fpga0.SLR2", "fpga0.SLR2", "fpga1.SLR2", "fpga2.SLR2"]
    controllers = [item.slot for item in platform.infrastructure if item.name == "DDR[0] controller"]
    assert controllers == ["fpga0.SLR0", "fpga2.SLR0"]


@pytest.mark.parametrize("kind", known_links())
def test_every_shipped_kind_of_link_joins_two_fpgas_with_its_own_figures(kind):
    shipped = yaml.safe_load((PLATFORMS / "links" / f"{kind}.yaml").read_text(encoding="utf-8"))
    (link,) = load_platform("alveo-u250", 2, link=kind).links
    assert (link.kind, link.gbps, link.latency_us) == (shipped["name"], shipped["gbps"], shipped["latency_us"])
    assert link.kind == kind
    assert shipped["assumed"] or shipped["evidence"]


def test_only_ethernet_as_offered_loses_packets():
    assert [kind for kind in known_links() if not load_platform("alveo-u250", 2, link=kind).links[0].reliable] == [
        "ethernet-100g"
    ]


def test_a_kind_of_link_is_one_file_in_its_folder():
    assert known_links() == tuple(sorted(file.stem for file in (PLATFORMS / "links").glob("*.yaml")))
    assert {"aurora-100g", "pcie"} <= {*known_links()}


@pytest.mark.parametrize("board", ["alveo-u250", "xcku5p"])
def test_a_boards_own_kind_of_link_is_the_shipped_one(board):
    own = load_platform(board, 2)
    same = load_platform(board, 2, link=own.links[0].kind)
    assert (same.links, same.infrastructure, same.slots) == (own.links, own.infrastructure, own.slots)
    assert same.fpgas[0].board == own.fpgas[0].board
    assert sorted(same.files) == sorted([*own.files, f"links/{own.links[0].kind}.yaml"])


def test_another_kind_of_link_brings_its_own_figures_and_cores():
    platform = load_platform("alveo-u250", 2, link="pcie")
    (link,) = platform.links
    assert (link.kind, link.gbps, link.latency_us, link.assumed) == ("pcie", 50, 5, True)
    assert link.source == "fpga0.SLR2"
    assert not any(item.name.startswith("link core") for item in platform.infrastructure)
    cores = [i.resources for i in load_platform("xcku5p", 2, link="aurora-100g").infrastructure]
    assert cores == [Resources(12000, 24000, 46)] * 2


LINK = """schema: floorflow-link/1
name: mine
gbps: 25
latency_us: 0.5
assumed: true
evidence: []
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_user_may_bring_a_link_of_their_own(tmp_path):
    platform: Platform = load_platform("xcku5p", 2, link=written(tmp_path, LINK))
    assert platform.links[0].gbps == 25
    assert platform.files["links/mine.yaml"] == LINK


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("gbps: 25", "gbps: fast", r"mine\.yaml: gbps: .*valid number; found 'fast'"),
        ("gbps: 25", "gbps: 1.0e+9", r"mine\.yaml: gbps: .*less than or equal to 100000"),
        ("gbps: 25", "gbps: 25\ngbps: 50", r"mine\.yaml: .*'gbps' stands twice"),
        ("gbps: 25", "gbps: 25\noverhead: -0.1", r"mine\.yaml: overhead: .*greater than or equal to 0; found -0\.1"),
        ("assumed: true", "assumed: true\nslr: SLR0", r"mine\.yaml: slr: unknown field"),
        ("assumed: true\n", "", r"mine\.yaml: assumed: the field is missing"),
        ("name: mine", "name: pcie", r"mine\.yaml: name: 'pcie' is a file that ships with floorflow"),
        ("floorflow-link/1", "floorflow-board/1", r"mine\.yaml: schema: .*floorflow-link/1"),
    ],
)
def test_a_bad_link_file_names_file_and_field(tmp_path, old, new, complaint):
    with pytest.raises(PlatformError, match=complaint):
        load_platform("xcku5p", 2, link=written(tmp_path, LINK.replace(old, new)))


@pytest.mark.parametrize(
    ("board", "fpgas", "link", "topology", "complaint"),
    [
        ("xcku5p", 2, "carrier-pigeon", "chain", r"--link carrier-pigeon: unknown kind of link"),
        ("pynq-z1", 1, "pcie", "chain", r"pynq-z1\.yaml: link: --link pcie was asked for, but the field is missing"),
        ("xcku5p", 3, None, "pair", r"3 FPGAs were asked for with --topology pair, but a pair is two"),
        ("alveo-u250", 4, None, "star", r"--topology star, but an FPGA ends at most 2 links \(.*alveo-u250\.yaml"),
        ("alveo-u250", 4, None, "full", r"--topology full, but an FPGA ends at most 2 links"),
    ],
)
def test_links_that_cannot_be_are_refused(board, fpgas, link, topology, complaint):
    with pytest.raises(PlatformError, match=complaint) as caught:
        load_platform(board, fpgas, link=link, topology=topology)
    assert caught.value.exit_code == 2
    assert caught.value.hint


def test_more_fpgas_than_the_topology_allows_end_the_search_for_their_number():
    assert load_platform("alveo-u250", 1, topology="full").fpgas[0].board.max_fpgas == 3
