"""Large floorplans are read and judged at once; benchmarks/check_xdc.py measures 100,000 commands."""

import time

from tests.verify.xdc.judging import judged
from tests.verify.xdc.large import large_floorplan

COMMANDS = 4_000


def test_processor_time_of_some_thousand_commands() -> None:
    text = large_floorplan(COMMANDS)
    judged("")
    begin = time.process_time()
    verdict = judged(text)
    seconds = time.process_time() - begin
    assert verdict.floorplan.commands == COMMANDS
    assert verdict.findings.by_name["range-corner-missing"] > 0
    assert seconds < 20 * COMMANDS / 100_000 * 2 + 0.2


def test_of_a_finding_that_comes_often_the_first_are_kept_and_all_counted() -> None:
    text = "".join(f"create_pblock p{n}\n" for n in range(500))
    verdict = judged(text)
    assert len([one for one in verdict.ordered if one.name == "pblock-without-ranges"]) == 200
    assert verdict.findings.left_out["pblock-without-ranges"] == 300
