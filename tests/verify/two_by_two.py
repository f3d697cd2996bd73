"""A plan made by hand of two networks in two phases on one U250; `write_two_by_two` lays its folder on disk.

The network `camera` is the chain of the small plans, cut behind its first unit: phase `p0` leaves the features in the
board's memory, `p1` goes on from there. Of `radar`, the thresholds run in both phases, folded otherwise in each; the
unit of `p0` hands its tracks directly to the sum of `p1`. Cycles, widths, words and depths are worked out on paper.
"""

import copy
from dataclasses import replace
from functools import cache
from pathlib import Path

from floorflow.verify.hardware.geometry import Rectangle
from tests.verify.tiny import Files, Ground, Plan, network_entry, phase_files, plan_of, write_folder
from tests.verify.tiny_cases import CLOCK_MHZ, U250_SLR0, U250_SLR1, Case, Crossing
from tests.verify.tiny_network import CHAIN, FIRST, LAST, PADDING, WEIGHTS, WINDOW, Network, Stream, amounts
from tests.verify.tiny_phase import Part, phase_of_case

BOARD = "alveo-u250"
BATCH, LOAD_US = 1000, 250000.0
QUANTISE, TRACK, SUM = "Thresholding_rtl_0", "MVAU_hls_0", "AddStreams_hls_0"
IMAGE = [1, 6, 6]

RADAR = Network(
    engines=(
        (QUANTISE, {"NumChannels": 8, "numInputVectors": IMAGE}, 0, 8, 4),
        (TRACK, {"MW": 8, "MH": 8, "numInputVectors": IMAGE, "noActivation": 0}, 2, 4, 4),
        (SUM, {"NumChannels": 8, "numInputVectors": IMAGE}, 0, 4, 5),
    ),
    folding={},
    modules={},
    streams=(),
    interval=288,
    path_cycles=0,
    bottleneck=TRACK,
)


def _of(network: str, *names: str) -> list[str]:
    return [f"{network}/{name}" for name in names]


CAMERA_BEFORE = Network(
    engines=CHAIN.engines[:3],
    folding={f"camera/{name}": CHAIN.folding[name] for name in (PADDING, WINDOW, FIRST)},
    modules={"front": _of("camera", PADDING, WINDOW, FIRST)},
    streams=(
        Stream("in", "camera/host:in0", f"camera/{PADDING}", (8, 8), 72),
        Stream("padded", f"camera/{PADDING}", f"camera/{WINDOW}", (8, 8), 128),
        Stream("window", f"camera/{WINDOW}", f"camera/{FIRST}", (8, 24), 216),
        Stream("features", f"camera/{FIRST}", "camera/memory:features", (8, 8), 144),
    ),
    interval=864,
    path_cycles=128 + 686 + 864,
    bottleneck=f"camera/{FIRST}",
)
CAMERA_BEHIND = Network(
    engines=CHAIN.engines[3:],
    folding={f"camera/{LAST}": CHAIN.folding[LAST]},
    modules={"back": _of("camera", LAST)},
    streams=(
        Stream("features", "camera/memory:features", f"camera/{LAST}", (16, 16), 72),
        Stream("out", f"camera/{LAST}", "camera/host:out0", (32, 32), 36),
    ),
    interval=72,
    path_cycles=72,
    bottleneck=f"camera/{LAST}",
)
RADAR_BEFORE = Network(
    engines=RADAR.engines[:2],
    folding={
        f"radar/{QUANTISE}": {"PE": 2, "cycles": 144, "resources": amounts(80, 70)},
        f"radar/{TRACK}": {"PE": 2, "SIMD": 4, **WEIGHTS, "cycles": 288, "resources": amounts(600, 500, 1)},
    },
    modules={"track": _of("radar", QUANTISE, TRACK)},
    streams=(
        Stream("echo", "radar/host:in0", f"radar/{QUANTISE}", (16, 16), 144),
        Stream("levels", f"radar/{QUANTISE}", f"radar/{TRACK}", (8, 16), 72),
        Stream("tracks", f"radar/{TRACK}", "radar/phase:p1/tracks", (8, 8), 144),
    ),
    interval=288,
    path_cycles=144 + 288,
    bottleneck=f"radar/{TRACK}",
)
RADAR_BEHIND = Network(
    engines=(RADAR.engines[0], RADAR.engines[2]),
    folding={
        f"radar/{QUANTISE}": {"PE": 1, "cycles": 288, "resources": amounts(50, 40)},
        f"radar/{SUM}": {"PE": 2, "cycles": 144, "resources": amounts(70, 60)},
    },
    modules={"fuse": _of("radar", QUANTISE, SUM)},
    streams=(
        Stream("echo", "radar/host:in0", f"radar/{QUANTISE}", (8, 8), 288),
        Stream("levels", f"radar/{QUANTISE}", f"radar/{SUM}", (4, 8), 144),
        Stream("tracks", "radar/phase:p0/tracks", f"radar/{SUM}.1", (8, 8), 144),
        Stream("sum", f"radar/{SUM}", "radar/host:out0", (10, 10), 144),
    ),
    interval=288,
    path_cycles=288 + 144,
    bottleneck=f"radar/{QUANTISE}",
)

