"""The file of a sweep: models x platforms x options, and points of their own, as command lines of `plan`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, count, product
from pathlib import Path
from typing import Any

from pydantic import Field

from floorflow import __version__
from floorflow.api.asking import rates_of_one, shares_memory
from floorflow.api.options import OPTIONS, Option
from floorflow.assets import is_path
from floorflow.errors import InputError, PlatformError
from floorflow.hardware import load_platform
from floorflow.hardware.reading import FileModel, parse
from floorflow.jobs.points import PLAN, Point
from floorflow.output.listed import sha256
from floorflow.reading import is_file, read_text, require_file
from floorflow.request import RESOURCES_ALONE, Request

HINT = "docs/using.md, Many plans, describes the file"
MOST_POINTS = 10_000
DEFAULT_LIMIT_S = 3600.0
_LONGEST = 120
"""Characters of a point's name, which is a folder's."""
_APART = ("model", "platform", "time_limit")
"""What is no option here: fields of the file itself."""


class NamedPoint(FileModel):
    """A point beside the grid."""

    model: str
    platform: str
    options: dict[str, Any] = Field(default_factory=dict)


class SpecFile(FileModel):
    """The file: a list of an option's values spans the grid, a single value holds for all points."""

    models: str | list[str] = Field(default_factory=list)
    platforms: str | list[str] = Field(default_factory=list)
    options: dict[str, Any] = Field(default_factory=dict)
    time_limit: int | float = Field(DEFAULT_LIMIT_S, gt=0)
    also: dict[str, NamedPoint] = Field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A point as the file has it: ``options`` by their names, as they are written on the command line."""

    point: Point
    model: str
    platform: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Spec:
    """What a file asks for; ``threads``: processes of each plan."""

    base: Path
    asked: tuple[Asked, ...]
    limit_s: float
    threads: int


def read_spec(path: Path) -> Spec:
    """Return the points of a sweep's file; paths in it are relative to its folder.

    InputError if a field or an option is unknown, or its value, a model or a platform is not what was expected.
    """
    text = read_text(path, "configuration", "give the YAML file of a sweep")
    file = parse(SpecFile, text, str(path), HINT, InputError)
    return _Reader(str(path), path.resolve().parent, file).spec()


class _Reader:
    """Reads one file."""

    def __init__(self, path: str, base: Path, file: SpecFile) -> None:
        self._path, self._base, self._file = path, base, file
        self._digests: dict[Path, str] = {}

    def spec(self) -> Spec:
        file = self._file
        models, platforms = ([given] if isinstance(given, str) else given for given in (file.models, file.platforms))
        if bool(models) != bool(platforms) or not (models or file.also):
            field = "platforms" if models else "models"
            raise self._wrong(field, "expected at least one" + ("" if models or platforms else ", or a point in also"))
        options = {self._name("options", key): value for key, value in file.options.items()}
        axes = {name: value for name, value in options.items() if isinstance(value, list)}
        fixed = {name: self._value("options", name, v) for name, v in options.items() if name not in axes}
        values = [[self._value("options", name, one) for one in value] for name, value in axes.items()]
        for name in (name for name, each in axes.items() if not each):
            raise self._wrong(f"options.{name}", "expected at least one value")
        asked: dict[str, Asked] = {}
        for model, platform, *chosen in product(models, platforms, *values):
            own = dict(zip(axes, chosen, strict=True))
            self._add(asked, _named(model, platform, own), model, platform, fixed | own)
        for name, also in file.also.items():
            where = f"also.{name}"
            own = {self._name(f"{where}.options", key): value for key, value in also.options.items()}
            own = {key: self._value(f"{where}.options", key, value) for key, value in own.items()}
            if name in asked or _plain(name) != name:
                raise self._wrong(where, "expected a name of its own, of letters, digits, _, . and -")
            self._add(asked, name, also.model, also.platform, fixed | own)
        self._require_one(asked.values())
        threads = max((int(one.options.get("jobs") or 1) for one in asked.values()), default=1)
        return Spec(self._base, tuple(asked.values()), float(file.time_limit), threads)

    def _add(self, asked: dict[str, Asked], name: str, model: str, platform: str, options: Mapping[str, Any]) -> None:
        if len(asked) >= MOST_POINTS:
            raise self._wrong("options", f"expected at most {MOST_POINTS:,} points")
        free = next(n for n in chain([name], (f"{name}_{i}" for i in count(2))) if n not in asked)
        given = {key: options[key] for key in OPTIONS if options.get(key) is not None}
        words = [model, "-p", platform, "--time-limit", f"{self._file.time_limit:.15g}"]
        words += [] if "jobs" in given else ["--jobs", "1"]
        words += [word for key, value in given.items() for word in _words(OPTIONS[key], value)]
        digest = self._digest(model, platform, words)
        asked[free] = Asked(Point(free, ("plan", *words), digest), model, platform, given)

    def _digest(self, model: str, platform: str, words: Sequence[str]) -> str:
        """Return the digest of a command line, of what the files are that it names, and of who reads them."""
        require_file(self._base / model, "paths are relative to the file of the sweep", f"{self._path}: models: ")
        files = [self._content(self._base / word) for word in words if not word.startswith("-")]
        told = [__version__, *words, *filter(None, files), self._board(platform)]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:24]

    def _content(self, path: Path) -> str:
        """Return the digest of a file, or of the plan in a folder; empty for what is neither."""
        path = path if is_file(path) else path / PLAN
        if path not in self._digests:
            self._digests[path] = sha256(path) if is_file(path) else ""
        return self._digests[path]

    def _board(self, platform: str) -> str:
        """Return the digest of a platform's files; refuse one that nothing is placed on."""
        key = Path(platform)
        if platform.startswith(RESOURCES_ALONE):
            raise self._wrong("platforms", f"{platform}: nothing is placed on it; expected boards")
        if key not in self._digests:
            try:
                loaded = load_platform(self._base / platform if is_path(platform) else platform)
            except PlatformError as error:
                raise InputError(f"{self._path}: platforms: {error}", error.hint) from None
            self._digests[key] = hashlib.sha256(json.dumps(dict(loaded.files)).encode()).hexdigest()
        return self._digests[key]

    def _name(self, where: str, key: str) -> str:
        """Return the option that a key names: as ``floorflow plan`` spells it, or as Python does."""
        known = {name: name for name in OPTIONS if name not in _APART}
        known |= {_key(o.spelling): o.name for o in OPTIONS.values() if o.name in known and o.default is not True}
        if _key(key) in known:
            return known[_key(key)]
        near = get_close_matches(_key(key), known, n=1)
        field = f"; {key} is a field of the file, beside options" if _key(key) in _APART else ""
        hint = f"did you mean {near[0]}?" if near and not field else f"floorflow plan --help lists them{field}"
        raise InputError(f"{self._path}: {where}.{key}: unknown; expected an option of floorflow plan", hint)

    def _value(self, where: str, name: str, value: Any) -> Any:
        """Return the value of an option as it is written on the command line."""
        option = OPTIONS[name]
        value = "no" if value is False and "no" in option.choices else value  # YAML takes one for the other
        if value is not None and isinstance(value, bool) != (option.kind is bool):
            expected = "true or false" if option.kind is bool else "a value, no truth"
            raise self._wrong(f"{where}.{name}", f"expected {expected}; found {value!r}")
        if isinstance(value, str) and option.kind in (int, float):  # YAML takes 1e9 for a text
            with suppress(ValueError):
                return option.kind(value)
        if isinstance(value, Mapping) and option.repeated:
            return [f"{key}={_text(each)}" for key, each in value.items()]
        if isinstance(value, Mapping) or (isinstance(value, list) and not option.repeated):
            raise self._wrong(f"{where}.{name}", f"expected one value; found {value!r}")
        return value

    def _require_one(self, asked: Iterable[Asked]) -> None:
        """Refuse the file if no point is a request at all; a value that only some refuse is theirs to tell."""
        first: tuple[Asked, InputError] | None = None
        for one in asked:
            platform = str(self._base / one.platform) if is_path(one.platform) else one.platform
            try:
                if not shares_memory(one.options):
                    Request(model=one.model, platform=platform, **rates_of_one(one.model, one.options))
            except InputError as error:
                first = first or (one, error)
            else:
                return
        if first:
            raise InputError(f"{self._path}: {first[0].point.name}: {first[1]}", first[1].hint)

    def _wrong(self, field: str, told: str) -> InputError:
        return InputError(f"{self._path}: {field}: {told}", HINT)


def _key(name: str) -> str:
    return name.removeprefix("--").replace("-", "_")


def _text(value: Any) -> str:
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _words(option: Option, value: Any) -> Iterator[str]:
    """Yield the words of an option."""
    if isinstance(value, bool):
        yield from [option.spelling] * (value != option.default)
        return
    for one in value if isinstance(value, list) else [value]:
        yield from (option.spelling, _text(one))


def _named(model: str, platform: str, own: Mapping[str, Any]) -> str:
    """Return a readable name of a point: its model and platform, and what the grid chose."""
    parts: Iterable[str] = (
        f"{name}_{'_'.join(map(_text, value)) if isinstance(value, list) else _text(value)}"
        for name, value in own.items()
        if value is not None
    )
    platform = Path(platform).stem if is_path(platform) else platform
    return _plain("-".join((Path(model).stem, platform, *parts)))[:_LONGEST]


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", text).lstrip(".-") or "point"
