"""The judge's rule for moving a placed circuit: as the planner's, on real dies, window by window."""

import random

import pytest

from floorflow.hardware import Rect, can_relocate, read_device
from floorflow.verify.hardware.geometry import Rectangle
from floorflow.verify.rules.modules import moves_onto
from tests.plans import ROOT
from tests.verify.dies import device as judged_die


@pytest.mark.parametrize("name", ["xcku5p", "xcu280", "xc7z020"])
def test_both_say_the_same_of_windows_on_a_die(name: str) -> None:
    path = ROOT / "platforms" / "devices" / f"{name}.yaml"
    die, judged = read_device(path.read_text(encoding="utf-8"), path.name), judged_die(name)
    rng, verdicts = random.Random(0), []
    for _ in range(400):
        columns, rows = rng.randrange(1, 6), rng.choice([5, 15, 30, 45])
        if rows > die.row_count:
            continue
        left, bottom = rng.randrange(die.column_count - columns), rng.randrange(die.row_count - rows)
        step = rng.choice([1, 5, 15, die.rows_per_clock_region])
        up = rng.randrange(-(bottom // step), (die.row_count - rows - bottom) // step + 1) * step
        right = rng.choice([0, 0, rng.randrange(-left, die.column_count - columns - left)])
        one, other = ((left, bottom), (left + right, bottom + up))
        ends = [(x, y, x + columns - 1, y + rows - 1) for x, y in (one, other)]
        mine = can_relocate(die, [Rect(*ends[0])], [Rect(*ends[1])])
        assert moves_onto(judged, [Rectangle(*ends[0])], [Rectangle(*ends[1])]) is mine
        verdicts.append(mine)
    assert 20 < sum(verdicts) < len(verdicts) - 20


def test_rectangles_move_together() -> None:
    die = judged_die("xcku5p")
    window = [Rectangle(6, 0, 20, 29), Rectangle(21, 0, 30, 14)]
    up = [Rectangle(6, 60, 20, 89), Rectangle(21, 60, 30, 74)]
    assert moves_onto(die, window, up)
    assert not moves_onto(die, window, up[:1])
    assert not moves_onto(die, window, [up[0], Rectangle(21, 120, 30, 134)])
    assert not moves_onto(die, window, [up[0], Rectangle(21, 60, 30, 75)])
