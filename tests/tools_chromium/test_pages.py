"""Chromium opens the pages of plans: nothing is cut, overlaps or is asked for; pointer and keyboard tell the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import floorflow as ff
from floorflow.api.folders import PAGE_FILE
from floorflow.view.files import svg_bytes
from floorflow.view.page.sweep import sweep_page
from floorflow.view.pictures.sweep import sweep_charts
from tests.conftest import Planned
from tests.plans import CNV, PLANS, TFC
from tests.reconfigured import quick_request
from tests.tools import need_module, need_program

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTHS = (390, 768, 1280, 1920)
HEIGHT = 900
A4_PX = 718
"""Width of what is printed on A4 with margins of a centimetre, at 96 pixels an inch."""
OPENS_MS = 1000
LOOK = (Path(__file__).parent / "look.js").read_text(encoding="utf-8")

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    need_module("playwright.sync_api", "playwright drives the browser")
    need_module("axe_playwright_python.sync_playwright", "axe-core judges whether all can use a page")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Tests run as root in containers, where Chromium's own sandbox cannot be.
        running = playwright.chromium.launch(executable_path=need_program("chromium"), args=["--no-sandbox"])
        yield running
        running.close()


@dataclass(frozen=True)
class Opened:
    """A page with what it asked for and said since it was opened."""

    page: Page
    asked: list[str]
    said: list[str]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Callable[..., Any]:
    """Open the page of a plan's folder at a width, in light or in the dark."""

    @contextmanager
    def open_page(text: str, width: int = 1280, scheme: Any = "light") -> Iterator[Opened]:
        path = tmp_path / PAGE_FILE
        path.write_text(text, encoding="utf-8")
        with browser.new_context(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme) as context:
            page = context.new_page()
            found = Opened(page, [], [])
            page.on("request", lambda request: found.asked.append(request.url))
            page.on("console", lambda message: found.said.append(message.text))
            page.on("pageerror", lambda error: found.said.append(str(error)))
            page.goto(path.as_uri())
            yield found
            assert found.asked == [path.as_uri()], "the file itself and nothing else"
            assert found.said == []

    return open_page


def looks_right(text: str, opened: Callable[..., Any]) -> None:
    """Hold a page against all that is asked of it, at all widths, in light and dark, and printed."""
    from axe_playwright_python.sync_playwright import Axe

    with opened(text) as found:
        page = found.page
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            assert page.evaluate(LOOK) == [], f"{width} pixels wide"
        page.emulate_media(media="print")
        page.set_viewport_size({"width": A4_PX, "height": HEIGHT})
        assert page.evaluate(LOOK) == [], "printed"
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 1280, "height": HEIGHT})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            violations = Axe().run(page).response["violations"]
            grave = [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in violations if
                     each["impact"] in ("serious", "critical")]  # fmt: skip
            assert grave == [], scheme
        page.emulate_media(color_scheme="light")
        tells_the_same_to_pointer_and_keyboard(page)


POINT = """(part) => {
  part.scrollIntoView({ block: "center", inline: "center" });
  const box = part.getBoundingClientRect();
  for (let n = 0; n < 400; n++) {
    const x = box.left + (box.width * ((n * 7) % 20 + 0.5)) / 20, y = box.top + (box.height * (n / 20 + 0.3)) / 20.5;
    if (document.elementFromPoint(x, y)?.closest("[data-m]") === part) return [x, y];
  }
  return null;
}"""
"""Where a module, or a row, can be pointed at."""
SHOWN = "[told.hidden ? '' : told.textContent, [...document.querySelectorAll('.on')].map((each) => each.dataset.m)]"


