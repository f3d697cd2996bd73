"""A plan on boards that differ: legal as planned, and every mistake about its platform file is found."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from floorflow.request import DEFAULT_CAP, Request
from floorflow.verify import check
from tests.conftest import make_plan
from tests.plans import TFC
from tests.verify.planting import Files, Mutant, Plan, Registry, Spoil
from tests.verify.tiny import found_after, read_folder

MIXED = Path(__file__).resolve().parent.parent / "hardware" / "mixed" / "u250-and-u280.yaml"
FILE, HALF_FILE = "platform/platforms/u250-and-u280.yaml", "platform/platforms/halves.yaml"


def edited(file: str) -> Callable[[Spoil], Spoil]:
    """Return what makes a mistake in a plan's files of one in the content of a file."""

    def around(spoil: Spoil) -> Spoil:
        def spoiled(plan: Plan, files: Files) -> None:
            content = yaml.safe_load(files[file])
            spoil(plan, content)
            files[file] = yaml.safe_dump(content)

        return spoiled

    return around


ON_TWO_BOARDS, ON_HALVES = Registry(), Registry()
for registry, section, file in ((ON_TWO_BOARDS, "two boards", FILE), (ON_HALVES, "halves", HALF_FILE)):
    registry.rows(section)
    registry.rows(f"{section} in their file", second="content", around=edited(file))


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cap = {**DEFAULT_CAP, "LUT": 0.008}
    # The least scarce design crosses SLRs on both boards.
    request = Request(TFC, str(MIXED), cap=cap, tie_break="scarcity", effort="fast", plots=False)
    return make_plan(tmp_path_factory.mktemp("mixed") / "out", request)


@pytest.fixture(scope="module")
def legal(mixed: Path) -> tuple[Plan, Files]:
    return read_folder(mixed)


def test_a_u250_and_a_bare_xcu280_joined_in_yaml_are_planned_and_legal(mixed: Path, legal: tuple[Plan, Files]) -> None:
    assert check(mixed) == []
    plan, files = legal
    boards = [fpga["board"] for fpga in plan["platform"]["fpgas"]]
    assert (boards, plan["options"]["fpgas"], plan["options"]["clock_mhz"]) == (["alveo-u250", "xcu280"], 2, 220)
    assert files[FILE] == MIXED.read_text()
    used = {slot.partition(".")[0] for slot in plan["phases"][0]["partition"]["assignment"].values()}
    assert used == {"fpga0", "fpga1"}


@pytest.mark.parametrize("mutant", ON_TWO_BOARDS.mutants, ids=lambda mutant: mutant.title)
def test_a_mistake_about_the_platform_is_found(mutant: Mutant, legal: tuple[Plan, Files], tmp_path: Path) -> None:
    assert mutant.expected in found_after(mutant.spoil, *legal, tmp_path)


@pytest.fixture(scope="module")
def halved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("halved")
    text = "schema: floorflow-platform/1\nname: halves\nfpgas: [{board: xcku5p, halves: {SLR0: 120}}]\n"
    (folder / "halves.yaml").write_text(text, encoding="utf-8")
    cap = {**DEFAULT_CAP, "LUT": 0.02}
    request = Request(TFC, str(folder / "halves.yaml"), cap=cap, tie_break="scarcity", effort="fast", plots=False)
    return make_plan(folder / "out", request)


@pytest.mark.parametrize("mutant", ON_HALVES.mutants, ids=lambda mutant: mutant.title)
def test_a_plan_on_halves_is_legal_and_mistakes_in_it_are_found(mutant: Mutant, halved: Path, tmp_path: Path) -> None:
    assert check(halved) == []
    plan, texts = read_folder(halved)
    assert {crossing["kind"] for crossing in plan["phases"][0]["partition"]["crossings"]} == {"half"}
    assert mutant.expected in found_after(mutant.spoil, plan, texts, tmp_path)
