"""The help of `plan`: examples, the twenty options that most plans are made by, and all of them where that is asked."""

import re

import pytest
from typer.testing import CliRunner

from floorflow.cli.main import app, loaded
from floorflow.cli.plan import COMMON, EXAMPLES, MORE_EXAMPLES
from tests.plans import ROOT

PARAMETERS = {parameter.name: parameter for parameter in loaded("plan").params}
SPELT = {
    spelling: name
    for name, parameter in PARAMETERS.items()
    for spelling in [*parameter.opts, *parameter.secondary_opts]
}


def shown(*words: str) -> tuple[str, set[str]]:
    """Return a help's text, and the names of the options that it lists."""
    text = CliRunner().invoke(app, ["plan", *words]).stdout
    return text, {SPELT[word] for word in re.findall(r"^│(?: \*)? +(--[a-z-]+)", text, re.MULTILINE) if word in SPELT}


def test_the_help_begins_with_examples_and_shows_twenty_options() -> None:
    text, options = shown("--help")
    assert options == {*COMMON} - {"model"}
    assert len(options - {"help_all"}) == 20
    assert text.index("Examples:") < text.index("--platform  ")
    assert "More examples:" not in text


def test_all_options_are_shown_where_that_is_asked() -> None:
    text, options = shown("--help-all")
    assert options == {*PARAMETERS} - {"model", "help"}
    assert text.index("Examples:") < text.index("--platform  ") < text.index("More examples:")


@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md", "docs/first-plan.md"])
def test_the_first_pages_use_no_other_options(name: str) -> None:
    text = EXAMPLES + (ROOT / name).read_text(encoding="utf-8")
    lines = re.findall(r"floorflow plan [^`\n]*", text)
    assert len(lines) > 6
    used = {SPELT.get(word, word) for line in lines for word in re.findall(r"(?<= )--?[a-z-]+", line)}
    assert used - {"--help"} <= {*COMMON}


def test_every_example_and_every_plan_in_the_documents_is_one_of_options_that_exist() -> None:
    """Most of those in the documents run by -m slow (tests/test_documents.py)."""
    shown = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/*.md"))
    lines = re.findall(r"(?:^    |`)floorflow plan [^`\n]*", shown, re.MULTILINE)
    assert len(lines) > 20
    assert {*re.findall(r"(?<=[ \n])--[a-z-]+", "\n".join([EXAMPLES, MORE_EXAMPLES, *lines]))} <= {*SPELT, "--help"}
