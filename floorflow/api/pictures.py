"""Pictures that are drawn when they are first asked for; notebooks show them by themselves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorflow.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from floorflow.hardware import Platform

_DRAWING = threading.RLock()
"""matplotlib's settings are one set for the whole process: threads draw one after another."""

_KEYS = {"candidates": "search"}
"""Names of pictures that differ from those of their files."""
_ALL, _FIRST = "floorplan", "floorplan_fpga0"
"""The floorplan of all FPGAs together, which is the first one's where there is one FPGA."""


class Picture:
    """One picture as PNG and as SVG, the same bytes each time.

    As the last value of a notebook's cell it is shown.
    """

    def __init__(self, name: str, draw: Callable[[], Figure]) -> None:
        self.name = name
        self._draw = draw

    @cached_property
    def png(self) -> bytes:
        """The picture as PNG."""
        from floorflow.view.pictures.files import png_bytes

        with _DRAWING:
            return png_bytes(self._figure)

    @cached_property
    def svg(self) -> bytes:
        """The picture as SVG."""
        from floorflow.view.pictures.files import svg_bytes

        with _DRAWING:
            return svg_bytes(self._figure)

    @cached_property
    def _figure(self) -> Figure:
        return self._draw()

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file ending in ``.png`` or ``.svg``; return its path.

        Raises
        ------
        InputError
            If the ending is another, or the file cannot be written.

        """
        path = Path(path)
        if path.suffix not in {".png", ".svg"}:
            raise InputError(f"{path}: pictures are .png or .svg", hint="give the file one of these endings")
        data = self.png if path.suffix == ".png" else self.svg
        try:
            path.write_bytes(data)
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror})", hint="choose another file") from error
        return path

    def _repr_png_(self) -> bytes:
        return self.png

    def __repr__(self) -> str:
        return f"<floorflow.Picture {self.name}>"


class Pictures(Mapping[str, Picture]):
    """The pictures of a plan by name: ``search``, ``folding``, ``partition``, ``floorplan``, ``floorplan_fpga0``, ...

    ``floorplan`` shows all FPGAs. Nothing is drawn before it is asked for.
    """

    def __init__(self, charts: Callable[[], Mapping[str, Callable[[], Figure]]]) -> None:
        self._charts = charts

    @cached_property
    def _by_stem(self) -> dict[str, Picture]:
        return {stem: Picture(_KEYS.get(stem, stem), draw) for stem, draw in self._charts().items()}

    @cached_property
    def _by_name(self) -> dict[str, Picture]:
        named = {picture.name: picture for picture in self._by_stem.values()}
        if _ALL not in named and _FIRST in named:
            named[_ALL] = named[_FIRST]
        return named

    @property
    def files(self) -> dict[str, bytes]:
        """All pictures as ``plots/<name>.png`` and ``.svg``, drawn now."""
        files = {}
        for stem, picture in self._by_stem.items():
            files |= {f"plots/{stem}.png": picture.png, f"plots/{stem}.svg": picture.svg}
        return files

    def __getitem__(self, name: str) -> Picture:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"<floorflow.Pictures {', '.join(self)}>"


def pictures_of(plan: Mapping[str, Any], platform: Callable[[], Platform]) -> Pictures:
    """Return the pictures of a plan as plan.json holds it, on its platform; matplotlib is loaded by the first."""

    def charts() -> Mapping[str, Callable[[], Figure]]:
        from floorflow.view.pictures.files import charts

        return charts(plan, platform())

    return Pictures(charts)
