"""Random QONNX networks: chains, branches, and small ones of every shape, with odd sizes, strides and paddings."""

import random
from typing import Any

import onnx

from examples.make_models import ModelBuilder


def random_chain(seed: int) -> onnx.ModelProto:
    """Return a quantised chain that floorflow reads and lowers; equal seeds give equal models."""
    rng = random.Random(seed)
    shape = (1, rng.choice((1, 2, 3, 5)), rng.randint(5, 17), rng.randint(5, 17))
    builder = ModelBuilder(f"chain_{seed}", shape)
    bits = 8
    if rng.random() < 0.5:
        bits = rng.randint(1, 8)
        builder.scale("Mul", 2.0)
        builder.quantise(bits, narrow=rng.random() < 0.5)
    for _ in range(rng.randint(1, 4)):
        bits = _conv(builder, rng, bits)
        if rng.random() < 0.4:
            _max_pool(builder, rng)
    builder.flatten()
    for _ in range(rng.randint(0, 2)):
        builder.fully_connected(rng.randint(1, 20), rng.randint(1, 8))
        bits = _activation(builder, rng)
    builder.fully_connected(rng.randint(2, 12), rng.randint(1, 8))
    if rng.random() < 0.5:
        builder.scale("Mul", 0.5)
    return builder.model()


def _conv(builder: ModelBuilder, rng: random.Random, bits: int) -> int:
    """Append a convolution that fits, and its activation; one-bit data is never padded."""
    pads = (0, 0, 0, 0)
    if bits > 1:
        pads = (rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 2), rng.randint(0, 2))
    height, width = builder.shape[2] + pads[0] + pads[2], builder.shape[3] + pads[1] + pads[3]
    kernel = rng.randint(1, min(4, height)), rng.randint(1, min(4, width))
    strides = rng.randint(1, min(3, height)), rng.randint(1, min(3, width))
    builder.conv(rng.randint(1, 12), kernel, rng.randint(1, 8), strides=strides, pads=pads)
    return _activation(builder, rng)


def _activation(builder: ModelBuilder, rng: random.Random) -> int:
    """Append batch norm, ReLU or neither, and a quantiser; return its bits."""
    if rng.random() < 0.7:
        builder.batch_norm()
    bits = rng.randint(1, 8)
    if bits > 1 and rng.random() < 0.5:
        builder.relu()
        builder.quantise(bits, signed=False, narrow=False)
    else:
        builder.quantise(bits, narrow=rng.random() < 0.5)
    return bits


def _max_pool(builder: ModelBuilder, rng: random.Random) -> None:
    """Append a max pool that fits, without gaps between its windows."""
    kernel = rng.randint(1, min(3, builder.shape[2])), rng.randint(1, min(3, builder.shape[3]))
    builder.max_pool(kernel, (rng.randint(1, kernel[0]), rng.randint(1, kernel[1])))


def random_graph(seed: int) -> onnx.ModelProto:
    """Return a quantised network with branches that floorflow reads and lowers; equal seeds give equal models.

    Blocks are residual additions (of equal or different widths, with or without quantisers), concats, depthwise
    layers, pools, padding and upsampling; some networks have two inputs or two outputs.
    """
    rng = random.Random(seed)
    size = rng.randint(6, 14)
    shape = (1, rng.choice((1, 2, 3, 5)), size, size if rng.random() < 0.5 else rng.randint(6, 14))
    builder = ModelBuilder(f"graph_{seed}", shape)
    _unsigned(builder, rng)
    if rng.random() < 0.2:
        _second_input(builder, rng)
    for _ in range(rng.randint(1, 4)):
        rng.choice(_BLOCKS)(builder, rng)
    head = _head if rng.random() < 0.8 else _two_heads
    return head(builder, rng)


def _unsigned(builder: ModelBuilder, rng: random.Random) -> None:
    """Append an unsigned quantiser of 2 to 8 bits, which padding and pools can stand behind."""
    builder.quantise(rng.randint(2, 8), signed=False, narrow=False)


