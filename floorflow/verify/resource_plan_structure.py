"""The structure of schedule.json, a plan on a platform of resources alone, as a template."""

from __future__ import annotations

from floorflow.verify.plan_structure import (
    AMOUNTS,
    ANYTHING,
    COUNT,
    ENGINE,
    FLAG,
    FRACTIONS,
    NUMBER,
    PLAIN_NAME,
    RECONFIGURE,
    SHA256,
    SHARE,
    STATS,
    TEXT,
)
from floorflow.verify.templates import MapOf, Nullable, Scalar

RESOURCE_PLAN_SCHEMA = "floorflow-schedule/1"
_GOAL = Scalar("throughput or latency", lambda value: value in ("throughput", "latency"))
_STREAM = {
    "name": TEXT,
    "source": TEXT,
    "source_port": COUNT,
    "target": TEXT,
    "target_port": COUNT,
    "elements": COUNT,
    "element_bits": COUNT,
    "source_width_bits": COUNT,
    "target_width_bits": COUNT,
    "converter": Nullable(TEXT),
    "converter_resources": AMOUNTS,
    "fifo_depth": COUNT,
    "fifo_style": TEXT,
    "fifo_resources": AMOUNTS,
}
_ENGINE = {
    "cycles": COUNT,
    "resources": AMOUNTS,
    "attributes": MapOf(ANYTHING),
    "parallelism": [{"name": TEXT, "value": COUNT, "most": COUNT}],
}
_PARTITION = {
    "name": PLAIN_NAME,
    "interval_cycles": COUNT,
    "load_us": SHARE,
    "run_us": SHARE,
    "engines": MapOf(_ENGINE),
    "streams": [_STREAM],
    "resources": AMOUNTS,
    "shares": MapOf(SHARE),
    "loaded_bits": COUNT,
    "stored_bits": COUNT,
    "gbps": SHARE,
    "folding": STATS,
}
RESOURCE_PLAN = {
    "schema": TEXT,
    "version": TEXT,
    "options": {
        "models": [TEXT],
        "platform": TEXT,
        "backend": TEXT,
        "backend_options": MapOf(ANYTHING),
        "reconfigure": RECONFIGURE,
        "batch": Nullable(COUNT),
        "objective": _GOAL,
        "clock_mhz": NUMBER,
        "cap": Nullable(FRACTIONS),
        "seed": COUNT,
    },
    "inputs": [{"path": TEXT, "sha256": SHA256}],
    "platform": {
        "name": TEXT,
        "board": TEXT,
        "part": TEXT,
        "memory_gbps": NUMBER,
        "reconfiguration_us": NUMBER,
        "resources": AMOUNTS,
        "limits": AMOUNTS,
    },
    "network": {"name": PLAIN_NAME, "engines": [ENGINE]},
    "batch": COUNT,
    "period_us": SHARE,
    "reload_us": SHARE,
    "fps": SHARE,
    "stats": STATS,
    "partitions": [_PARTITION],
    "warnings": [TEXT],
    "interrupted": FLAG,
}
