"""Write drivers.json: what pynq, pyxrt, AuroraFlow and xclbins offer, by their own sources.

    PYTHONPATH=pynq-3.0.1 python record_drivers.py pyxrt.pyi AuroraFlow.hpp >drivers.json

pynq is the source from PyPI, imported (with numpy, pynqutils and pynqmetadata); pyxrt.pyi is of Xilinx/XRT 963c58e,
src/python/pybind11; AuroraFlow.hpp of pc2/AuroraFlow 6438de8, the commit that FINN+ 1.6.1 builds in (include/).
"""

import ast
import ctypes
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

USED = ("bo", "device", "ert_cmd_state", "kernel", "run", "uuid", "xclBOSyncDirection", "xrt_info_device")
"""Classes of pyxrt that are kept."""


def of_pynq() -> dict[str, Any]:
    import pynq
    from pynq.buffer import PynqBuffer
    from pynq.overlay import DefaultIP, XrtArgument
    from pynq.pl_server.xrt_device import ErtWaitHandle, XrtDevice, XrtMemory

    asked = {
        "Overlay": pynq.Overlay,
        "allocate": pynq.allocate,
        "DefaultIP.read": DefaultIP.read,
        "DefaultIP.write": DefaultIP.write,
        "DefaultIP.start": DefaultIP._start_ert,
        "ErtWaitHandle.wait": ErtWaitHandle.wait,
        "PynqBuffer.flush": PynqBuffer.flush,
        "PynqBuffer.invalidate": PynqBuffer.invalidate,
        "XrtDevice.get_memory_by_name": XrtDevice.get_memory_by_name,
        "XrtMemory.allocate": XrtMemory.allocate,
    }
    return {
        "version": pynq.__version__,
        "parameters": {name: parameters(one) for name, one in asked.items()},
        "XrtArgument": list(XrtArgument._fields),
        "names": sorted(name for name in vars(pynq) if not name.startswith("_")),
        "Device": sorted(name for name in dir(type(pynq.Device)) if name.endswith("device") or name == "devices"),
        "Clocks": sorted(name for name in dir(type(pynq.Clocks)) if name.endswith("mhz")),
    }


def parameters(one: Any) -> list[list[Any]]:
    """Return name and kind of each parameter and whether it may be left out, ``self`` left out."""
    found = inspect.signature(one).parameters.values()
    return [[p.name, p.kind.name, p.default is not p.empty] for p in found if p.name != "self"]


def of_pyxrt(text: str) -> dict[str, Any]:
    """Return functions, and of each class its methods' parameters, a list a way to call it, and its values."""
    tree = ast.parse(text)
    classes = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in USED:
            methods: dict[str, list[list[str]]] = {}
            for one in node.body:
                if isinstance(one, ast.FunctionDef):
                    given = [a.arg for a in one.args.args[1:]] + (
                        [f"*{one.args.vararg.arg}"] if one.args.vararg else []
                    )
                    methods.setdefault(one.name, []).append(given)
            values = [a.target.id for a in node.body if isinstance(a, ast.AnnAssign) and isinstance(a.target, ast.Name)]
            classes[node.name] = {"methods": methods, "values": values}
    return {"classes": classes, "functions": [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]}


def of_aurora(text: str) -> dict[str, int]:
    """Return addresses and masks; what is joined of others is worked out."""
    found: dict[str, int] = {}
    for name, value in re.findall(r"static const uint32_t (\w+)\s*=\s*([^;]+);", text):
        found[name] = sum(found[one] if one in found else int(one, 0) for one in value.replace(" ", "").split("|"))
    return found


def of_xclbin() -> dict[str, int]:
    """Return offsets and sizes by XRT's ctypes, which pynq brings along."""
    from pynq._3rdparty import xclbin

    fields = {
        xclbin.axlf: ("m_magic", "m_header", "m_sections"),
        xclbin.axlf_header: ("u2", "m_numSections"),
        xclbin.axlf_section_header: ("m_sectionKind", "m_sectionOffset", "m_sectionSize"),
        xclbin.ip_layout: ("m_count", "m_ip_data"),
        xclbin.ip_data: ("m_type", "m_name"),
        xclbin.clock_freq_topology: ("m_count", "m_clock_freq"),
        xclbin.clock_freq: ("m_freq_Mhz", "m_type"),
    }
    found = {f"{one.__name__}.{name}": getattr(one, name).offset for one, names in fields.items() for name in names}
    found |= {f"sizeof {one.__name__}": ctypes.sizeof(one) for one in fields}
    kinds = xclbin.AXLF_SECTION_KIND
    return found | {
        "IP_LAYOUT": kinds.IP_LAYOUT,
        "CLOCK_FREQ_TOPOLOGY": kinds.CLOCK_FREQ_TOPOLOGY,
        "CT_DATA": xclbin.CLOCK_TYPE.CT_DATA,
    }


if __name__ == "__main__":
    interface, header = (Path(name).read_text(encoding="utf-8") for name in sys.argv[1:])
    told = {
        "about": (__doc__ or "").splitlines()[2].strip(),
        "pynq": of_pynq(),
        "pyxrt": of_pyxrt(interface),
        "aurora": of_aurora(header),
        "xclbin": of_xclbin(),
    }
    text = json.dumps(told, indent=1)
    print(re.sub(r"\[[^\[\]{}]*\]", lambda found: " ".join(found[0].split()), text))
