"""Compare FIFO depths with FINN's, stream by stream, and print Markdown tables.

    python benchmarks/fifo_depths.py finn_build_metafi finn_examples [finn/models]

Takes the folder of a FINN build (its graph after step_set_fifo_depths holds the depths that FINN found by simulating
the stitched design), that of published folding configurations, and that of the layer tables belonging to them.
A FIFO of FINN's on either side of a width converter counts towards the stream that the converter is in.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import onnx

from floorflow.backends.finn.attributes import Reader, bits_of
from floorflow.backends.finn.backend import BACKEND
from floorflow.backends.finn.kinds.registry import KINDS, kind_of
from floorflow.dataflow.model import Dataflow, Engine, FoldedDataflow, Option, Stream
from floorflow.rates import RateProblem, Sized, first_frame, rate_problem, size
from floorflow.resources import ZERO

FIFO, CONVERTER = "StreamingFIFO", "StreamingDataWidthConverter"
SHALLOW_WORDS = 33
ROWS = 16


@dataclass(frozen=True)
class Node:
    """A node of a FINN graph: attributes include the folding; tensors are names."""

    name: str
    kind: str
    attributes: Mapping[str, Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Queue:
    """One FIFO of FINN's."""

    depth_words: int
    width_bits: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("examples", type=Path)
    parser.add_argument("models", type=Path, nargs="?")
    chosen = parser.parse_args()
    compare("metafi (a residual CNN built by FINN)", *from_build(chosen.build))
    if chosen.models is not None:
        compare("ResNet-50 on U250 (finn-examples)", *from_example(chosen.examples, chosen.models))
        compare("MobileNet-v1 on U250 (finn-examples)", *from_chain(chosen.examples, chosen.models))


def from_build(folder: Path) -> tuple[FoldedDataflow, dict[str, list[Queue]]]:
    graph = onnx.load(folder / "3_step_set_fifo_depths.light.onnx").graph
    return folded_of([node_of(proto) for proto in graph.node], {})


def node_of(proto: onnx.NodeProto) -> Node:
    values = {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute}
    plain = {
        k: v.decode() if isinstance(v, bytes) else tuple(v) if isinstance(v, list) else v for k, v in values.items()
    }
    return Node(proto.name, proto.op_type, plain, tuple(proto.input), tuple(proto.output))


def from_example(examples: Path, models: Path) -> tuple[FoldedDataflow, dict[str, list[Queue]]]:
    """Lay the published folding over the layers; its depths stand at both ends of each stream."""
    folding = json.loads((examples / "resnet50__U250_folding_config.json").read_text())
    return folded_of(laid_over(models / "resnet50-w1a2.layers.json", folding), folding)


def from_chain(examples: Path, models: Path) -> tuple[FoldedDataflow, dict[str, list[Queue]]]:
    """Number the FIFOs of a network without branches from its input on, two beside each converter, as FINN does.

    The file lists those of more than 2 words.
    """
    folding = json.loads((examples / "mobilenet-v1__U250_folding_config.json").read_text())
    folded, _ = folded_of(laid_over(models / "mobilenetv1-w4a4-fused.layers.json", folding), {})
    queues, number = {}, 0
    for stream in folded.dataflow.streams:
        ends = [] if stream.from_outside else [folded.options[stream.source].output_widths_bits[0]]
        ends += [] if stream.to_outside else [folded.options[stream.target].input_widths_bits[0]]
        widths = ends[:1] if len(set(ends)) == 1 else ends
        depths = [folding.get(f"StreamingFIFO_rtl_{number + i}", {}).get("depth", 2) for i in range(len(widths))]
        queues[stream.channel] = [Queue(*pair) for pair in zip(depths, widths, strict=True)]
        number += len(widths)
    return folded, queues


def laid_over(table: Path, folding: Mapping[str, Any]) -> list[Node]:
    nodes = []
    for layer in json.loads(table.read_text())["nodes"]:
        attributes = {**layer["attrs"], **folding.get(layer["name"], {})}
        plain = {k: tuple(v) if isinstance(v, list) else v for k, v in attributes.items()}
        nodes.append(Node(layer["name"], layer["op_type"], plain, tuple(layer["inputs"]), tuple(layer["outputs"])))
    return nodes


