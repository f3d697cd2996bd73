"""From a pipeline to engines: three kinds, and the streams between them."""

from fractions import Fraction

from floorflow.dataflow.model import Dataflow, Engine, Stream
from toykit.model import Image, Part, ToySource

KINDS = {"lines": "LineBuffer", "filter": "Filter", "mix": "Mixer"}


def lowered(source: ToySource) -> Dataflow:
    """Return the engines and streams of a model."""
    engines = tuple(_engine(part, _tied(source, part.line.name)) for part in source.parts)
    return Dataflow(source.name, engines, tuple(_streams(source)))


def _tied(source: ToySource, name: str) -> tuple[str, ...]:
    group = next((group for group in source.ties if name in group), ())
    return tuple(other for other in group if other != name)


def _engine(part: Part, tied: tuple[str, ...]) -> Engine:
    line, image = part.line, part.taken
    attributes: dict[str, int | tuple[str, ...]] = {"rows": image.rows, "columns": image.columns}
    attributes["channels"] = image.channels
    attributes |= line.sizes | ({"streams": len(part.reads)} if line.word == "mix" else {})
    attributes |= {"tied": tied} if tied else {}
    return Engine(
        line.name,
        KINDS[line.word],
        line.name,
        attributes,
        line.sizes.get("weights", 0),
        image.bits,
        part.made.bits,
        line.folding,
        _role(part),
        _fill(part),
        "fork" if line.word == "mix" and len(part.reads) == 1 else line.word,
    )


def _role(part: Part) -> str:
    if part.line.word == "mix":
        return "front" if len(part.reads) == 2 else "behind"
    return "core" if part.line.word == "filter" else "front"


def _fill(part: Part) -> Fraction:
    """Half the rows of the window and a pixel have to be there."""
    if part.line.word != "lines":
        return Fraction(0)
    pixels = part.taken.rows * part.taken.columns
    return Fraction(min(part.line.sizes["taps"] // 2 * part.taken.columns + 1, pixels), pixels)


def _streams(source: ToySource) -> list[Stream]:
    ends = {(line.name, 0): (f"host:in{number}", 0) for number, line in enumerate(source.inputs)}
    found = []
    for part in source.parts:
        for port, end in enumerate(part.reads):
            found.append(_stream(ends.get(end, end), (part.line.name, port), part.taken))
    made = {part.line.name: part.made for part in source.parts}
    for number, end in enumerate(source.outputs):
        found.append(_stream(end, (f"host:out{number}", 0), made[end[0]]))
    return found


def _stream(source: tuple[str, int], target: tuple[str, int], image: Image) -> Stream:
    return Stream(*source, *target, image.elements, image.channels, image.bits)