UP = [Crossing("fpga0.SLR0", "fpga0.SLR1", 1)]
DOWN = [Crossing("fpga0.SLR1", "fpga0.SLR0", 1)]
SHARED = Rectangle(3, 120, 61, 179)
"""Place of a second module in SLR0."""


def _named(part: str, network: Network) -> Network:
    """Let the streams bear the network's name, so that no two of a phase have one name."""
    return replace(network, streams=tuple(replace(s, name=f"{part}_{s.name}") for s in network.streams))


def _together(*networks: Network) -> Network:
    """Return what is on the platform at one time as one network."""
    return Network(
        engines=sum((network.engines for network in networks), ()),
        folding={name: entry for network in networks for name, entry in network.folding.items()},
        modules={name: engines for network in networks for name, engines in network.modules.items()},
        streams=sum((network.streams for network in networks), ()),
        interval=0,
        path_cycles=0,
        bottleneck="",
    )


def _parts(camera: Network, radar: Network) -> list[Part]:
    named = {"camera": _named("camera", camera), "radar": _named("radar", radar)}
    return [Part(name, network, network.path_cycles / CLOCK_MHZ) for name, network in named.items()]


PARTS = {"p0": _parts(CAMERA_BEFORE, RADAR_BEFORE), "p1": _parts(CAMERA_BEHIND, RADAR_BEHIND)}
CASES = {
    "p0": Case(
        board=BOARD,
        fpgas=1,
        network=_together(*(part.network for part in PARTS["p0"])),
        layout={"front": (U250_SLR0, "fpga0.SLR0"), "track": (U250_SLR1, "fpga0.SLR1")},
        depths={
            "camera_in": 32,
            "camera_padded": 2,
            "camera_window": 2,
            "camera_features": 32,
            "radar_echo": 36,
            "radar_levels": 2,
            "radar_tracks": 36,
        },
        latency_us=0.0,
        routes={"radar_echo": UP, "radar_tracks": DOWN},
    ),
    "p1": Case(
        board=BOARD,
        fpgas=1,
        network=_together(*(part.network for part in PARTS["p1"])),
        layout={"back": (SHARED, "fpga0.SLR0"), "fuse": (U250_SLR0, "fpga0.SLR0")},
        depths={
            "camera_features": 32,
            "camera_out": 32,
            "radar_echo": 32,
            "radar_levels": 2,
            "radar_tracks": 32,
            "radar_sum": 32,
        },
        latency_us=0.0,
    ),
}


NAMES = {(phase, stream.name): stream.full_name for phase, case in CASES.items() for stream in case.network.streams}
"""Names of channels in the plan, by the phase and the short name here."""


def _schedule() -> Plan:
    """Each phase is loaded and runs a batch at the longest of its intervals."""
    runs = {"p0": BATCH * 864 / CLOCK_MHZ, "p1": BATCH * 288 / CLOCK_MHZ}
    steps = [{"phase": name, "load_us": LOAD_US, "run_us": run_us} for name, run_us in runs.items()]
    return {"kind": "reconfigure", "batch": BATCH, "period_us": 2 * LOAD_US + sum(runs.values()), "steps": steps}


def two_by_two() -> tuple[Plan, Files]:
    """Return plan and files (by relative path, plan.json excepted), to be changed at will."""
    return copy.deepcopy(_made())


@cache
def _made() -> tuple[Plan, Files]:
    ground = Ground(BOARD, 1)
    networks = [
        network_entry("camera", CHAIN.engines, 864, [*CASES]),
        network_entry("radar", RADAR.engines, 288, [*CASES]),
    ]
    phases = [phase_of_case(case, ground.platform, ground.die, PARTS[name], name) for name, case in CASES.items()]
    plan = plan_of(ground, networks, phases, _schedule())
    files = dict(ground.files)
    for phase in plan["phases"]:
        files |= phase_files(plan, phase, CASES[phase["name"]], ground, PARTS[phase["name"]])
    return plan, files


def write_two_by_two(out: Path) -> Path:
    """Lay the plan's folder on disk, and return it."""
    return write_folder(out, *two_by_two())
