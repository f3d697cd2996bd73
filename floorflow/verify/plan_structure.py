"""The structure of plan.json, version 2, as a template.

Only after the structure matches do the other rules index into the plan. Additional keys are allowed.
"""

from __future__ import annotations

import re

from floorflow.verify.templates import MapOf, Nullable, Optional, Scalar, is_count, is_number

SCHEMA = "floorflow-plan/2"

RESOURCE_NAMES = ("LUT", "FF", "BRAM18", "URAM", "DSP")
"""Keys of every ``resources`` object, in the order of messages."""

_NAME = re.compile(r"[A-Za-z0-9_]+")
_FOLDER_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.\-]+")
_BY_WIDTH = re.compile(r"1:[1-9][0-9]{0,17}(,[1-9][0-9]{0,3}:[1-9][0-9]{0,17})*")


def is_name(text: object) -> bool:
    """Whether a text can name an engine, a module or a pblock in Vivado without quoting."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def is_plain_name(text: object) -> bool:
    """Whether a text can name a network, a phase and the folder of its files."""
    return isinstance(text, str) and _PLAIN_NAME.fullmatch(text) is not None and text not in (".", "..")


def is_engine_id(text: object) -> bool:
    """Whether a text can be ``network/engine`` or an engine's name."""
    network, slash, engine = text.rpartition("/") if isinstance(text, str) else ("", "", "")
    return is_name(engine) and (not slash or is_plain_name(network))


def is_most_products(value: object) -> bool:
    """Whether a value limits products: none, a number, or one for each width of operands from which it holds."""
    if isinstance(value, str):
        return value == "none" or _BY_WIDTH.fullmatch(value) is not None
    return is_count(value) and value != 0