def tells_the_same_to_pointer_and_keyboard(page: Page, most: int = 4) -> None:
    """Point at modules and at their rows, and go to both by keyboard: the same is marked and told."""
    drawn = page.locator("svg .m")
    keys = drawn.evaluate_all("(all) => all.map((each) => each.dataset.m)")
    for key in keys[:: max(len(keys) // most, 1)]:
        shown = []
        for part in (page.locator(f'svg [data-m="{key}"]'), page.locator(f'.beside tr[data-m="{key}"]')):
            at = part.evaluate(POINT)
            assert at is not None, f"{key} cannot be pointed at"
            page.mouse.move(*at)
            shown.append(page.evaluate(SHOWN))
            page.mouse.move(1, 1)
            assert page.evaluate(SHOWN) == ["", []], "what is left is marked no more"
            part.focus()
            shown.append(page.evaluate(SHOWN))
            page.keyboard.press("Escape")
            assert page.evaluate(SHOWN) == ["", []]
            part.blur()
        told, marked = shown[0]
        assert told.startswith(f"{key.partition('.')[2]} ")
        assert set(marked) == {key}
        assert len(marked) == page.locator(f'[data-m="{key}"]').count() >= 2, "on the die, in the table, its layers"
        assert all(each == shown[0] for each in shown)
    if keys:
        walks_by_arrows(page, keys)


def walks_by_arrows(page: Page, keys: list[str]) -> None:
    """Go over the modules of a die by keyboard, in the order of the dataflow."""
    page.locator('svg .m[tabindex="0"]').first.focus()
    page.keyboard.press("Home")
    own = "[...document.activeElement.closest('svg').querySelectorAll('.m')].map((each) => each.dataset.m)"
    on_die = sorted(page.evaluate(own), key=lambda key: int(key.partition(".")[2]))
    assert set(on_die) <= set(keys)
    seen = []
    for _ in on_die:
        seen.append(page.evaluate("document.activeElement.dataset.m"))
        page.keyboard.press("ArrowRight")
    assert seen == on_die


def test_a_plan_over_four_dies(cnv_on_u250: Path, opened: Callable[..., Any]) -> None:
    looks_right(ff.load(cnv_on_u250).page, opened)


def test_a_plan_over_two_cards(branches_on_two_u250: Path, opened: Callable[..., Any]) -> None:
    looks_right(ff.load(branches_on_two_u250).page, opened)


def test_without_its_script_a_page_tells_all_the_same(cnv_on_u250: Path, browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / PAGE_FILE
    path.write_text(ff.load(cnv_on_u250).page, encoding="utf-8")
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.locator("#told").is_hidden()
        assert page.locator(".beside tbody tr").first.is_visible()


def test_a_foreign_script_is_not_run(cnv_on_u250: Path, browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / PAGE_FILE
    foreign = "<script>document.title = 'taken'</script><p onclick='1' style='color: red'>red</p></body>"
    path.write_text(ff.load(cnv_on_u250).page.replace("</body>", foreign), encoding="utf-8")
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(path.as_uri())
        assert page.title() != "taken"
        assert (
            page.get_by_text("red", exact=True).evaluate("(part) => getComputedStyle(part).color") != "rgb(255, 0, 0)"
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["CNV on a Kintex", "CNV on a Zynq", "TFC on a Zynq", "TFC stitched on three cards"])
def test_other_plans_on_a_die_and_on_cards(name: str, planned: Planned, opened: Callable[..., Any]) -> None:
    looks_right(ff.load(planned(PLANS[name])).page, opened)


def test_a_page_opens_at_once(cnv_on_u250: Path, opened: Callable[..., Any]) -> None:
    with opened(ff.load(cnv_on_u250).page) as found:
        begun, loaded = found.page.evaluate("(({ startTime, loadEventEnd }) => [startTime, loadEventEnd])"
                                            "(performance.getEntriesByType('navigation')[0])")  # fmt: skip
    assert 0 < loaded - begun < OPENS_MS


@pytest.mark.slow
def test_two_networks(opened: Callable[..., Any]) -> None:
    looks_right(ff.plan([TFC, CNV], "alveo-u250", effort="fast").page, opened)


@pytest.mark.slow
def test_copies_of_a_network(opened: Callable[..., Any]) -> None:
    looks_right(ff.plan(CNV, "alveo-u250", effort="fast", replicas=4).page, opened)


@pytest.mark.slow
@pytest.mark.parametrize("regions", [1, 2])
def test_chunks_in_reconfigurable_regions(regions: int, opened: Callable[..., Any]) -> None:
    options = {"reconfigure": "partial", "area": 0.7, "regions": regions}
    plan = ff.plan(CNV, "pynq-z1", effort="fast", **options)
    assert len(plan.plan.phases) > 1
    page = plan.page
    looks_right(page, opened)
    assert all(f">region r{number}</text>" in page for number in range(regions))


def test_the_page_of_a_sweep(opened: Callable[..., Any]) -> None:
    found = {"fpgas": 1, "fullest": "LUT fpga0.SLR0", "least_likely": "fpga0.SLR0", "message": "", "hint": ""}
    rows = [
        {"number": n, "point": f"p{n}", "code": 0, "model": "cnv_2w2a", "platform": "u250", "option_fps": f"{n}000",
         "fps": 1000.5 * n, "fullest_share": 0.08 * n, "fullest_share_of_limit": 0.1 * n, "least_likelihood": 0.99,
         "LUT": 9000 * n, **found}
        for n in range(1, 5)
    ]  # fmt: skip
    rows.append({**rows[-1], "number": 5, "point": "p5", "code": 3, "message": "too <i>large</i>", "hint": "--fpgas 2"})
    svgs = {name: svg_bytes(chart) for name, chart in sweep_charts(rows).items()}
    files = {row["point"]: ("points/report.html", "points/report.txt") for row in rows}
    page = sweep_page("Sweep", "5 points.", rows, options={"option_fps": "fps"}, files=files, pictures=svgs)
    looks_right(page, opened)
    with opened(page) as found_page:
        assert found_page.page.evaluate("[...document.images].every((each) => each.naturalWidth > 0)")
        assert found_page.page.locator("td i").count() == 0


@pytest.mark.slow
def test_a_plan_in_time(tmp_path: Path, opened: Callable[..., Any]) -> None:
    request = quick_request(tmp_path, effort="fast")
    options = {"reconfigure": "full", "batch": request.batch, "cap": request.cap.as_dict()}
    plan = ff.plan(TFC, request.platform, effort="fast", **options)
    assert len(plan.plan.phases) > 1
    looks_right(plan.page, opened)
