from __future__ import annotations

import pytest

from floorflow.hardware.platform import Platform, load_platform


@pytest.fixture(scope="session")
def u250() -> Platform:
    return load_platform("alveo-u250")


@pytest.fixture(scope="session")
def ku5p() -> Platform:
    return load_platform("xcku5p")


@pytest.fixture(scope="session")
def pynq() -> Platform:
    return load_platform("pynq-z1")


@pytest.fixture(scope="session")
def three() -> Platform:
    """Three FPGAs of four SLRs each, linked at SLR3."""
    return load_platform("alveo-u250", fpgas=3)
