"""Pictures that are drawn when they are first asked for; notebooks show them by themselves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.errors import InputError
from floorflow.importing import whole_imports
from floorflow.output import require_no_file, write_file
from floorflow.reading import read_bytes

if TYPE_CHECKING:
    from floorflow.hardware import Platform
    from floorflow.view.files import Drawing

FOLDER = "plots/"
"""Where pictures lie in a plan's folder."""
_DRAWING = threading.RLock()
"""matplotlib's settings are one set for the whole process: threads draw one after another."""

_TRACE, _SEARCH = "candidates", "search"
"""What the picture of the search is called as a file, and here."""
_ALL, _FIRST, _SECOND = "floorplan", "floorplan_fpga0", "floorplan_fpga1"
"""The floorplan of all FPGAs together, which is the first one's where there is one FPGA; the same of each."""


Content = Callable[[str], bytes]
"""Gives a picture as ``png``, ``svg`` or ``pdf``."""
ENDINGS = (".png", ".svg", ".pdf")


class Picture:
    """One picture as PNG, SVG and PDF, the same bytes each time.

    As the last value of a notebook's cell it is shown.
    """

    def __init__(self, name: str, content: Content) -> None:
        self.name = name
        self._content = content

    @cached_property
    def png(self) -> bytes:
        """The picture as PNG."""
        return self._content("png")

    @cached_property
    def svg(self) -> bytes:
        """The picture as SVG."""
        return self._content("svg")

    @cached_property
    def pdf(self) -> bytes:
        """The picture as PDF."""
        return self._content("pdf")

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the picture to a file in ``.png``, ``.svg`` or ``.pdf``; return its path. ``force`` replaces a file.

        Raises
        ------
        InputError
            If the ending is another, there is such a file and ``force`` is not set, or it cannot be written.

        """
        path = Path(path)
        require_picture_file(path, force=force)
        write_file(path, self._content(path.suffix[1:]), force=force)
        return path

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"<floorflow.Picture {self.name}>"


def require_picture_file(path: Path, *, force: bool) -> None:
    """Refuse a file that `Picture.save` would refuse; called before the work starts.

    Raises
    ------
    InputError
        If the ending is not that of a picture, or there is such a file and ``force`` is not set.

    """
    if path.suffix not in ENDINGS:
        raise InputError(f"{path}: pictures are {', '.join(ENDINGS)}", hint="give the file one of these endings")
    require_no_file(path, force=force)


class Pictures(Mapping[str, Picture]):
    """The pictures of a plan by name: ``search``, ``folding``, ``partition``, ``floorplan``, ``floorplan_fpga0``, ...

    ``floorplan`` shows all FPGAs. Nothing is drawn before it is asked for.
    """

    def __init__(self, contents: Callable[[], Mapping[str, Content]]) -> None:
        self._contents = contents

    @cached_property
    def _by_stem(self) -> dict[str, Picture]:
        return {stem: Picture(_name(stem), content) for stem, content in self._contents().items()}

    @cached_property
    def _by_name(self) -> dict[str, Picture]:
        named = {picture.name: picture for picture in self._by_stem.values()}
        if any(name.startswith(_SECOND) for name in named):
            return named
        return named | {_ALL + name[len(_FIRST) :]: named[name] for name in named if name.startswith(_FIRST)}

    are_drawn = False
    """Whether `draw` was called."""

    def draw(self) -> None:
        """Draw all pictures now."""
        _ = self.files
        self.are_drawn = True

    @property
    def files(self) -> dict[str, bytes]:
        """All pictures as ``plots/<name>.png`` and ``.svg``; what is not drawn yet is drawn now."""
        files: dict[str, bytes] = {}
        for stem, picture in self._by_stem.items():
            files |= {f"{FOLDER}{stem}.png": picture.png, f"{FOLDER}{stem}.svg": picture.svg}
        return files

    def __getitem__(self, name: str) -> Picture:
        if name not in self._by_name:
            raise KeyError(f"no picture is called {name}; there are {', '.join(self)}")
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"<floorflow.Pictures {', '.join(self)}>"


def _name(stem: str) -> str:
    """Return the name of a picture by that of its files; those of several networks and phases end in their names."""
    return _SEARCH + stem[len(_TRACE) :] if stem.startswith(_TRACE) else stem


def drawn(draw: Callable[[], Drawing]) -> Content:
    """Return a picture that is drawn when it is first asked for; what draws and writes it is loaded only then."""
    written: dict[str, bytes] = {}
    dpi: dict[str, int] = {}

    def content(ending: str) -> bytes:
        with whole_imports():
            from floorflow.view.files import dpi_of, pdf_bytes, png_bytes, svg_bytes

        with _DRAWING:
            if ending == "pdf":
                return pdf_bytes(draw())
            if not written:
                drawing = draw()
                written["svg"], dpi["png"] = svg_bytes(drawing), dpi_of(drawing)
            if ending not in written:
                written[ending] = png_bytes(written["svg"], dpi["png"])
            return written[ending]

    return content


def pictures_of(
    plan: Mapping[str, Any], platform: Callable[[], Platform], style: str = "review", by: str | None = None
) -> Pictures:
    """Return the pictures of a plan as plan.json holds it, on its platform; floorplans in a style, by a colouring."""

    def contents() -> Mapping[str, Content]:
        with whole_imports():
            from floorflow.view.files import charts
            from floorflow.view.sheet import STYLES

        return {stem: drawn(draw) for stem, draw in charts(plan, platform(), STYLES[style], by).items()}

    return Pictures(contents)


def pictures_in(folder: Path, names: Collection[str]) -> Pictures:
    """Return the pictures among the files that stand in a folder, each as PNG and as SVG."""
    drawn_twice = (name[:-4] for name in names if name.endswith(".png") and f"{name[:-4]}.svg" in names)
    stems = sorted(stem[len(FOLDER) :] for stem in drawn_twice if stem.startswith(FOLDER))

    def saved(stem: str) -> Content:
        return lambda ending: read_bytes(folder / f"{FOLDER}{stem}.{ending}", "plan", "draw it again")

    return Pictures(lambda: {stem: saved(stem) for stem in stems})
