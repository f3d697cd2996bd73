"""A table that never shortens a number: where it is wider than the terminal, each row becomes a block of lines."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import measure_renderables
from rich.table import Column, Table

_PROSE_CELLS = 24
"""Width that a column of sentences has at least."""


class FittingTable(Table):
    """A table of names (left), numbers (right) and sentences, which alone may be wrapped."""

    def __init__(
        self,
        title: str,
        *,
        names: Sequence[str] = (),
        numbers: Sequence[str] = (),
        prose: Sequence[str] = (),
        caption: str | None = None,
    ) -> None:
        super().__init__(
            title=title, title_justify="left", caption=caption, caption_justify="left", box=box.SIMPLE, pad_edge=False
        )
        for heading in names:
            self.add_column(heading, no_wrap=True, overflow="fold")
        for heading in numbers:
            self.add_column(heading, justify="right", no_wrap=True, overflow="fold")
        for heading in prose:
            self.add_column(heading, overflow="fold")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Render a table, or a block of lines a row."""
        least = sum(_least_cells(column, console, options) + 3 for column in self.columns)
        if least + 1 <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        yield console.render_str(str(self.title), style="italic")
        for row in zip(*(column.cells for column in self.columns), strict=True):
            yield self._block(row)
        if self.caption:
            yield console.render_str(str(self.caption), style="dim")

    def _block(self, row: Sequence[RenderableType]) -> Table:
        """Return a row as lines of heading and cell; what is empty is left out."""
        block = Table.grid(padding=(0, 2))
        block.add_column(no_wrap=True)
        block.add_column(overflow="fold")
        for column, cell in zip(self.columns, row, strict=True):
            if cell:
                block.add_row(column.header, cell)
        block.add_row("", "")
        return block


def _least_cells(column: Column, console: Console, options: ConsoleOptions) -> int:
    """Return how wide a column must be so that nothing but a sentence is wrapped, and that between words."""
    texts = [console.render_str(str(cell)) for cell in (column.header, *column.cells)]
    measured = measure_renderables(console, options.update(width=10_000), texts)
    return measured.maximum if column.no_wrap else max(_PROSE_CELLS, measured.minimum)
