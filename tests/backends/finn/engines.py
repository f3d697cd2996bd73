"""Small engines of every kind that folds, for the tests of options."""

from floorflow.dataflow.model import Engine

WEIGHTED = {
    "inputDataType": "UINT4",
    "weightDataType": "INT3",
    "outputDataType": "UINT4",
    "accDataType": "INT14",
    "noActivation": 0,
}
BARE = {**WEIGHTED, "noActivation": 1, "outputDataType": "INT14", "weightDataType": "INT8"}

EVERY_PIXEL = {"Stride": (1, 1), "Dilation": (1, 1)}


def engine(kind: str, **attributes: object) -> Engine:
    return Engine("unit", kind, "operation", attributes, 0, 0, 0)


ENGINES = (
    engine("MVAU_hls", MW=24, MH=12, numInputVectors=(1, 5, 5), **WEIGHTED),
    engine("MVAU_hls", MW=36, MH=8, **{**WEIGHTED, "weightDataType": "BIPOLAR", "outputDataType": "BIPOLAR"}),
    engine("MVAU_rtl", MW=24, MH=12, numInputVectors=(1, 5, 5), **BARE),
    engine("VVAU_hls", Channels=12, Kernel=(3, 3), Dim=(6, 6), **WEIGHTED),
    engine(
        "ConvolutionInputGenerator_rtl",
        IFMChannels=6,
        IFMDim=(9, 9),
        OFMDim=(7, 7),
        ConvKernelDim=(3, 3),
        **EVERY_PIXEL,
        inputDataType="UINT4",
    ),
    engine(
        "ConvolutionInputGenerator_rtl",
        IFMChannels=8,
        IFMDim=(1, 64),
        OFMDim=(1, 62),
        ConvKernelDim=(1, 3),
        **EVERY_PIXEL,
        inputDataType="INT8",
    ),
    engine(
        "Thresholding_rtl",
        NumChannels=1024,
        numSteps=15,
        inputDataType="INT12",
        weightDataType="INT12",
        outputDataType="UINT4",
    ),
    engine(
        "Thresholding_hls",
        NumChannels=24,
        numSteps=15,
        inputDataType="INT12",
        weightDataType="INT12",
        outputDataType="UINT4",
    ),
    engine("FMPadding_rtl", ImgDim=(6, 6), Padding=(1, 1, 1, 1), NumChannels=12, inputDataType="UINT4"),
    engine(
        "Pool_hls",
        Channels=12,
        KernelSize=(2, 2),
        OutImgDims=(3, 3),
        Function="MaxPool",
        InputDataType="UINT4",
        OutputDataType="UINT4",
    ),
    engine("StreamingMaxPool_hls", ImgDim=(8, 8), PoolDim=(2, 2), NumChannels=12, dataType="UINT4"),
    engine("StreamingMaxPool_hls", ImgDim=(1, 8), PoolDim=(1, 2), NumChannels=12, dataType="UINT4"),
    engine("LabelSelect_hls", Labels=10, inputDataType="INT14", outputDataType="UINT8"),
    engine("AddStreams_hls", NumChannels=12, inputDataType="INT4", numInputVectors=(1, 4, 4)),
    engine("DuplicateStreams_hls", NumChannels=12, inputDataType="INT4", NumOutputStreams=2),
    engine("GlobalAccPool_hls", NumChannels=12, inputDataType="UINT4", numInputVectors=(1, 7, 7)),
    engine("StreamingConcat_hls", ElemsPerStream=(4, 8), inputDataType="UINT4", numInputVectors=(1, 4, 4)),
    engine("UpsampleNearestNeighbour_hls", IFMDim=4, OFMDim=8, NumChannels=12, inputDataType="UINT4"),
    engine(
        "ChannelwiseOp_hls",
        NumChannels=12,
        inputDataType="INT8",
        paramDataType="INT8",
        outputDataType="INT16",
        Func="mul",
    ),
    engine("DownSampler_hls", ImgDim=8, NumChannels=12, Stride=2, inputDataType="UINT4"),
)
