"""Equal circuits share an implementation where their windows are alike, and say where they are not."""

import floorflow as ff
from floorflow.channels.implementations import Likeness, in_windows_alike
from floorflow.hardware import Rect, load_platform
from tests.plans import EXAMPLES


def shared(*windows: Rect) -> list[Likeness]:
    """Place as many equal modules on an xcku5p."""
    (fpga,) = load_platform("xcku5p").fpgas
    names = [f"m{i}" for i in range(len(windows))]
    homes = {name: (fpga.device, (window,)) for name, window in zip(names, windows, strict=True)}
    return in_windows_alike(tuple(Likeness(name, "m0", "m0") for name in names), homes)


def test_windows_on_equal_columns_are_made_once_and_others_by_themselves() -> None:
    same, up, moved = Rect(21, 0, 56, 59), Rect(21, 60, 56, 119), Rect(21, 125, 56, 184)
    assert [one.implementation for one in shared(same, up, moved)] == ["m0", "m0", "m2"]
    assert shared(same, up, moved)[2].why_not == "its window is not on the columns and rows of that of m0"
    assert not shared(same, up)[1].why_not


def test_the_first_of_each_window_makes_the_others_like_it() -> None:
    one, other = Rect(21, 0, 56, 59), Rect(60, 0, 95, 59)
    up, other_up = Rect(21, 60, 56, 119), Rect(60, 60, 95, 119)
    assert [made.implementation for made in shared(one, other, other_up, up)] == ["m0", "m1", "m1", "m0"]


def test_a_plan_says_what_each_module_is_like() -> None:
    made = ff.plan(EXAMPLES / "tfc_1w1a.onnx", "pynq-z1", granularity="layer", effort="fast", plots=False)
    rows = {row["module"]: row for row in made.modules}
    assert all(rows[row["like"]]["like"] == row["like"] for row in rows.values())
    alike = [row for row in rows.values() if sum(other["like"] == row["like"] for other in rows.values()) > 1]
    assert all(row["reused"] or row["why_not"] for row in alike)
    assert not any(row["why_not"] for row in rows.values() if row not in alike)
