"""Two cards from a plan's files: v++ takes their configurations, and pass-through modules run as planned."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import onnx
import pytest

import floorflow as ff
from floorflow.emit.links import link_kernel_files
from floorflow.facts import Plan, read_plan
from floorflow.facts.links import Links
from floorflow.hardware import load_platform
from floorflow.record.run import doubts
from floorflow.request import limits_of
from floorflow.resources import Fractions
from floorflow.search.candidate import assignment, candidate
from tests.conftest import DEFAULT_CAP, branches, random_graph
from tests.emit.test_relink import TOOL
from tests.link_kernels.building import (
    Bench,
    Wires,
    axis,
    built,
    cable,
    clocked,
    counted,
    end,
    sink,
    source,
    stream_wires,
    unit,
)
from tests.vitis_config import Card, Way, problems

pytestmark = pytest.mark.tools
CARDS = ("fpga0", "fpga1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan of FINN main with four streams from one card to the other."""
    return branches(tmp_path_factory.mktemp("two"), fpgas=2, cap={**DEFAULT_CAP, "LUT": 0.009})


@pytest.fixture(scope="module")
def plan(folder: Path) -> Plan:
    found = read_plan(folder / "plan.json")
    assert len(over_links(found)) == 4
    return found


@pytest.fixture(scope="module")
def parts(folder: Path, plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return of_parts(folder, plan, tmp_path_factory.mktemp("parts"))


def of_parts(folder: Path, plan: Plan, copy: Path) -> Path:
    """Return a copy of a plan's folder with configurations as where no build makes kernels of a card's part."""
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    for name, text in link_kernel_files(plan, plan.phases[0]).items():
        (copy / name).write_text(text)
    return copy


@pytest.fixture(scope="module")
def bench(parts: Path, plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return pipeline(parts, plan, tmp_path_factory.mktemp("cards"))


def over_links(plan: Plan) -> dict[str, tuple[int, float]]:
    """Return bits and Gb/s of the streams over links."""
    rows = [c for c in plan.phases[0].partition.crossings if c.kind == "link"]
    return {row.channel: (-(-row.width_bits // 8) * 8, row.gbps or 0) for row in rows}


def channels_at(plan: Plan, card: str) -> tuple[list[str], list[str]]:
    """Return the channels that enter a card's part, and those that leave it, in the plan's order."""
    fpga_of = {slot.name: slot.fpga for slot in plan.platform.slots}
    home = {engine: fpga_of[slot] for engine, slot in plan.phases[0].slot_of.items()}
    ends = [(c.name, home.get(c.source) == card, home.get(c.target) == card) for c in plan.phases[0].channels]
    enter = [name for name, inside, target in ends if target and not inside]
    return enter, [name for name, inside, target in ends if inside and not target]


def ports_of(text: str) -> dict[str, Way]:
    """Return the streams of a module's ports."""
    found = re.findall(r"(input|output) +wire (\w+)_tvalid", text)
    return {name: "in" if way == "input" else "out" for way, name in found}


def card_of(folder: Path, plan: Plan, card: str) -> Card:
    """Return a U250 with the kernels that its configuration may name."""
    enter, leave = channels_at(plan, card)
    part: dict[str, Way] = {f"s_axis_{at}": "in" for at in range(len(enter))}
    kernels = {path.stem: ports_of(path.read_text()) for path in (folder / "links").glob("floorflow_link_fpga*.sv")}
    kernels[f"part_{card}"] = part | {f"m_axis_{at}": "out" for at in range(len(leave))}
    kernels |= {f"aurora_flow_{cage}": {"rx_axis": "out", "tx_axis": "in"} for cage in range(2)}
    kernels["dma"] = {"from_host": "out", "to_host": "in"}
    return Card(kernels, {"DDR": 4}, 4, 2)


def with_host(folder: Path, plan: Plan, card: str) -> str:
    """Return a card's configuration and one beside it for the host's streams."""
    lines, at_host = [], 0
    for port, names in zip("sm", channels_at(plan, card), strict=True):
        for at, name in enumerate(names):
            if name not in over_links(plan):
                lines.append(f"sc=part_0.m_axis_{at}:h{at_host}.to_host" if port == "m" else "")
                lines[-1] = lines[-1] or f"sc=h{at_host}.from_host:part_0.s_axis_{at}"
                at_host += 1
    return f"{(folder / card / 'links.cfg').read_text()}\n[connectivity]\n" + "\n".join(lines)


def streams_joined(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^sc=([\w.]+):([\w.]+)$", text, re.MULTILINE)


def pipeline(folder: Path, plan: Plan, made: Path, paces: Mapping[str, int] = MappingProxyType({})) -> Bench:
    """Build both cards: a part passes on what comes of a source, at a pace, or of the other card."""
    sources = {path.name: path.read_text() for path in (folder / "links").glob("*.sv")}
    (row,) = json.loads((folder / "topology.json").read_text())["cables"]
    assert [each["card"] for each in row["ends"]] == list(CARDS)
    parts = [cable("there", "tx_0", "rx_1"), cable("back", "tx_1", "rx_0")]
    bits = {name: of for name, (of, _) in over_links(plan).items()}
    seed = {name: at + 1 for at, name in enumerate(sorted(bits))}
    for card, fpga in enumerate(CARDS):
        text = (folder / fpga / "links.cfg").read_text()
        link = f"link_{row['ends'][card]['cage']}"
        (kernel,) = re.findall(rf"^nk=(\w+):1:{link}$", text, re.MULTILINE)
        enter, leave = channels_at(plan, fpga)
        ports: Wires = {}
        for pair in streams_joined(text):
            for at_link, at_part in (pair, pair[::-1]):
                if at_link.startswith(f"{link}.") and at_part.startswith("part_0."):
                    way, at = re.fullmatch(r"part_0\.([sm])_axis_(\d+)", at_part).groups()  # type: ignore[union-attr]
                    name = (enter if way == "s" else leave)[int(at)]
                    ports |= axis(at_link.partition(".")[2], f"link_{card}_{at}")
                    own = (f"own_{seed[name]}", bits[name], seed[name], paces.get(name, 256))
                    parts += passed(card, way == "m", f"link_{card}_{at}", *own)
        parts.append(end(card, kernel, ports))
    return built(made, sources, (text for text, _ in parts), (ends for _, ends in parts))


def passed(card: int, leaves: bool, at_link: str, own: str, bits: int, seed: int, pace: int) -> list[tuple[str, str]]:
    """Return a pass-through module between a link kernel and a source or a reader."""
    own = f"{own}_{card}"
    ways = (own, at_link) if leaves else (at_link, own)
    joined = {f"{way}_{e}": f"{name}_{e}" for way, name in zip(("in", "out"), ways, strict=True) for e in _STREAM}
    module = unit("bench_pass", f"pass_{own}", clocked(card) | joined, str(bits))
    wires = (stream_wires(own, bits) + stream_wires(at_link, bits), "")
    end_of = source(card, own, bits, seed, pace) if leaves else sink(card, own, bits, seed)
    return [wires, (module, ""), end_of]


_STREAM = ("data", "valid", "ready")


def assert_taken(folder: Path, plan: Plan) -> None:
    """A strict reader of v++'s format takes each card's configuration, with the host's streams joined beside."""
    for fpga in plan.platform.fpgas:
        text = with_host(folder, plan, fpga.name)
        units = "".join(f"nk=dma:1:{name}\n" for name in sorted({*re.findall(r"\bh\d+", text)}))
        lines = text.replace("[connectivity]\n", f"[connectivity]\n{units}", 1)
        assert [
            told for told in problems(lines, card_of(folder, plan, fpga.name)) if not re.match(r"h\d+\.", told)
        ] == []


def test_v_plus_plus_takes_the_configurations_of_cards(parts: Path, plan: Plan) -> None:
    assert_taken(parts, plan)
    assert not ff.check(parts).violations


def test_each_card_has_its_part_of_the_network(folder: Path, plan: Plan) -> None:
    """Every engine is in the build of its card, folded and with FIFOs as planned; nothing stops that build."""
    found = {}
    for fpga in CARDS:
        data = json.loads((folder / fpga / "finn/floorflow_plan.json").read_text())
        assert (data["fpgas"][0]["name"], "stops" in data) == (fpga, False)
        assert len(data["whole"]["engines"]) == len(plan.phases[0].engines)
        found |= {engine["id"]: (fpga, engine["folding"]) for engine in data["engines"]}
        deep = {stream["name"]: stream["depth"] for stream in data["streams"]}
        home = {name: plan.fpga_of[slot] for name, slot in plan.phases[0].partition.assignment.items()}
        own = [c for c in plan.phases[0].channels if c.name in deep and home[c.fifo_module] == fpga]
        assert {c.name: c.fifo_depth for c in own}.items() <= deep.items()
        assert '"floorflow_card_kernels' not in (folder / fpga / "finn/build.py").read_text()
        assert "floorflow_step.floorflow_card_kernels" in (folder / fpga / "finn/build.py").read_text()
    slots = plan.phases[0].slot_of
    assert found == {
        name: (plan.fpga_of[slots[name]], dict(e.attributes)) for name, e in plan.phases[0].engines.items()
    }


def test_a_card_is_linked_of_the_kernels_that_its_configuration_names(folder: Path, tmp_path: Path) -> None:
    out, aurora, tools = shutil.copytree(folder, tmp_path / "out"), tmp_path / "aurora", tmp_path / "bin"
    for name, text in (("v++", TOOL), ("xclbinutil", "#!/bin/bash\n")):
        tools.mkdir(exist_ok=True)
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)

    def link(*more: str) -> subprocess.CompletedProcess[str]:
        path = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
        command = ["bash", str(out / "fpga1" / "link.sh"), *more]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | path)

    assert "usage: link.sh AURORA_FOLDER" in link().stderr
    text = (out / "fpga1" / "links.cfg").read_text()
    kernels = re.findall(r"^nk=(\w+):", text, re.MULTILINE)
    assert "prop=run.impl_1.STEPS.PLACE_DESIGN.ARGS.DIRECTIVE=SSI_SpreadLogic_high" in text.splitlines()
    assert "# Logic is spread over the SLRs that the floorplan gives it, against congestion." in text.splitlines()
    for kernel in [*kernels, "StreamingDataflowPartition_99"]:
        own = {"floorf": out / "links", "aurora": aurora}.get(kernel[:6], out / "fpga1/finn/build/xo")
        own.mkdir(parents=True, exist_ok=True)
        (own / f"{kernel}.xo").touch()
    assert "there is no aurora_flow_0.xo" in link(str(tmp_path)).stderr
    for goes_on in (False, True):
        done = link(str(aurora))
        assert done.returncode == 0, done.stderr
        asked = (out / "fpga1/link/asked").read_text()
        assert sorted(re.findall(r"(\w+)\.xo", asked)) == sorted(kernels)
        assert "--platform xilinx_u250_gen3x16_xdma_4_1_202210_1" in asked
        assert ("--from_step vpl.impl" in asked) is goes_on
        assert (out / "fpga1/fpga1.xclbin").exists()
        assert "@" not in (out / "fpga1/link/floorflow.cfg").read_text()


@pytest.mark.slow
def test_a_stream_past_a_card_goes_from_link_to_link(tmp_path: Path) -> None:
    onnx.save(random_graph(8), tmp_path / "net.onnx")
    cap = {**DEFAULT_CAP, "LUT": 0.008}
    made = ff.plan(tmp_path / "net.onnx", "alveo-u250", fpgas=3, effort="fast", cap=cap)
    made.save(tmp_path / "out")
    assert "sc=link_0.m_axis_0:link_1.s_axis_0" in (tmp_path / "out" / "fpga1" / "links.cfg").read_text()
    assert_taken(of_parts(tmp_path / "out", made.plan, tmp_path / "parts"), made.plan)
    assert not ff.check(tmp_path / "out").violations


@pytest.mark.slow
def test_streams_arrive_whole_at_the_planned_rate(bench: Bench, plan: Plan) -> None:
    words, nanoseconds = 6000, 1e3 / plan.summary.clock_mhz
    clock = {"half0": round(nanoseconds * 500), "half1": round(nanoseconds * 500)}
    for latency in (30, 1500):
        found = bench.run(until=60_000, most=words, latency=latency, odds_link=167, **clock)
        for at, name in enumerate(sorted(over_links(plan)), 1):
            bits, gbps = over_links(plan)[name]
            assert (found[f"got_own_{at}_1"], found[f"wrong_own_{at}_1"]) == (words, 0)
            cycles = found[f"last_own_{at}_1"] - found[f"first_own_{at}_1"]
            assert (words - 1) * bits / cycles / nanoseconds > gbps
        assert (found["status_0"], found["status_1"], found["lost_there"]) == (1, 1, 0)


@pytest.mark.slow
def test_a_link_that_stops_loses_nothing_and_a_flipped_bit_is_told(bench: Bench, plan: Plan) -> None:
    stop = {"stop_from": 5_000, "stop_for": 34_000}
    found = bench.run(until=90_000, most=6000, latency=300, odds_in=200, odds_out=220, **stop)
    counts = [(found[f"got_own_{at}_1"], found[f"wrong_own_{at}_1"]) for at in range(1, 5)]
    assert counts == [(6000, 0)] * 4
    test = {"test_from": 1_000, "test_for": 5_000, "flip_from": 3_001, "flip_for": 40}
    found = bench.run(until=20_000, most=0, latency=300, **test)
    assert (found["wrong_0"], found["wrong_1"], found["tested_1"] > 1000) == (1, 1, True)


def test_link_kernels_are_made_where_nobody_else_joins_the_cards(plan: Plan) -> None:
    """FINN+ may; and packets of Ethernet are lost, which is said."""
    phase = plan.phases[0]
    assert link_kernel_files(plan, phase)
    joined = plan.model_copy(update={"warnings": []})
    assert link_kernel_files(joined, phase) == {}
    links = [link.model_copy(update={"kind": "ethernet-100g"}) for link in plan.platform.links]
    platform = plan.platform.model_copy(update={"links": links})
    assert link_kernel_files(plan.model_copy(update={"platform": platform}), phase) == {}
    (said,) = (one for one in doubts(load_platform("alveo-u250", 2, link="ethernet-100g")) if "loses" in one)
    assert "no link kernels" in said


def test_a_plan_counts_what_pyosys_counts_of_its_link_kernels(folder: Path, plan: Plan, tmp_path: Path) -> None:
    sources = {path.name: path.read_text() for path in (folder / "links").glob("*.sv")}
    kernels = plan.phases[0].link_kernels
    assert [kernel.slot for kernel in kernels] == ["fpga0.SLR2", "fpga1.SLR2"]
    for kernel in kernels:
        flip_flops, bits = counted(sources, kernel.name, tmp_path)
        assert flip_flops == pytest.approx(kernel.resources.FF, rel=0.15)
        # FIFOs to send are LUTs of 64 bits, 592 each; FIFOs to receive block memory.
        assert bits == pytest.approx(len(kernel.sends) * 592 * 64 + kernel.resources.BRAM18 * 18_432, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "slot"), [(8, "fpga2.SLR2"), (1, "fpga0.SLR2")])
def test_modules_leave_room_for_link_kernels(seed: int, slot: str, tmp_path: Path) -> None:
    """In a slot that modules just fill, where a link ends, a search that did not count its kernel would leave none."""
    onnx.save(random_graph(seed), tmp_path / "net.onnx")
    settings: dict[str, Any] = {"fpgas": 3, "effort": "fast"}
    first = ff.plan(tmp_path / "net.onnx", "alveo-u250", **settings, cap={**DEFAULT_CAP, "LUT": 0.008}).plan
    available = next(one.available.LUT for one in first.platform.slots if one.name == slot)
    settings["cap"] = {**DEFAULT_CAP, "LUT": (first.phases[0].demand(slot).lut + 4) / available}
    with pytest.MonkeyPatch.context() as patch:
        for room in (candidate, assignment):
            patch.setattr(room, "link_charges", lambda *_: {})
        assert least_room(ff.plan(tmp_path / "net.onnx", "alveo-u250", **settings).plan) < 0
    made = ff.plan(tmp_path / "net.onnx", "alveo-u250", **settings)
    assert least_room(made.plan) >= 0
    made.save(tmp_path / "out")
    assert not ff.check(tmp_path / "out").violations


def least_room(plan: Plan) -> int:
    """Return the least of any resource that a slot's cap leaves, of what link kernels do not take."""
    (phase,) = plan.phases
    left = {slot.name: slot.available.resources - phase.beside(slot.name) for slot in plan.platform.slots}
    return min(min((limits_of(plan.options, own) - phase.demand(name)).as_tuple()) for name, own in left.items())


def test_a_slot_that_counts_no_link_kernels_is_told(plan: Plan) -> None:
    """FINN+ leaves them to the plan where it does not join the cards as planned."""
    phase = plan.phases[0].model_copy(update={"link_kernels": []})
    links = Links(plan.platform, phase)
    whole = Fractions(LUT=1, FF=1, BRAM18=1, URAM=1, DSP=1)
    assert list(links.objections(whole)) == []
    held = phase.demand("fpga1.SLR2").lut / plan.platform.fpgas[1].slots[2].available.LUT
    told = list(links.objections(whole.model_copy(update={"LUT": held + 1e-4})))
    assert len(told) == 1
    assert "of fpga1.SLR2, and of what they leave it holds more LUT than allowed" in told[0]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda kernels: kernels.pop(),
        lambda kernels: kernels.append(kernels[0]),
        lambda kernels: kernels[0].update(slot="fpga0.SLR1"),
        lambda kernels: kernels[0]["sends"].pop(),
        lambda kernels: kernels[1]["receives"].reverse(),
        lambda kernels: kernels[1]["resources"].update(BRAM18=0),
        lambda kernels: kernels[0]["resources"].update(FF=1),
        lambda kernels: kernels[0]["resources"].update(LUT=kernels[0]["resources"]["LUT"] - 1),
    ],
)
def test_the_judge_derives_what_link_kernels_take(folder: Path, tmp_path: Path, spoil: Callable[[Any], object]) -> None:
    copy = shutil.copytree(folder, tmp_path / "out")
    plan = json.loads((copy / "plan.json").read_text())
    spoil(plan["phases"][0]["link_kernels"])
    (copy / "plan.json").write_text(json.dumps(plan))
    assert "wrong-link-kernels" in {found.name for found in ff.check(copy).violations}


def test_streams_that_are_too_many_or_too_wide_are_told(plan: Plan) -> None:
    rows = [c for c in plan.phases[0].partition.crossings if c.kind == "link"]
    whole = Fractions(LUT=1, FF=1, BRAM18=1, URAM=1, DSP=1)
    for changed, words in (
        ([rows[0].model_copy(update={"width_bits": 4089})], "at most 4,088 bits"),
        (rows * 8, "at most 29 streams, and fpga0 sends 32 to fpga1"),
    ):
        partition = plan.phases[0].partition.model_copy(update={"crossings": changed})
        phase = plan.phases[0].model_copy(update={"partition": partition})
        assert any(words in one for one in Links(plan.platform, phase).objections(whole))
    assert link_kernel_files(plan, phase) == {}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("fpga0/links.cfg", ":link_0.s_axis_0", ":link_0.s_axis_1"),
        ("fpga0/links.cfg", ":1:idma1", ":1:idma7"),
        ("fpga0/links.cfg", "sp=idma0.m_axi_gmem0:DDR[0]", "sp=idma0.m_axi_gmem0:DDR[1]"),
        ("fpga1/links.cfg", "odma0.s_axis_0", "odma0.s_axis_1\nsc=link_0.m_axis_0:odma0.s_axis_2"),
        ("fpga1/links.cfg", ":StreamingDataflowPartition_7.s_axis_0", ":StreamingDataflowPartition_12.s_axis_1"),
        ("fpga1/links.cfg", "TCL.PRE=@HOOK@", "TCL.POST=@HOOK@"),
        ("fpga0/links.cfg", "=SSI_SpreadLogic_high", "=SSI_Spread"),
        ("fpga0/links.cfg", "ROUTE_DESIGN.ARGS.DIRECTIVE", "ROUTES.ARGS.DIRECTIVE"),
        ("fpga1/links.cfg", "slr=link_0:SLR2", "slr=link_0:SLR1"),
        ("fpga1/links.cfg", "freqHz=300000000", "freqHz=200000000"),
        ("links/floorflow_link_fpga0_0.sv", "#(.BITS(24)", "#(.BITS(32)"),
        ("links/floorflow_link_fpga0_0.sv", "16'd504", "16'd1016"),
        ("links/floorflow_link_fpga1_0.sv", ".DEPTH(512)", ".DEPTH(256)"),
        ("links/floorflow_link_send.sv", "MOST = 63", "MOST = 64"),
    ],
)
def test_the_judge_finds_what_is_wrong_in_files_of_links(
    folder: Path, tmp_path: Path, file: str, old: str, new: str
) -> None:
    copy = shutil.copytree(folder, tmp_path / "out")
    text = (copy / file).read_text()
    assert old in text
    (copy / file).write_text(text.replace(old, new, 1))
    found = {one.name for one in ff.check(copy).violations}
    assert found == {"shipped-file-differs" if file.endswith("send.sv") else "links-differ"}