COUNT = Scalar("a non-negative integer below 2^63", is_count)
INTEGER = Scalar("an integer", lambda value: isinstance(value, int) and not isinstance(value, bool))
NUMBER = Scalar("a finite number", is_number)
TEXT = Scalar("a string", lambda value: isinstance(value, str))
POSITIVE = Scalar("a number above 0", lambda value: is_number(value) and value > 0)
SHARE = Scalar("a number of 0 or more", lambda value: is_number(value) and value >= 0)
NUMBERS = Scalar(
    "whole numbers with a space between two",
    lambda value: isinstance(value, str) and re.fullmatch(r"[0-9]{1,15}( [0-9]{1,15})*", value) is not None,
)
FLAG = Scalar("true or false", lambda value: isinstance(value, bool))
FOLDER = Scalar("a plain file name", lambda value: isinstance(value, str) and _FOLDER_NAME.fullmatch(value) is not None)
NAME = Scalar("a name of letters, digits and _", is_name)
PLAIN_NAME = Scalar("a name of letters, digits and _ . -", is_plain_name)
ENGINE_ID = Scalar("the id of an engine", is_engine_id)
ANYTHING = Scalar("anything", lambda _: True)
ROLE = Scalar("core, front or behind", lambda value: value in ("core", "front", "behind"))
DIRECTION = Scalar("in or out", lambda value: value in ("in", "out"))
FILE = Scalar(
    "a file's name without folders", lambda value: isinstance(value, str) and value != "" and "/" not in value
)
REPORT = Scalar(
    "a path below the folder of reports",
    lambda value: isinstance(value, str) and not {"", ".", ".."} & set(value.split("/")),
)
SHA256 = Scalar("64 hexadecimal digits", lambda value: isinstance(value, str) and bool(_SHA256.fullmatch(value)))
FPGA_COUNT = Scalar("auto or a number", lambda value: value == "auto" or is_count(value))
MOST_PRODUCTS = Scalar("none, a positive integer, or one for each width of operands from 1 on", is_most_products)
RECONFIGURE = Scalar("none, full or partial", lambda value: value in ("none", "full", "partial"))
TERMS = dict.fromkeys(("wire", "reach", "congestion"), SHARE)
"""A number for each term of placement's objective."""
AMOUNTS = dict.fromkeys(RESOURCE_NAMES, COUNT)
FRACTIONS = dict.fromkeys(RESOURCE_NAMES, NUMBER)
SOME_FRACTIONS = dict.fromkeys(RESOURCE_NAMES, Nullable(NUMBER))
CONFIDENCE = Scalar("none or a probability", lambda value: value == "none" or (is_number(value) and 0 < value < 1))
STYLES = ("none", "slr", "soft", "hard")
SIDE = Scalar("left, right, bottom or top", lambda value: value in ("left", "right", "bottom", "top"))
STYLE = Scalar("none, slr, soft or hard", lambda value: value in STYLES)
ASKED_STYLE = Scalar("auto, none, slr, soft or hard", lambda value: value in ("auto", *STYLES))
PRESETS = ("safe", "balanced", "max")
PRESET = Scalar("safe, balanced or max", lambda value: value in PRESETS)
STATS = {
    "method": TEXT,
    "status": TEXT,
    "objective": Nullable(NUMBER),
    "bound": Nullable(NUMBER),
    "gap": Nullable(NUMBER),
}
ENGINE = {
    "name": NAME,
    "kind": TEXT,
    "label": TEXT,
    "role": ROLE,
    "operation": TEXT,
    "attributes": MapOf(ANYTHING),
    "weight_bits": COUNT,
    "input_bits": COUNT,
    "output_bits": COUNT,
}
CHANNEL = {
    "name": TEXT,
    "source": TEXT,
    "source_port": COUNT,
    "target": TEXT,
    "target_port": COUNT,
    "width_bits": COUNT,
    "words_per_frame": COUNT,
    "source_width_bits": COUNT,
    "target_width_bits": COUNT,
    "converter": Nullable(TEXT),
    "converter_module": Nullable(TEXT),
    "fifo_depth": COUNT,
    "fifo_needed": COUNT,
    "fifo_style": TEXT,
    "fifo_module": Nullable(TEXT),
    "crossing_registers": COUNT,
    "link": Nullable(TEXT),
    "resources": AMOUNTS,
    "converter_resources": AMOUNTS,
    "fifo_resources": AMOUNTS,
    "crossing_resources": MapOf(AMOUNTS),
    "slices": COUNT,
    "slice_slots": [TEXT],
    "slices_left_out": COUNT,
    "slice_resources": MapOf(AMOUNTS),
}
RECTANGLE = {"left": COUNT, "bottom": COUNT, "right": COUNT, "top": COUNT}
PBLOCK = {
    "slot": TEXT,
    "rectangles": [RECTANGLE],
    "ranges": [TEXT],
    "anchor": TEXT,
    "demand": AMOUNTS,
    "supply": AMOUNTS,
    "likelihood": Nullable(NUMBER),
    "short": FLAG,
    "ports": [{"channel": TEXT, "direction": DIRECTION, "side": SIDE, "first": COUNT, "last": COUNT}],
    "pins_per_row": COUNT,
}
SLL_COLUMNS = {"channel": TEXT, "boundary": TEXT, "columns": [{"column": COUNT, "wires": COUNT}]}
LONG_STREAM = {
    "channel": TEXT,
    "tiles": NUMBER,
    "unsliced_tiles": NUMBER,
    "way_tiles": NUMBER,
    "reach_tiles": NUMBER,
    "slices": COUNT,
}
ROUTING_MAP = {
    "unit": TEXT,
    "bin_columns": COUNT,
    "bin_rows": COUNT,
    "capacity": NUMBER,
    "peak": NUMBER,
    "peak_at": RECTANGLE,
    "mean": NUMBER,
    "over": COUNT,
    "demand": [NUMBERS],
}
FLOORPLAN = {
    "pblocks": MapOf(PBLOCK, NAME),
    "hpwl": NUMBER,
    "port_length": NUMBER,
    "sll_columns": [SLL_COLUMNS],
    "longest": [LONG_STREAM],
    "weights": TERMS,
    "terms": TERMS,
    "congestion": ROUTING_MAP,
    "stats": STATS,
}
PARTITION = {
    "assignment": MapOf(TEXT),
    "utilisation": MapOf(MapOf(NUMBER)),
    "crossings": [
        {
            "channel": TEXT,
            "source": TEXT,
            "target": TEXT,
            "width_bits": COUNT,
            "gbps": NUMBER,
            "hops": COUNT,
            "kind": TEXT,
        }
    ],
    "cost": NUMBER,
    "fullness": STATS,
    "hops": {
        "most": COUNT,
        "proof": TEXT,
        "streams": [
            {
                "channel": TEXT,
                "source": TEXT,
                "target": TEXT,
                "hops": COUNT,
                "registers": [{"boundary": TEXT, "stages": COUNT, "flip_flops": COUNT}],
            }
        ],
    },
    "loads": [{"name": TEXT, "kind": TEXT, "use": NUMBER, "capacity": NUMBER}],
    "stats": STATS,
}
THROUGHPUT = {
    "full_rate_cycles": Nullable(COUNT),
    "interval_cycles": Nullable(COUNT),
    "first_word_cycles": Nullable(COUNT),
    "first_frame_cycles": Nullable(COUNT),
    "deadlock": [TEXT],
    "shallow": [{"channel": TEXT, "planned": COUNT, "needed": COUNT}],
    "not_analysed": TEXT,
}
FOLDED = {
    "cycles": COUNT,
    "resources": AMOUNTS,
    "attributes": MapOf(ANYTHING),
    "parallelism": [{"name": TEXT, "value": COUNT, "most": COUNT}],
    "products": COUNT,
    "beyond_known_builds": FLAG,
    "doubt": Optional(Nullable({"less": AMOUNTS, "more": AMOUNTS})),
}
ESTIMATES = {
    "clock_mhz": NUMBER,
    "fps": NUMBER,
    "sustained_fps": Nullable(NUMBER),
    "latency_us": NUMBER,
    "bottleneck": TEXT,
    "expected_cycles": Nullable(COUNT),
    "throughput": Nullable(THROUGHPUT),
    "likely_clock": Optional(Nullable({"low_mhz": NUMBER, "high_mhz": NUMBER, "engine": TEXT, "path": TEXT})),
}
PART = {
    "network": TEXT,
    "interval_cycles": COUNT,
    "folding": {
        "engines": MapOf(FOLDED, ENGINE_ID),
        "resources": AMOUNTS,
        "budget": AMOUNTS,
        "fullness": STATS,
        "stats": STATS,
        "whole_budget_bound": Nullable(NUMBER),
    },
    "estimates": ESTIMATES,
    "host_weights": Nullable(
        {
            "engines": [ENGINE_ID],
            "least": COUNT,
            "bound_cycles": Nullable(COUNT),
            "without_bound_cycles": Nullable(COUNT),
            "without_cycles": Nullable(COUNT),
            "sought": FLAG,
        }
    ),
}
PORT = {"channel": TEXT, "direction": DIRECTION, "width_bits": COUNT}
REGION = {
    "name": PLAIN_NAME,
    "fpga": TEXT,
    "slot": TEXT,
    "cell": TEXT,
    "rectangle": RECTANGLE,
    "owned": [RECTANGLE],
    "ranges": [TEXT],
    "need": AMOUNTS,
    "supply": AMOUNTS,
    "frames": COUNT,
    "bitstream_bytes": COUNT,
    "load_us": NUMBER,
    "assumed": FLAG,
    "snapping_mode": TEXT,
    "reset_after_reconfig": FLAG,
}
RECONFIGURABLE = {
    "regions": [REGION],
    "static": [{"name": TEXT, "resources": AMOUNTS}],
    "static_left": AMOUNTS,
    "fill": FRACTIONS,
    "stats": STATS,
}
PHASE = {
    "name": PLAIN_NAME,
    "region": Optional(Nullable(PLAIN_NAME)),
    "loads_after": Optional(Nullable(PLAIN_NAME)),
    "networks": [PART],
    "channels": [CHANNEL],
    "modules": [
        {
            "name": NAME,
            "engines": [ENGINE_ID],
            "like": TEXT,
            "implementation": TEXT,
            "reused": FLAG,
            "why_not": TEXT,
            "resources": AMOUNTS,
        },
    ],
    "joined": [{"module": NAME, "modules": [NAME], "slot": TEXT, "why": TEXT}],
    "implementations": [{"name": TEXT, "window": {"columns": COUNT, "rows": COUNT}, "ports": [PORT]}],
    "memories": [
        {
            "name": TEXT,
            "kind": TEXT,
            "bits": COUNT,
            "style": TEXT,
            "resources": AMOUNTS,
            "others": [{"style": TEXT, "resources": AMOUNTS}],
        }
    ],
    "partition": PARTITION,
    "floorplan": MapOf(FLOORPLAN),
    "constraint_styles": MapOf(STYLE),
    "fifo_kind": TEXT,
    "bands": MapOf(MapOf([NUMBER])),
    "fits": MapOf({"likelihood": NUMBER, "low": AMOUNTS, "high": AMOUNTS}),
    "slices_built": FLAG,
}
PLATFORM = {
    "name": TEXT,
    "fpgas": [
        {
            "name": FOLDER,
            "board": FOLDER,
            "part": TEXT,
            "device": FOLDER,
            "host_slot": TEXT,
            "host_port": RECTANGLE,
            "host_memory": Nullable(TEXT),
            "link_port": Nullable(RECTANGLE),
            "crossing": {"registers": COUNT},
            "unstated": [TEXT],
            "slots": [{"name": TEXT, "fpga": TEXT, "slr": TEXT, "capacity": AMOUNTS, "available": AMOUNTS}],
        }
    ],
    "links": [
        {
            "name": TEXT,
            "kind": TEXT,
            "source": TEXT,
            "target": TEXT,
            "gbps": NUMBER,
            "latency_us": NUMBER,
            "assumed": FLAG,
            "reliable": FLAG,
        }
    ],
    "infrastructure": [{"name": TEXT, "slot": TEXT, "resources": AMOUNTS}],
    "boundaries": [{"name": TEXT, "lower": TEXT, "upper": TEXT, "wires": COUNT}],
    "files": [TEXT],
}
OPTIONS = {
    "cap": FRACTIONS,
    "epsilon": Optional(Nullable(SHARE)),
    "fill": SOME_FRACTIONS,
    "confidence": CONFIDENCE,
    "constraint_style": ASKED_STYLE,
    "max_products": MOST_PRODUCTS,
    "max_engine_share": FRACTIONS,
    "clock_mhz": NUMBER,
    "effort": TEXT,
    "fps": Nullable(NUMBER),
    "granularity": TEXT,
    "keep_granularity": FLAG,
    "max_hops": Nullable(COUNT),
    "keep_out": Optional([TEXT]),
    "fix_pblock": Optional(MapOf(TEXT)),
    "place_weights": TERMS,
    "host_port": Nullable(TEXT),
    "link": Nullable(FOLDER),
    "objective": TEXT,
    "reconfigure": Optional(RECONFIGURE),
    "batch": Optional(Nullable(COUNT)),
    "regions": Optional(Nullable(COUNT)),
    "area": Optional(NUMBER),
    "tie_break": TEXT,
    "topology": TEXT,
    "models": [FILE],
    "rates": Optional(MapOf(POSITIVE)),
    "min_rate": Optional(MapOf(POSITIVE)),
    "platform": FILE,
    "preset": PRESET,
    "fpgas": FPGA_COUNT,
    "seed": INTEGER,
    "backend": TEXT,
    "backend_options": MapOf(ANYTHING),
}
SUMMARY = {
    "platform": TEXT,
    "fpgas": COUNT,
    "clock_mhz": NUMBER,
    "phases": COUNT,
    "networks": [
        {
            "network": TEXT,
            "fps": NUMBER,
            "sustained_fps": Nullable(NUMBER),
            "interval_cycles": COUNT,
            "bound_cycles": COUNT,
            "joint_bound_cycles": Nullable(COUNT),
            "gap": NUMBER,
            "latency_us": Nullable(NUMBER),
            "bottleneck": TEXT,
        }
    ],
    "fullest": Nullable({"phase": TEXT, "slot": TEXT, "resource": TEXT, "share": NUMBER}),
    "fullness": Nullable({"phase": TEXT, "slot": TEXT, "resource": TEXT, "share": NUMBER, "bound": Nullable(NUMBER)}),
    "warnings": COUNT,
    "interrupted": FLAG,
}
REFUSAL = {
    "what": TEXT,
    "resource": TEXT,
    "place": TEXT,
    "needed": Nullable(NUMBER),
    "allowed": Nullable(NUMBER),
    "proven": FLAG,
    "names": [TEXT],
}
NETWORK = {
    "name": PLAIN_NAME,
    "operations": [{"name": TEXT}],
    "engines": [ENGINE],
    "search": {
        "interval_cycles": COUNT,
        "bound_cycles": COUNT,
        "joint_bound_cycles": Nullable(COUNT),
        "gap": NUMBER,
        "ended_by": TEXT,
        "without_balance": Optional(Nullable({"bound_cycles": Nullable(COUNT), "folding_bound": Nullable(NUMBER)})),
        "ended_at": Nullable({"interval_cycles": COUNT, "stage": TEXT, "refusals": [REFUSAL]}),
    },
    "trace": [
        {
            "phase": PLAIN_NAME,
            "interval_cycles": COUNT,
            "verdict": TEXT,
            "stage": TEXT,
            "detail": TEXT,
            "refusals": [REFUSAL],
        }
    ],
}
SCHEDULE = {
    "kind": TEXT,
    "objective": Optional(TEXT),
    "batch": COUNT,
    "period_us": NUMBER,
    "reload_us": Optional(NUMBER),
    "memory_gbps": Optional(Nullable(NUMBER)),
    "alone_us": Optional(Nullable(NUMBER)),
    "stats": Optional(Nullable(STATS)),
    "steps": [
        {
            "phase": TEXT,
            "load_us": NUMBER,
            "run_us": NUMBER,
            "load_start_us": Optional(Nullable(NUMBER)),
            "run_start_us": Optional(Nullable(NUMBER)),
        }
    ],
}
SHARING = {
    "network": PLAIN_NAME,
    "engine": ENGINE_ID,
    "repetitions": COUNT,
    "first": COUNT,
    "asked_fps": Nullable(NUMBER),
    "target_fps": NUMBER,
    "least_fps": NUMBER,
    "must": FLAG,
    "alone_fps": NUMBER,
    "fps": NUMBER,
    "unaware_fps": NUMBER,
    "latency_us": NUMBER,
    "starved": FLAG,
    "subgraphs": [{"name": TEXT, "latency_us": NUMBER, "traffic_bytes": NUMBER}],
}
TRANSFER = {
    "network": PLAIN_NAME,
    "run": COUNT,
    "subgraph": TEXT,
    "start_us": NUMBER,
    "end_us": NUMBER,
    "traffic_bytes": NUMBER,
    "slots": COUNT,
    "speed": NUMBER,
}
MEMORY_SCHEDULE = {
    "memory_gbs": NUMBER,
    "bandwidth_gbs": NUMBER,
    "fairness": TEXT,
    "two_sided": FLAG,
    "burst_beats": COUNT,
    "slots_total": COUNT,
    "period_us": NUMBER,
    "error": NUMBER,
    "error_bound": NUMBER,
    "limits_share": NUMBER,
    "choice": STATS,
    "schedule": STATS,
    "networks": [SHARING],
    "transfers": [TRANSFER],
    "front": [{"share": NUMBER, "fps": MapOf(NUMBER), "stats": STATS}],
}
TARGETS = {
    "networks": [
        {
            "network": PLAIN_NAME,
            "fps": Nullable(NUMBER),
            "least_fps": Nullable(NUMBER),
            "target_cycles": COUNT,
            "alone_cycles": COUNT,
            "share": NUMBER,
            "starved": FLAG,
        }
    ],
    "stretch": STATS,
}
LIFTED = {"phase": PLAIN_NAME, "engine": ENGINE_ID, "limit": TEXT, "value": COUNT, "allowed": COUNT, "reason": TEXT}
INPUT = {"path": FILE, "sha256": SHA256}
PLAN = {
    "schema": TEXT,
    "summary": SUMMARY,
    "version": TEXT,
    "seed": INTEGER,
    "options": OPTIONS,
    "inputs": [INPUT],
    "calibration": Nullable(
        {"measured": [ENGINE_ID], "factors": MapOf(MapOf(NUMBER)), "reports": [{"path": REPORT, "sha256": SHA256}]}
    ),
    "platform": PLATFORM,
    "networks": [NETWORK],
    "phases": [PHASE],
    "schedule": Nullable(SCHEDULE),
    "targets": Optional(Nullable(TARGETS)),
    "reconfigurable": Optional(Nullable(RECONFIGURABLE)),
    "memory_schedule": Optional(Nullable(MEMORY_SCHEDULE)),
    "limits_lifted": [LIFTED],
    "warnings": [TEXT],
    "interrupted": FLAG,
}
"""Fields of plan.json: those that check reads, and the structure of those that it does not check."""