def folded_of(nodes: list[Node], folding: Mapping[str, Any]) -> tuple[FoldedDataflow, dict[str, list[Queue]]]:
    """Return the engines and streams, and FINN's FIFOs by stream."""
    made = {tensor: (node, port) for node in nodes for port, tensor in enumerate(node.outputs)}
    engines = [node for node in nodes if node.kind in KINDS and not node.kind.startswith((FIFO, CONVERTER))]
    options = {node.name: option_of(node) for node in engines}
    streams, queues = [], {}
    for node in engines:
        for port, tensor in enumerate(tensor for tensor in node.inputs if streams_in(tensor, made)):
            source, source_port, fifos = upstream(tensor, made)
            elements, bits = elements_in(node), element_bits(node, port)
            name = source.name if source else "host:in0"
            stream = Stream(name, source_port, node.name, port, elements, 1, bits)
            streams.append(stream)
            ends = [options[node.name].input_widths_bits[port]]
            ends += [options[name].output_widths_bits[source_port]] if source else []
            queues[stream.channel] = fifos or at_ends(folding, stream, max(ends))
    streams += list(to_host(engines, made, nodes))
    plain = tuple(Engine(node.name, node.kind, node.name, node.attributes, 0, 0, 0) for node in engines)
    return FoldedDataflow(Dataflow("net", plain, tuple(streams)), options), queues


def streams_in(tensor: str, made: Mapping[str, tuple[Node, int]]) -> bool:
    """Whether a tensor is a stream: not a parameter."""
    return "param" not in tensor and (tensor not in made or made[tensor][0].kind != "ConstantOfShape")


def option_of(node: Node) -> Option:
    unit = kind_of(node.kind).unit(node.attributes)
    return Option({}, unit.cycles, ZERO, unit.input_widths_bits, unit.output_widths_bits)


def upstream(tensor: str, made: Mapping[str, tuple[Node, int]]) -> tuple[Node | None, int, list[Queue]]:
    """Go back over FIFOs and converters to the engine that writes a stream."""
    fifos: list[Queue] = []
    while tensor in made:
        node, port = made[tensor]
        if node.kind.startswith(FIFO):
            width = Reader(node.kind, node.attributes).sizes("folded_shape")[-1] * bits_of(node.attributes["dataType"])
            fifos.append(Queue(node.attributes["depth"], width))
        elif not node.kind.startswith(CONVERTER):
            return node, port, fifos
        tensor = node.inputs[0]
    return None, 0, fifos


def at_ends(folding: Mapping[str, Any], stream: Stream, width_bits: int) -> list[Queue]:
    """Read depths that a folding configuration gives at the two ends of a stream."""
    depths = [
        folding.get(stream.source, {}).get("outFIFODepths", [2] * 9)[stream.source_port],
        folding.get(stream.target, {}).get("inFIFODepths", [2] * 9)[stream.target_port],
    ]
    return [Queue(max(depths), width_bits)]


def to_host(engines: list[Node], made: Mapping[str, tuple[Node, int]], nodes: list[Node]) -> Iterator[Stream]:
    read = {tensor for node in nodes for tensor in node.inputs}
    by_name = {node.name for node in engines}
    for node in [*engines, *(n for n in nodes if n.kind.startswith((FIFO, CONVERTER)))]:
        for port, tensor in enumerate(node.outputs):
            if tensor not in read:
                last, last_port = (node, port) if node.name in by_name else upstream(tensor, made)[:2]
                assert last is not None
                unit = kind_of(last.kind).unit(last.attributes)
                words = elements_out(last) * unit_bits(last) // unit.output_widths_bits[last_port]
                yield Stream(last.name, last_port, "host:out0", 0, words, 1, unit.output_widths_bits[last_port])


def unit_bits(node: Node) -> int:
    return Reader(node.kind, node.attributes).bits("outputDataType")


def elements_out(node: Node) -> int:
    reader = Reader(node.kind, node.attributes)
    return reader.integer("K", 1) if node.kind.startswith("LabelSelect") else reader.pixels() * reader.integer("MH")


