"""A value of any kind at any place of a plan, or a field left out, is at most a finding: check always has a verdict."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from floorflow.verify import VIOLATIONS, check
from floorflow.verify.finn.judge import findings as finn_findings
from tests.verify.planting import Files, Plan
from tests.verify.tiny import write_folder
from tests.verify.two_by_two import two_by_two

ODD = (
    *(None, True, 0, -1, 1, 7, 2**62, 2**63, 10**400, 0.5, -0.0, 1e308, 1e-320),
    *("", "..", "/", ":", "camera/", "camera/host:in0", "host:in0", "radar/phase:p1/", "p0", "SLR0", "fpga0", "\0"),
    *([], [[]], [None], {}, {"": None}, {"LUT": -1}),
)


@cache
def legal() -> tuple[Plan, Files]:
    return two_by_two()


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container with each of its keys."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


@pytest.mark.parametrize("seed", range(150))
def test_odd_values_never_stop_the_check(seed: int, tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal())
    chance = random.Random(seed)
    for _ in range(chance.choice([1, 1, 1, 3])):
        branch = chance.choice([plan[key] for key in ("phases", "networks", "schedule", "summary", "options")] + [plan])
        within = list(places(branch))
        if not within:
            continue
        container, key = chance.choice(within)
        if isinstance(container, dict) and chance.random() < 0.2:
            del container[key]
        else:
            container[key] = copy.deepcopy(chance.choice(ODD))
    names = {violation.name for violation in check(write_folder(tmp_path, plan, files))}
    assert names <= {*VIOLATIONS, *finn_findings}
