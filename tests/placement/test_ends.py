"""Which wires the placement of one FPGA sees of a design over several."""

from types import SimpleNamespace
from typing import Any

import pytest

from floorflow.dataflow.model import Stream
from floorflow.hardware import load_platform
from floorflow.placement import Pin, Wire
from floorflow.search.candidate.placing import _wires

PLATFORM = load_platform("alveo-u250", fpgas=3)
HOST, LINK = Pin(226 + 280, 60 + 239), Pin(2 * 445, 600 + 719)


def design(homes: dict[str, int], streams: list[tuple[str, str, int]]) -> Any:
    """Make a design of one engine a module: engine ``a`` of module ``module_a`` on an FPGA."""
    modules = [SimpleNamespace(name=f"module_{engine}", engines=(engine,)) for engine in homes]
    channels = [SimpleNamespace(stream=Stream(a, 0, b, 0, 1, 1, 8), width_bits=bits) for a, b, bits in streams]
    return SimpleNamespace(modules=modules, channels=channels)


def wires(fpga: int, homes: dict[str, int], streams: list[tuple[str, str, int]]) -> list[Wire]:
    here = {f"module_{engine}" for engine, home in homes.items() if home == fpga}
    setting: Any = SimpleNamespace(platform=PLATFORM)
    return list(_wires(setting, design(homes, streams), PLATFORM.fpgas[fpga], here))


CHAIN = [("host:in0", "a", 24), ("a", "b", 64), ("b", "c", 32), ("c", "host:out0", 16)]


def test_streams_end_at_the_hosts_port_at_the_ends_of_the_chain_and_at_links_between() -> None:
    homes = {"a": 0, "b": 1, "c": 2}
    assert wires(0, homes, CHAIN) == [Wire(HOST, "module_a", 64, 26), Wire("module_a", LINK, 66, 66)]
    assert wires(1, homes, CHAIN) == [Wire(LINK, "module_b", 66, 66), Wire("module_b", LINK, 64, 34)]
    assert wires(2, homes, CHAIN) == [Wire(LINK, "module_c", 64, 34), Wire("module_c", HOST, 64, 18)]


def test_streams_of_one_fpga_join_its_modules() -> None:
    homes = {"a": 0, "b": 0, "c": 0}
    assert wires(0, homes, CHAIN)[1:3] == [Wire("module_a", "module_b", 66, 66), Wire("module_b", "module_c", 64, 34)]
    assert wires(0, homes, CHAIN)[3] == Wire("module_c", LINK, 64, 18), "the output leaves by the last FPGA"


def test_the_hosts_streams_reach_another_fpga_by_its_link() -> None:
    assert wires(1, {"a": 1, "b": 1, "c": 1}, CHAIN)[0] == Wire(LINK, "module_a", 64, 26)


@pytest.mark.parametrize("fpga", [0, 1, 2])
def test_an_fpga_that_streams_only_pass_has_no_wires(fpga: int) -> None:
    homes = {"a": (fpga + 1) % 3, "b": (fpga + 1) % 3, "c": (fpga + 2) % 3}
    assert wires(fpga, homes, CHAIN) == []
