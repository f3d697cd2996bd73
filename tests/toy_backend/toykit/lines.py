"""The model file: a line for each part of a pipeline, such as ``filter smooth from camera outputs=8 weights=4``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from floorflow.errors import InputError

SIZES = {
    "input": ("rows", "columns", "channels", "bits"),
    "lines": ("taps",),
    "filter": ("outputs", "weights"),
    "mix": ("copies",),
}
DEFAULTS = {"copies": 1}
FOLDINGS = {"lines": ("lanes",), "filter": ("makers", "takers", "maths"), "mix": ("lanes",)}
_NAME = re.compile(r"[A-Za-z]\w*")


@dataclass(frozen=True)
class Line:
    """One line of the file: its word, a name, the streams that it reads, its sizes and its folding if it has one."""

    place: str
    word: str
    name: str
    sources: tuple[str, ...]
    sizes: dict[str, int]
    folding: dict[str, int | str]

    def wrong(self, what: str, hint: str) -> InputError:
        """Return the error that this line has."""
        return InputError(f"{self.place}: {self.name}: {what}", hint)


def lines_of(path: Path) -> Iterator[Line]:
    """Read a model file, line by line."""
    for place, words in words_of(path):
        yield _line(place, words)


def words_of(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Return the words of every line that has any, with its place in the file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}", "give a model of toykit, a text in UTF-8") from error
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if words:
            yield f"{path}:{number}", words


def _line(place: str, words: list[str]) -> Line:
    word, *rest = words
    plain = [item for item in rest if "=" not in item]
    if word not in (*SIZES, "network", "output", "tie"):
        raise InputError(f"{place}: unknown word '{word}'", f"use network, output, tie, {', '.join(SIZES)}")
    if not plain:
        raise InputError(f"{place}: '{word}' has no name", f"write {word} NAME ...")
    if not _NAME.fullmatch(plain[0]):
        raise InputError(f"{place}: '{plain[0]}' is no name", "use letters, digits and _, a letter first")
    given = values(place, [item for item in rest if "=" in item], (*SIZES.get(word, ()), *FOLDINGS.get(word, ())))
    return Line(place, word, plain[0], tuple(plain[1:]), _sizes(place, word, given), _folding(word, given))


def values(place: str, items: list[str], known: tuple[str, ...]) -> dict[str, int | str]:
    """Read ``key=value`` items, of which all but ``maths`` are integers of 1 or more."""
    found: dict[str, int | str] = {}
    for item in items:
        key, _, value = item.partition("=")
        if key not in known:
            raise InputError(f"{place}: unknown '{key}'", f"expected {', '.join(known) or 'no key=value here'}")
        if key != "maths" and not (value.isdecimal() and int(value) > 0):
            raise InputError(f"{place}: {key} is '{value}'", "expected an integer of 1 or more")
        found[key] = value if key == "maths" else int(value)
    return found


def _sizes(place: str, word: str, given: dict[str, int | str]) -> dict[str, int]:
    wanted = {key: given.get(key, DEFAULTS.get(key)) for key in SIZES.get(word, ())}
    missing = [key for key, value in wanted.items() if value is None]
    if missing:
        raise InputError(f"{place}: {word} lacks {', '.join(missing)}", f"add {missing[0]}=NUMBER")
    return {key: int(value) for key, value in wanted.items() if value is not None}


def _folding(word: str, given: dict[str, int | str]) -> dict[str, int | str]:
    return {key: given[key] for key in FOLDINGS.get(word, ()) if key in given}
