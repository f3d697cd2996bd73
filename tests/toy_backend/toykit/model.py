"""From lines to a pipeline: shapes of streams, what joins what, and what is tied."""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from floorflow.errors import InputError
from floorflow.network import Network
from floorflow.network.model import Operation
from toykit.lines import Line, lines_of


@dataclass(frozen=True)
class Image:
    """What a stream carries in a frame."""

    rows: int
    columns: int
    channels: int
    bits: int

    @property
    def elements(self) -> int:
        return self.rows * self.columns * self.channels


@dataclass(frozen=True)
class Part:
    """One engine to be: its line, the streams (producer, port) at its inputs, and what it reads and writes."""

    line: Line
    reads: tuple[tuple[str, int], ...]
    taken: Image
    made: Image


@dataclass
class ToySource:
    """A model file as it was read."""

    path: Path
    sha256: str
    name: str = ""
    inputs: list[Line] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    outputs: list[tuple[str, int]] = field(default_factory=list)
    ties: list[tuple[str, ...]] = field(default_factory=list)
    streams: dict[tuple[str, int], Image] = field(default_factory=dict)
    """Streams that nothing reads yet, by producer and port."""

    @property
    def network(self) -> Network:
        """The operations, for people."""
        operations = tuple(
            Operation(p.line.name, p.line.word, tuple(s for s, _ in p.reads), (p.line.name,), {}, _macs(p))
            for p in self.parts
        )
        inputs = tuple(line.name for line in self.inputs)
        return Network(self.name, inputs, tuple(name for name, _ in self.outputs), operations, ())


def _macs(part: Part) -> int:
    return part.taken.elements * part.made.channels if part.line.word == "filter" else 0


def read(path: Path) -> ToySource:
    """Read a model file.

    Raises
    ------
    InputError
        With file and line, if it is no pipeline.

    """
    lines = list(lines_of(path))
    source = ToySource(path, sha256(path.read_bytes()).hexdigest())
    for line in lines:
        _add(source, line)
    if not (source.name and source.parts and source.outputs):
        raise InputError(f"{path}: lacks a network, an engine or an output line", "add what is missing")
    if source.streams:
        name, port = next(iter(source.streams))
        raise InputError(f"{path}: nothing reads {name}.{port}", f"add a line 'output {name}.{port}'")
    return source


def _add(source: ToySource, line: Line) -> None:
    match line.word:
        case "network":
            source.name = line.name
        case "input":
            _unknown(source, line)
            source.inputs.append(line)
            source.streams[line.name, 0] = Image(**line.sizes)
        case "output":
            source.outputs.append(_taken(source, line, line.name, *line.sources)[0])
        case "tie":
            source.ties.append(_tie(source, line))
        case _:
            _unknown(source, line)
            _part(source, line)


def _unknown(source: ToySource, line: Line) -> None:
    if line.name in {*(part.line.name for part in source.parts), *(i.name for i in source.inputs)}:
        raise line.wrong("the name is taken", "give each line a name of its own")


def _part(source: ToySource, line: Line) -> None:
    most = 2 if line.word == "mix" else 1
    if not 1 <= len(line.sources) <= most:
        raise line.wrong(f"it reads {len(line.sources)} streams", f"a {line.word} reads 1{' or 2' * (most - 1)}")
    found = [_taken(source, line, name) for name in line.sources]
    images = [image for _, image in found]
    if len(set(images)) > 1:
        raise line.wrong(f"it mixes {images[0]} with {images[1]}", "mix streams of one shape and as many bits")
    made = _made(line, images[0], len(images))
    source.parts.append(Part(line, tuple(end for end, _ in found), images[0], made))
    for port in range(line.sizes.get("copies", 1)):
        source.streams[line.name, port] = made


def _taken(source: ToySource, line: Line, name: str, *more: str) -> tuple[tuple[str, int], Image]:
    producer, _, port = name.partition(".")
    end = (producer, int(port) if port.isdecimal() else 0)
    if more or end not in source.streams:
        raise line.wrong(
            f"there is no stream {name} to read", "name an earlier line; a stream is read once: mix copies=2 forks it"
        )
    return end, source.streams.pop(end)


def _made(line: Line, image: Image, inputs: int) -> Image:
    if line.word == "lines":
        if line.sizes["taps"] % 2 == 0:
            raise line.wrong(f"taps={line.sizes['taps']} is even", "give an odd number of rows")
        return Image(image.rows, image.columns, image.channels * line.sizes["taps"], image.bits)
    if line.word == "filter":
        return Image(image.rows, image.columns, line.sizes["outputs"], image.bits)
    if line.sizes["copies"] > 2:
        raise line.wrong("it has more than two copies", "copy a copy")
    return Image(image.rows, image.columns, image.channels, image.bits + inputs - 1)


def _tie(source: ToySource, line: Line) -> tuple[str, ...]:
    names = (line.name, *line.sources)
    filters = {part.line.name for part in source.parts if part.line.word == "filter"}
    tied = {name for group in source.ties for name in group}
    wrong = [name for name in names if name not in filters or name in tied]
    if wrong or len(set(names)) < 2:
        raise line.wrong(f"{wrong[0] if wrong else line.name} cannot be tied", "tie earlier filters, each once")
    return names
