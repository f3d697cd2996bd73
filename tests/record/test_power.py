"""A plan above the power of its board warns, and is legal."""

from pathlib import Path

import floorflow as ff
from tests.plans import ROOT, TFC


def test_a_plan_above_the_limit_of_a_board_of_the_user_warns_and_is_legal(tmp_path: Path) -> None:
    text = (ROOT / "platforms" / "boards" / "pynq-z1.yaml").read_text(encoding="utf-8").split("evidence:")[0]
    mine = text.replace("name: pynq-z1", "name: mine").replace(
        "power: {base_w: 1.6}", "power: {base_w: 1.6, limit_w: 1.7}"
    )
    (tmp_path / "mine.yaml").write_text(mine, encoding="utf-8")
    made = ff.plan(TFC, tmp_path / "mine.yaml", effort="fast", plots=False)
    made.save(tmp_path / "out")
    assert any(warning.startswith("power: fpga0 is likely to draw 1.8") for warning in made.warnings)
    assert not ff.check(tmp_path / "out").violations
