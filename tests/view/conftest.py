from dataclasses import replace

import pytest

from floorflow.hardware import load_platform
from floorflow.hardware.geometry import Rect
from floorflow.hardware.links import Link
from floorflow.hardware.platform import Platform, SllBoundary


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
    """Three FPGAs of four SLRs each, linked at SLR2."""
    return load_platform("alveo-u250", fpgas=3)


@pytest.fixture(scope="session")
def mixed(u250: Platform, ku5p: Platform) -> Platform:
    """A U250 and a bare xcku5p with a link between them."""
    other = ku5p.fpgas[0]
    slots = tuple(replace(slot, name=f"fpga1.{slot.slr}", fpga="fpga1") for slot in other.slots)
    fpgas = (*u250.fpgas, replace(other, name="fpga1", slots=slots, host_slot=slots[0].name))
    link = Link("fpga0-fpga1", "aurora-100g", "fpga0.SLR2", "fpga1.SLR0", 100.0, 1.0, assumed=False)
    return replace(u250, name="u250-and-ku5p", fpgas=fpgas, links=(link,))


@pytest.fixture(scope="session")
def halves(ku5p: Platform) -> Platform:
    """An xcku5p whose SLR is two slots, the upper one of a name that says nothing."""
    (whole,) = ku5p.slots
    region = whole.region
    middle = (region.bottom + region.top) // 2
    lower = replace(whole, region=Rect(region.left, region.bottom, region.right, middle))
    upper = replace(whole, name="attic", region=Rect(region.left, middle + 1, region.right, region.top))
    fpga = replace(ku5p.fpgas[0], slots=(lower, upper))
    return replace(ku5p, fpgas=(fpga,), boundaries=(SllBoundary(lower.name, upper.name, 4000),))


@pytest.fixture(scope="session")
def square(ku5p: Platform) -> Platform:
    """An xcku5p in four slots that are joined in a ring, opposite corners of it two boundaries apart."""
    (whole,) = ku5p.slots
    region, height = whole.region, (whole.region.top - whole.region.bottom + 1) // 4
    bottoms = [region.bottom + height * number for number in range(4)]
    slots = tuple(
        replace(whole, name=name, region=Rect(region.left, bottom, region.right, bottom + height - 1))
        for name, bottom in zip("abcd", bottoms, strict=True)
    )
    ring = tuple(SllBoundary(lower, upper, 4000) for lower, upper in ("cd", "bd", "ac", "ab"))
    return replace(ku5p, fpgas=(replace(ku5p.fpgas[0], slots=slots, host_slot="a"),), boundaries=ring)