def _rectified(builder: ModelBuilder, rng: random.Random) -> None:
    """Append batch norm or not, ReLU or ReLU6, and an unsigned quantiser."""
    if rng.random() < 0.6:
        builder.batch_norm()
    if rng.random() < 0.7:
        builder.relu()
    else:
        builder.tensor = builder.node("Clip", [builder.tensor, builder.constant(0.0), builder.constant(6.0)])
    _unsigned(builder, rng)


def _second_input(builder: ModelBuilder, rng: random.Random) -> None:
    first = builder.tensor
    builder.inputs.append(onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, list(builder.shape)))
    builder.tensor = "y"
    _unsigned(builder, rng)
    builder.add(first)
    _unsigned(builder, rng)


def _plain(builder: ModelBuilder, rng: random.Random) -> None:
    _same_size_conv(builder, rng, rng.randint(1, 9))
    _rectified(builder, rng)


def _same_size_conv(builder: ModelBuilder, rng: random.Random, channels: int) -> None:
    """Append a convolution that keeps height and width."""
    kernel = rng.choice((1, 3)), rng.choice((1, 3))
    pads = kernel[0] // 2, kernel[1] // 2, kernel[0] // 2, kernel[1] // 2
    builder.conv(channels, kernel, rng.randint(1, 8), pads=pads)


def _residual(builder: ModelBuilder, rng: random.Random) -> None:
    """Append two or three branches and their sum, quantised before, behind, or read as they are by a ReLU."""
    start, shape = builder.tensor, builder.shape
    channels = rng.randint(1, 9)
    ends = [start] if channels == shape[1] or rng.random() < 0.5 else []
    channels = shape[1] if ends else channels
    shared = rng.randint(2, 6) if rng.random() < 0.5 else 0
    while len(ends) < 2 or rng.random() < 0.15:
        builder.tensor, builder.shape = start, shape
        _same_size_conv(builder, rng, channels)
        if shared:
            builder.relu()
            builder.quantise(shared, signed=False, narrow=False)
        elif rng.random() < 0.4:
            _rectified(builder, rng)
        elif rng.random() < 0.3:
            builder.relu()
        ends.append(builder.tensor)
    rng.shuffle(ends)
    builder.tensor = builder.node("Add" if len(ends) == 2 else "Sum", ends)
    if rng.random() < 0.5:
        builder.relu()
    _unsigned(builder, rng)


def _joined(builder: ModelBuilder, rng: random.Random) -> None:
    """Append branches and their concat, quantised before or behind it, sometimes with a pool in between."""
    start, shape = builder.tensor, builder.shape
    before, ends, channels = rng.random() < 0.5, [], 0
    for _ in range(rng.randint(2, 3)):
        builder.tensor, builder.shape = start, shape
        _same_size_conv(builder, rng, rng.randint(1, 6))
        if before:
            _rectified(builder, rng)
        elif rng.random() < 0.8:
            builder.relu()
        ends.append(builder.tensor)
        channels += builder.shape[1]
    if rng.random() < 0.3:
        ends, channels = [*ends, start], channels + shape[1]
    builder.tensor, builder.shape = builder.node("Concat", ends, axis=1), (1, channels, *shape[2:])
    builder.relu()
    if rng.random() < 0.3:
        builder.max_pool((3, 3), (1, 1), (1, 1, 1, 1))
    _unsigned(builder, rng)


def _depthwise(builder: ModelBuilder, rng: random.Random) -> None:
    channels = builder.shape[1]
    strides = (2, 2) if min(builder.shape[2:]) > 3 and rng.random() < 0.5 else (1, 1)
    builder.conv(channels, (3, 3), rng.randint(2, 8), strides=strides, pads=(1, 1, 1, 1), group=channels)
    _rectified(builder, rng)


