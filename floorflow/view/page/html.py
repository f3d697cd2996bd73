"""Elements of HTML as text: what is no `Html` yet is escaped, so that names are never more than names."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

_UNBROKEN = re.compile(r"(?<![^\s(])--[a-z][a-z-]*|-&gt;")
_VOID = {"img", "meta", "rect"}
_ONE_LINE = 22
"""Characters of a cell that is not broken."""


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *inside: str, **attributes: str | int | None) -> Html:
    """Return an element; names of attributes may end in ``_`` and have it for ``-``, None is left out."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value is not None}
    own = "".join(f' {name}="{escape(str(value))}"' for name, value in named.items())
    return Html(f"<{tag}{own}/>" if tag in _VOID else f"<{tag}{own}>{joined(inside)}</{tag}>")


def joined(parts: Iterable[str], between: str = "") -> Html:
    """Return parts one after another."""
    return Html(between.join(part if isinstance(part, Html) else _text(part) for part in parts))


def _text(text: str) -> str:
    """Return text as HTML, in which no option and no arrow is broken over two lines."""
    return _UNBROKEN.sub(r'<span class="s">\g<0></span>', escape(text, quote=False))


def in_box(label: str, *inside: str, class_: str = "box") -> Html:
    """Return what may be wider than the page in a box of its own, in which it is scrolled, by the keyboard too."""
    return element("div", *inside, class_=class_, tabindex=0, role="region", aria_label=label)


def table(
    label: str, heading: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: str = "", of_rows: Iterable[str] = ()
) -> Html:
    """Return a table in a box; ``numbers`` has an ``n`` for each column that is aligned to the right.

    ``of_rows``: attributes of each row, as text of HTML.
    """
    kinds = [' class="n"' if kind == "n" else "" for kind in numbers.ljust(len(heading))]
    head = joined(
        Html(f'<th scope="col"{kind}>{joined([text])}</th>') for kind, text in zip(kinds, heading, strict=True)
    )
    more = iter(of_rows)
    lines = [
        f"<tr{next(more, '')}>"
        + "".join(f"<td{kind or _short(cell)}>{joined([cell])}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for row in rows
    ]
    body = Html("\n".join(lines))
    return in_box(label, element("table", element("thead", element("tr", head)), element("tbody", body)))


def _short(cell: str) -> str:
    """Return the class of a cell that is kept in one line."""
    return ' class="s"' if isinstance(cell, Html) or len(cell) <= _ONE_LINE else ""


def document(title: str, body: Html, *, script: str = "", images: bool = False) -> str:
    """Return a whole file: style and script are known by their digests, ``images`` are in it, all else is refused."""
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    known = {"style-src": style} | ({"script-src": script} if script else {})
    rules = [f"{name} 'sha256-{_digest(text)}'" for name, text in known.items()] + ["img-src data:"] * images
    policy = "; ".join(["default-src 'none'", *rules, "base-uri 'none'", "form-action 'none'"])
    head = joined([
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        Html(f"<style>{style}</style>"),
    ], "\n")  # fmt: skip
    end = f"\n<script>{script}</script>" if script else ""
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}{end}\n</body></html>\n'


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def listed(sentences: Iterable[str]) -> Html:
    """Return sentences as a list; nothing where there are none."""
    items = [element("li", sentence) for sentence in sentences]
    return element("ul", *items) if items else Html("")


def bar(share: float, limit: float = 1.0) -> Html:
    """Return a bar of a share of what there is, with a tick at the limit; the number stands beside it."""
    used, most = f"{min(max(share, 0.0), 1.0):.1%}", f"{min(limit, 0.985):.1%}"
    tick = f'<rect class="tick" x="{most}" width="2" height="10"/>' if limit < 1 else ""
    over = " over" if share > limit + 1e-9 else ""
    return Html(
        f'<svg class="bar" aria-hidden="true"><rect class="used{over}" width="{used}" height="10"/>{tick}</svg>'
    )