def elements_in(node: Node) -> int:
    """Return the elements a frame at an input of an engine."""
    reader = Reader(node.kind, node.attributes)
    kind = node.kind.rpartition("_")[0]
    if kind == "MVAU":
        return reader.pixels() * reader.integer("MW")
    if kind == "VVAU":
        return prod((*reader.pair("Dim"), *reader.pair("Kernel"))) * reader.integer("Channels")
    if kind == "ConvolutionInputGenerator":
        return prod(reader.pair("IFMDim")) * reader.integer("IFMChannels")
    if kind == "FMPadding":
        return prod(reader.pair("ImgDim")) * reader.integer("NumChannels")
    if kind == "Pool":
        return prod(reader.pair("OutImgDims")) * prod(reader.pair("KernelSize")) * reader.integer("Channels")
    if kind == "StreamingMaxPool":
        return prod(reader.pair("ImgDim")) * reader.integer("NumChannels")
    if kind == "LabelSelect":
        return reader.integer("Labels")
    return reader.pixels() * reader.integer("NumChannels")


def element_bits(node: Node, port: int) -> int:
    names = ("inputDataType", f"inputDataType{port}", "InputDataType", "dataType")
    return bits_of(next(node.attributes[name] for name in names if name in node.attributes))


def compare(title: str, folded: FoldedDataflow, finn: Mapping[str, list[Queue]]) -> None:
    started = time.perf_counter()
    problem = rate_problem(folded, known=BACKEND)
    sized = size(problem)
    first_word, first_whole = first_frame(problem, sized.depths)
    seconds = time.perf_counter() - started
    print(f"## {title}\n")
    estimate = folded.interval_cycles
    print(f"{len(folded.options)} engines, {len(problem.fifos)} streams, {problem.bursts:,} bursts, {seconds:.1f} s. ")
    print(f"Interval {sized.interval_cycles:,} cycles (FINN's estimate {estimate:,}), first word after "
          f"{first_word:,}, first frame after {first_whole:,}.\n")  # fmt: skip
    summary(problem, sized, finn)
    largest(problem, sized, finn)


def place_of(fifo_target: str, joins: set[str], shallow: bool) -> str:
    if shallow:
        return f"both at most {SHALLOW_WORDS} words"
    if fifo_target in joins:
        return "into a join"
    kind = fifo_target.rstrip("0123456789").rstrip("_")
    return f"into {kind.rpartition('_')[0] or kind}"


def summary(problem: RateProblem, sized: Sized, finn: Mapping[str, list[Queue]]) -> None:
    targets = [fifo.target for fifo in problem.fifos]
    joins = {name for name in targets if targets.count(name) > 1}
    rows: dict[str, list[int]] = {}
    for fifo in problem.fifos:
        if fifo.name in finn:
            theirs, ours = bits_of_queues(finn[fifo.name]), sized.depths[fifo.name] * fifo.width_bits
            deepest = max(*(q.depth_words for q in finn[fifo.name]), sized.depths[fifo.name])
            row = rows.setdefault(place_of(fifo.target, joins, deepest <= SHALLOW_WORDS), [0, 0, 0, 0])
            for place, value in enumerate((1, theirs, ours, ours > theirs)):
                row[place] += value
    rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    print("| streams | number | FINN, kbit | floorflow, kbit | floorflow larger |\n|---|---|---|---|---|")
    for name, (count, theirs, ours, larger) in rows.items():
        print(f"| {name} | {count} | {theirs / 1000:,.1f} | {ours / 1000:,.1f} | {larger} |")
    print()


def bits_of_queues(queues: list[Queue]) -> int:
    return sum(queue.depth_words * queue.width_bits for queue in queues)


def largest(problem: RateProblem, sized: Sized, finn: Mapping[str, list[Queue]]) -> None:
    print("| stream | bits | words a frame | FINN, words x bits | floorflow, words |\n|---|---|---|---|---|")
    known = [fifo for fifo in problem.fifos if fifo.name in finn]
    bits = {f.name: (bits_of_queues(finn[f.name]), sized.depths[f.name] * f.width_bits) for f in known}
    for fifo in sorted(known, key=lambda f: -abs(bits[f.name][0] - bits[f.name][1]))[:ROWS]:
        theirs = ", ".join(f"{queue.depth_words} x {queue.width_bits}" for queue in finn[fifo.name])
        words = problem.writes(fifo).words
        print(f"| {fifo.name} | {fifo.width_bits} | {words:,} | {theirs} | {sized.depths[fifo.name]:,} |")
    print()


if __name__ == "__main__":
    main()
