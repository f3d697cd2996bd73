"""A value of any kind at any place of a plan, or a field left out, is at most a finding: check always has a verdict."""

import copy
import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import floorflow as ff
from floorflow.verify import VIOLATIONS, check, verify
from floorflow.verify.finn.judge import findings as finn_findings
from tests.tools import at_most
from tests.verify.dies import SEEDS
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


@pytest.mark.parametrize("seed", SEEDS)
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


HUGE = ("1e400", "-1e400", "NaN", "Infinity", "1" + "0" * 4000, "9" * 5000, "[" * 3000 + "]" * 3000, '{"a":1,"a":2}')
"""JSON that Python's own writer would not write."""
HOSTILE = (*ODD, "1000000000", 10**9, 10**18, -(10**18), 2**31, [0] * 2000, {str(key): {} for key in range(2000)})
MARK = "written in place of a value"
SECONDS = 10
"""So long may a check of these small folders take."""


def hurt(content: Any, chance: random.Random) -> None:
    """Put something hostile at some places of a content: another type or size, deeper, twice, or nothing."""
    for _ in range(chance.choice([1, 1, 2, 5])):
        container, key = chance.choice(list(places(content)))
        how = chance.randrange(6)
        if how == 0 and isinstance(container, dict):
            container.pop(key, None)
        elif how == 1:
            container[key] = [container[key]] * chance.choice([1, 2, 1000])
        elif how == 2 and isinstance(container[key], int | float) and not isinstance(container[key], bool):
            container[key] *= chance.choice([-1, 10, 10**6, 10**12, 0.5])
        elif how == 3:
            container[key] = str(container[key])
        else:
            container[key] = copy.deepcopy(chance.choice(HOSTILE))
        if container is content[0]:
            return  # the content is another as a whole


def hostile_folder(out: Path, seed: int) -> Path:
    """Write a plan's folder of which plan.json or a file of the platform is hurt."""
    plan, files = copy.deepcopy(legal())
    chance = random.Random(seed)
    of_platform = [name for name in files if name.startswith("platform/")]
    if chance.random() < 0.5:
        name = chance.choice(of_platform)
        content = [yaml.safe_load(files[name])]
        hurt(content, chance)
        files[name] = yaml.safe_dump(content[0])
        return write_folder(out, plan, files)
    hurt([plan], chance)
    if chance.random() < 0.3:
        container, key = chance.choice(list(places(plan)))
        container[key] = MARK
    folder = write_folder(out, plan, files)
    path = folder / "plan.json"
    path.write_text(path.read_text().replace(f'"{MARK}"', chance.choice(HUGE)))
    return folder


@pytest.mark.joint  # it has a bound of its own
@pytest.mark.parametrize("seed", SEEDS)
def test_a_hostile_folder_is_refused_in_time(seed: int, tmp_path: Path) -> None:
    folder = hostile_folder(tmp_path, seed)
    with at_most(SECONDS):
        verdict = ff.check(folder)
    assert all(one.message for one in verdict.violations)


@pytest.mark.parametrize("name", ["fpgas", "phases", "networks", "rectangles"])
def test_lists_longer_than_any_plans_are_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, files = copy.deepcopy(legal())
    monkeypatch.setitem(verify.MOST_ROWS, name, 5)
    within = next(container for container, key in places(plan) if key == name and isinstance(container[key], list))
    within[name] = within[name][:1] * 6
    (refused,) = ff.check(write_folder(tmp_path, plan, files)).violations
    assert (refused.name, refused.where) == ("plan-malformed", name)
    assert refused.message == "6 rows, more than the limit of 5"


def test_of_a_violation_that_comes_often_the_first_are_kept_and_all_counted(tmp_path: Path) -> None:
    plan, files = copy.deepcopy(legal())
    script = next(name for name in files if name.endswith("pblocks.xdc"))
    files[script] += "puts a\n" * 5000
    with at_most(SECONDS):
        told = [
            one for one in ff.check(write_folder(tmp_path, plan, files)).violations if one.name == "unknown-command"
        ]
    assert (len(told), told[-1].message) == (1001, "and 4,000 more of unknown-command")


@pytest.mark.parametrize("name", ["plan.json", "platform/boards/*.yaml"])
def test_pipes_in_a_folder_are_not_waited_for(name: str, tmp_path: Path) -> None:
    folder = write_folder(tmp_path, *copy.deepcopy(legal()))
    path = min(folder.glob(name))
    path.unlink()
    os.mkfifo(path)
    assert "is no plain file" in [one.message for one in ff.check(folder).violations]
