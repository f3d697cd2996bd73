"""Make the networks of two papers as float ONNX, layer by layer: of SAMO's Table III, and of f-CNN^x' Table I.

    python examples/make_zoo.py [FOLDER [FOLDER]]

Weights are ConstantOfShape nodes: floorflow plans from shapes alone. SAMO's ResNet-50 is `resnet50_w1a2.onnx`, above.
f-CNN^x maps feature extractors alone: convolutions, ReLU and pools, so that its networks end with the last of these.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

OPSET, IR_VERSION = 13, 8
MOBILENET = (64, 128, -128, 256, -256, 512, -512, -512, -512, -512, -512, 1024, -1024)
"""Output channels of MobileNet-v1's pairs of layers: the depthwise one has stride 2, or 1 where they are negative."""
VGG11 = ((64,), (128,), (256, 256), (512, 512), (512, 512))
"""Output channels of VGG11's convolutions; a 2x2 max pool follows each group."""
VGG16 = ((64, 64), (128, 128), (256, 256, 256), (512, 512, 512), (512, 512, 512))
"""The same of VGG16."""


class ZooBuilder:
    """A chain of float layers with names conv1, conv1_relu, pool1, ip1, ...; ``shape`` is the feature map so far."""

    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        self.name, self.tensor, self.shape = name, "x", shape
        self.first = [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))]
        self.nodes: list[onnx.NodeProto] = []
        self.shapes: dict[str, onnx.TensorProto] = {}
        self._count = {"conv": 0, "pool": 0, "ip": 0}

    def _append(self, op_type: str, name: str, more: tuple[str, ...] = (), **attributes: Any) -> None:
        output = f"{name}_out"
        self.nodes.append(helper.make_node(op_type, [self.tensor, *more], [output], name, **attributes))
        self.tensor = output

    def _parameter(self, name: str, shape: tuple[int, ...]) -> str:
        """Return a tensor of equal values that needs no room in the file."""
        target = "shape_" + "x".join(map(str, shape))
        self.shapes[target] = helper.make_tensor(target, TensorProto.INT64, [len(shape)], list(shape))
        filling = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.5])
        self.nodes.append(helper.make_node("ConstantOfShape", [target], [name], f"{name}_filling", value=filling))
        return name

    def _named(self, kind: str) -> str:
        self._count[kind] += 1
        return f"{kind}{self._count[kind]}"

    def conv(self, channels: int, kernel: int, *, relu: bool, stride: int = 1, pad: int = 0, **other: Any) -> None:
        """Append a convolution; ``groups`` and ``bias`` may be given."""
        name, groups = self._named("conv"), other.get("groups", 1)
        weights = self._parameter(f"{name}_weight", (channels, self.shape[1] // groups, kernel, kernel))
        bias = (self._parameter(f"{name}_bias", (channels,)),) if other.get("bias", True) else ()
        sizes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4, "group": groups}
        self._append("Conv", name, (weights, *bias), **sizes)
        self.shape = (1, channels, *((size + 2 * pad - kernel) // stride + 1 for size in self.shape[2:]))
        if relu:
            self._append("Relu", f"{name}_relu")

    def max_pool(self) -> None:
        """Append a 2x2 max pool."""
        self._append("MaxPool", self._named("pool"), kernel_shape=[2, 2], strides=[2, 2])
        self.shape = (*self.shape[:2], self.shape[2] // 2, self.shape[3] // 2)

    def caffe_pool(self, kernel: int) -> None:
        """Append a max pool of stride 2 as Caffe has it: a last window may hang over the edge."""
        sizes = {"kernel_shape": [kernel] * 2, "strides": [2, 2], "ceil_mode": 1}
        self._append("MaxPool", self._named("pool"), **sizes)
        self.shape = (*self.shape[:2], *(-(-(size - kernel) // 2) + 1 for size in self.shape[2:]))

    def average(self) -> None:
        """Append an average over all pixels."""
        self._append("GlobalAveragePool", self._named("pool"))
        self.shape = (*self.shape[:2], 1, 1)

    def dense(self, neurons: int, *, relu: bool = False) -> None:
        """Append a fully connected layer, flattened before if need be."""
        if len(self.shape) > 2:
            self._append("Flatten", "flatten")
            self.shape = (1, self.shape[1] * self.shape[2] * self.shape[3])
        name = self._named("ip")
        weights = self._parameter(f"{name}_weight", (neurons, self.shape[1]))
        self._append("Gemm", name, (weights, self._parameter(f"{name}_bias", (neurons,))), transB=1)
        self.shape = (1, neurons)
        if relu:
            self._append("Relu", f"{name}_relu")

    def model(self) -> onnx.ModelProto:
        """Return the chain as a model."""
        last = helper.make_tensor_value_info(self.tensor, TensorProto.FLOAT, list(self.shape))
        graph = helper.make_graph(self.nodes, self.name, self.first, [last], list(self.shapes.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="floorflow")
        model.ir_version = IR_VERSION
        return model


def three_layer() -> onnx.ModelProto:
    """Return hls4ml's network for jet tagging: four dense layers, three of them hidden."""
    builder = ZooBuilder("three_layer", (1, 16))
    for neurons in (64, 32, 32):
        builder.dense(neurons, relu=True)
    builder.dense(5)
    return builder.model()


def mpcnn() -> onnx.ModelProto:
    """Return MPCNN, for gestures: 32x32 grey images."""
    builder = ZooBuilder("mpcnn", (1, 1, 32, 32))
    for _ in range(2):
        builder.conv(20, 5, relu=False)
        builder.max_pool()
    builder.conv(20, 3, relu=False)
    builder.dense(300)
    builder.dense(6)
    return builder.model()


def tfc() -> onnx.ModelProto:
    """Return FINN's TFC, for MNIST."""
    builder = ZooBuilder("tfc", (1, 784))
    for _ in range(3):
        builder.dense(64, relu=True)
    builder.dense(10)
    return builder.model()


def lenet() -> onnx.ModelProto:
    """Return LeNet as Caffe has it, for MNIST."""
    builder = ZooBuilder("lenet", (1, 1, 28, 28))
    for channels in (20, 50):
        builder.conv(channels, 5, relu=False)
        builder.max_pool()
    builder.dense(500, relu=True)
    builder.dense(10)
    return builder.model()


def cnv() -> onnx.ModelProto:
    """Return FINN's CNV, for CIFAR-10."""
    builder = ZooBuilder("cnv", (1, 3, 32, 32))
    for number, channels in enumerate((64, 64, 128, 128, 256, 256)):
        builder.conv(channels, 3, relu=True)
        if number in {1, 3}:
            builder.max_pool()
    for _ in range(2):
        builder.dense(512, relu=True)
    builder.dense(10)
    return builder.model()


def vgg11() -> onnx.ModelProto:
    """Return VGG11, for ImageNet; without ReLU behind dense layers, as SAMO's table has it."""
    builder = ZooBuilder("vgg11", (1, 3, 224, 224))
    for group in VGG11:
        for channels in group:
            builder.conv(channels, 3, relu=True, pad=1)
        builder.max_pool()
    for neurons in (4096, 4096, 1000):
        builder.dense(neurons)
    return builder.model()


def mobilenet_v1() -> onnx.ModelProto:
    """Return MobileNet-v1, for ImageNet: convolutions without bias."""
    builder = ZooBuilder("mobilenet_v1", (1, 3, 224, 224))
    builder.conv(32, 3, relu=True, stride=2, pad=1, bias=False)
    for number, signed in enumerate(MOBILENET):
        channels = builder.shape[1]
        stride = 1 if number == 0 or signed < 0 else 2
        builder.conv(channels, 3, relu=True, stride=stride, pad=1, groups=channels, bias=False)
        builder.conv(abs(signed), 1, relu=True, bias=False)
    builder.average()
    builder.dense(1000)
    return builder.model()


def lenet5() -> onnx.ModelProto:
    """Return the feature extractor of Caffe's LeNet-5, for MNIST."""
    builder = ZooBuilder("lenet5", (1, 1, 28, 28))
    for channels in (20, 50):
        builder.conv(channels, 5, relu=False)
        builder.caffe_pool(2)
    return builder.model()


def cifar10() -> onnx.ModelProto:
    """Return the feature extractor of Caffe's network for CIFAR-10; two of its pools average there."""
    builder = ZooBuilder("cifar10", (1, 3, 32, 32))
    for channels in (32, 32, 64):
        builder.conv(channels, 5, relu=True, pad=2)
        builder.caffe_pool(3)
    return builder.model()


def pilotnet() -> onnx.ModelProto:
    """Return the feature extractor of PilotNet, for steering, at 66x200 as NVIDIA published it."""
    builder = ZooBuilder("pilotnet", (1, 3, 66, 200))
    for channels in (24, 36, 48):
        builder.conv(channels, 5, relu=True, stride=2)
    for _ in range(2):
        builder.conv(64, 3, relu=True)
    return builder.model()


def zfnet() -> onnx.ModelProto:
    """Return the feature extractor of ZFNet, for ImageNet, without local response normalisation."""
    builder = ZooBuilder("zfnet", (1, 3, 224, 224))
    builder.conv(96, 7, relu=True, stride=2, pad=1)
    builder.caffe_pool(3)
    builder.conv(256, 5, relu=True, stride=2)
    builder.caffe_pool(3)
    for channels in (384, 384, 256):
        builder.conv(channels, 3, relu=True, pad=1)
    return builder.model()


def scenelabelcnn() -> onnx.ModelProto:
    """Return the feature extractor of SceneLabelCNN (Cavigelli et al., DAC 2015) at 320x240."""
    builder = ZooBuilder("scenelabelcnn", (1, 3, 240, 320))
    for channels in (16, 64):
        builder.conv(channels, 7, relu=True)
        builder.caffe_pool(2)
    builder.conv(256, 7, relu=True)
    return builder.model()


def vgg16() -> onnx.ModelProto:
    """Return the feature extractor of VGG16, for ImageNet."""
    builder = ZooBuilder("vgg16", (1, 3, 224, 224))
    for group in VGG16:
        for channels in group:
            builder.conv(channels, 3, relu=True, pad=1)
        builder.caffe_pool(2)
    return builder.model()


ZOO = (three_layer, mpcnn, tfc, lenet, cnv, vgg11, mobilenet_v1)
SEVERAL = (lenet5, cifar10, pilotnet, zfnet, scenelabelcnn, vgg16)
"""The networks that f-CNN^x runs several of at once."""


def main(zoo: Path, several: Path) -> None:
    """Write all networks."""
    for folder, networks in ((zoo, ZOO), (several, SEVERAL)):
        folder.mkdir(parents=True, exist_ok=True)
        for make in networks:
            _write(make, folder)


def _write(make: Callable[[], onnx.ModelProto], folder: Path) -> None:
    (folder / f"{make.__name__}.onnx").write_bytes(make().SerializeToString(deterministic=True))


if __name__ == "__main__":
    given, beside = [Path(word) for word in sys.argv[1:]], Path(__file__).parent
    main(*given, *(beside / "zoo", beside / "several")[len(given) :])