def _pooled(builder: ModelBuilder, rng: random.Random) -> None:
    """Append a max or average pool of any kind."""
    kernel = rng.randint(1, min(3, builder.shape[2])), rng.randint(1, min(3, builder.shape[3]))
    strides = rng.randint(1, kernel[0]), rng.randint(1, kernel[1])
    kind = rng.randrange(3)
    if kind == 0:
        pads = (kernel[0] // 2, kernel[1] // 2, kernel[0] // 2, kernel[1] // 2)
        builder.max_pool(kernel, strides, pads)
    elif kind == 1:
        builder.average_pool(kernel, strides)
        _unsigned(builder, rng)
    else:
        builder.average_pool((kernel[0],) * 2 if max(kernel) < 3 else (2, 2), (1, 1), truncated_bits=rng.randint(2, 4))


def _padded(builder: ModelBuilder, rng: random.Random) -> None:
    """Append a Pad, and a convolution that pads some more."""
    amounts = [0, 0, rng.randint(0, 1), 1, 0, 0, 1, rng.randint(0, 2)]
    name = f"pads_{'_'.join(str(amount) for amount in amounts)}"
    builder.initialisers[name] = onnx.helper.make_tensor(name, onnx.TensorProto.INT64, [8], amounts)
    builder.tensor = builder.node("Pad", [builder.tensor, name])
    height, width = builder.shape[2] + amounts[2] + amounts[6], builder.shape[3] + amounts[3] + amounts[7]
    builder.shape = (1, builder.shape[1], height, width)
    _plain(builder, rng)


def _upsampled(builder: ModelBuilder, rng: random.Random) -> None:
    """Append a nearest-neighbour Resize of a small square image, else a convolution."""
    if builder.shape[2] != builder.shape[3] or builder.shape[2] > 8:
        _plain(builder, rng)
        return
    builder.initialisers["twice"] = onnx.helper.make_tensor("twice", onnx.TensorProto.FLOAT, [4], [1, 1, 2, 2])
    modes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    builder.tensor = builder.node("Resize", [builder.tensor, "", "twice"], **modes)
    builder.shape = (1, builder.shape[1], 2 * builder.shape[2], 2 * builder.shape[3])


_BLOCKS = (_plain, _residual, _residual, _joined, _joined, _depthwise, _pooled, _padded, _upsampled)


def _head(builder: ModelBuilder, rng: random.Random) -> onnx.ModelProto:
    """Append a global average or flattening, and a layer."""
    if rng.random() < 0.5:
        builder.tensor = builder.node("ReduceMean", [builder.tensor], axes=[2, 3], keepdims=0)
        builder.shape = (1, builder.shape[1])
        _unsigned(builder, rng)
    else:
        builder.flatten()
    builder.fully_connected(rng.randint(2, 9), rng.randint(1, 8))
    return builder.model()


def _two_heads(builder: ModelBuilder, rng: random.Random) -> onnx.ModelProto:
    """Append a head, and a convolution that leaves the network beside it."""
    start, shape = builder.tensor, builder.shape
    builder.conv(rng.randint(1, 5), (1, 1), rng.randint(1, 8))
    second = onnx.helper.make_tensor_value_info(builder.tensor, onnx.TensorProto.FLOAT, list(builder.shape))
    builder.tensor, builder.shape = start, shape
    model = _head(builder, rng)
    model.graph.output.append(second)
    return model


def random_residual(seed: int) -> onnx.ModelProto:
    """Return a small residual network like ResNet-18, which can fill a slot of any board; equal seeds, equal models."""
    rng = random.Random(seed)
    size, channels, bits = rng.choice((8, 12, 16)), rng.choice((8, 16, 32)), rng.randint(2, 4)
    builder = ModelBuilder(f"residual_{seed}", (1, 3, size, size))
    builder.quantise(8, narrow=False)
    builder.conv(channels, (3, 3), bits, pads=(1, 1, 1, 1))
    builder.activation(bits)
    for _ in range(rng.randint(2, 4)):
        wider = rng.random() < 0.5 and channels < 64
        channels = 2 * channels if wider else channels
        _basic_block(builder, channels, bits, (2, 2) if wider else (1, 1))
    builder.flatten()
    builder.fully_connected(10, bits)
    return builder.model()


def _basic_block(builder: ModelBuilder, channels: int, bits: int, strides: tuple[int, int]) -> None:
    """Append two 3x3 convolutions, added to the input or to a 1x1 convolution of it."""
    skip, shape = builder.tensor, builder.shape
    builder.conv(channels, (3, 3), bits, strides=strides, pads=(1, 1, 1, 1))
    builder.activation(bits)
    builder.conv(channels, (3, 3), bits, pads=(1, 1, 1, 1))
    builder.activation(bits)
    main, builder.tensor = builder.tensor, skip
    if channels != shape[1]:
        builder.shape = shape
        builder.conv(channels, (1, 1), bits, strides=strides)
        builder.activation(bits)
    builder.add(main)
    builder.quantise(bits, signed=False, narrow=False)


Start = tuple[ModelBuilder, random.Random]


class _SquareBuilder(ModelBuilder):
    """Builds windows as high as they are wide, as layered back ends have them."""

    def conv(self, channels: int, kernel: tuple[int, int], bits: int, **options: Any) -> None:
        size, stride = min(kernel), min(options.get("strides", (1, 1)))
        pads = (size // 2,) * 4 if any(options.get("pads", ())) else (0, 0, 0, 0)
        super().conv(channels, (size, size), bits, strides=(stride, stride), pads=pads, group=options.get("group", 1))


def random_small(seed: int, *, square: bool = False) -> onnx.ModelProto:
    """Return a network of at most ten layers, of one of `FORMS` in turn; equal seeds give equal models.

    ``square``: of the forms whose windows can be as high as they are wide, and with such alone.
    """
    if square:
        return SQUARE_FORMS[seed % len(SQUARE_FORMS)](seed, _SquareBuilder)
    return FORMS[seed % len(FORMS)](seed, ModelBuilder)


def _start(seed: int, make: type[ModelBuilder], shape: tuple[int, ...]) -> Start:
    rng = random.Random(seed)
    builder = make(f"small_{seed}", shape)
    _unsigned(builder, rng)
    return builder, rng


def _image(seed: int, make: type[ModelBuilder]) -> Start:
    sizes = random.Random(seed)
    size = sizes.randint(4, 12)
    return _start(seed, make, (1, sizes.choice((1, 3, 4)), size, size))


def _ends_in_sum(seed: int, make: type[ModelBuilder]) -> onnx.ModelProto:
    """Return a network whose last layer adds: branches of convolutions, or of fully connected layers."""
    builder, rng = _image(seed, make)
    _plain(builder, rng)
    flat = rng.random() < 0.4
    if flat:
        builder.flatten()
    start, shape, channels = (
        builder.tensor,
        builder.shape,
        builder.shape[1] if rng.random() < 0.5 else rng.randint(2, 8),
    )
    ends = [start] if channels == shape[1] and not flat and rng.random() < 0.7 else []
    bits = rng.randint(2, 8)
    while len(ends) < 2:
        builder.tensor, builder.shape = start, shape
        if flat:
            builder.fully_connected(channels, rng.randint(2, 8))
        else:
            _same_size_conv(builder, rng, channels)
        builder.quantise(bits, narrow=False)
        ends.append(builder.tensor)
    builder.tensor = builder.node("Add", ends)
    if rng.random() < 0.4:
        builder.relu()
        _unsigned(builder, rng)
    return builder.model()


def _ends_in_concat(seed: int, make: type[ModelBuilder]) -> onnx.ModelProto:
    """Return a network whose last layer joins two or three branches side by side."""
    builder, rng = _image(seed, make)
    _plain(builder, rng)
    start, shape, ends, channels = builder.tensor, builder.shape, [], 0
    bits = rng.randint(2, 8)
    for _ in range(rng.randint(2, 3)):
        builder.tensor, builder.shape = start, shape
        _same_size_conv(builder, rng, rng.randint(1, 6))
        builder.relu()
        builder.quantise(bits, signed=False, narrow=False)
        ends.append(builder.tensor)
        channels += builder.shape[1]
    builder.tensor, builder.shape = builder.node("Concat", ends, axis=1), (1, channels, *shape[2:])
    return builder.model()


def _tape(seed: int, make: type[ModelBuilder]) -> onnx.ModelProto:
    """Return layers beside which a tape runs: each reads what all before it wrote, or adds to it."""
    builder, rng = _image(seed, make)
    _plain(builder, rng)
    grows, bits = rng.random() < 0.5, rng.randint(2, 6)
    builder.quantise(bits, signed=False, narrow=False)
    for _ in range(rng.randint(2, 3)):
        tape, shape = builder.tensor, builder.shape
        _same_size_conv(builder, rng, rng.randint(1, 4) if grows else shape[1])
        builder.relu()
        builder.quantise(bits, signed=False, narrow=False)
        if grows:
            builder.concat(tape, shape[1])
        else:
            builder.add(tape)
            builder.quantise(bits, signed=False, narrow=False)
    return builder.model() if rng.random() < 0.5 else _head(builder, rng)


def _heads(seed: int, make: type[ModelBuilder]) -> onnx.ModelProto:
    """Return a network that ends twice."""
    builder, rng = _image(seed, make)
    rng.choice((_plain, _residual, _joined))(builder, rng)
    return _two_heads(builder, rng)


def _sequence(seed: int, make: type[ModelBuilder]) -> onnx.ModelProto:
    """Return convolutions over one dimension: of images of one column, or of one row."""
    sizes = random.Random(seed)
    upright, length = sizes.random() < 0.5, sizes.randint(8, 40)
    builder, rng = _start(seed, make, (1, sizes.randint(1, 6), *((length, 1) if upright else (1, length))))
    for _ in range(rng.randint(1, 3)):
        extent = builder.shape[2] if upright else builder.shape[3]
        kernel, stride, pad = rng.randint(1, min(5, extent)), rng.randint(1, 2), rng.randint(0, 2)
        window = (
            ((kernel, 1), (stride, 1), (pad, 0, pad, 0)) if upright else ((1, kernel), (1, stride), (0, pad, 0, pad))
        )
        builder.conv(rng.randint(1, 8), window[0], rng.randint(1, 8), strides=window[1], pads=window[2])
        _rectified(builder, rng)
    return _head(builder, rng)


def _odd_kernels(seed: int, make: type[ModelBuilder]) -> onnx.ModelProto:
    """Return convolutions with kernels such as 5x1, 2x4 and 7x7, and strides that leave pixels over."""
    builder, rng = _image(seed, make)
    for _ in range(rng.randint(1, 3)):
        height, width = builder.shape[2:]
        kernel = rng.randint(1, min(7, height)), rng.randint(1, min(7, width))
        pads = (rng.randint(0, kernel[0] - 1), rng.randint(0, kernel[1] - 1), kernel[0] // 2, 0)
        builder.conv(
            rng.randint(1, 8), kernel, rng.randint(1, 8), strides=(rng.randint(1, 3), rng.randint(1, 3)), pads=pads
        )
        _rectified(builder, rng)
    return _head(builder, rng)


def _chain(seed: int, _make: type[ModelBuilder]) -> onnx.ModelProto:
    return random_chain(seed)


def _graph(seed: int, _make: type[ModelBuilder]) -> onnx.ModelProto:
    return random_graph(seed)


SQUARE_FORMS = (_ends_in_sum, _ends_in_concat, _tape, _heads)
FORMS = (*SQUARE_FORMS, _chain, _graph, _sequence, _odd_kernels)
"""Kinds of small networks: ends in joins, tapes, two heads, chains, blocks of all kinds, one dimension, odd kernels."""
