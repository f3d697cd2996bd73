"""Ask FINN itself: ``python ask_finn.py main|dev|plus < lines > lines``, in an environment that has it.

A line is what ``floorflow cost`` takes; the answer adds ``finn_says``: cycles, LUT, BRAM_18K, URAM, DSP by family, the
widths of the first ports, or nothing where FINN refuses. ``main`` and ``dev`` need a checkout of Xilinx/finn (39f0c9a,
73ba5ed) on PYTHONPATH, ``plus`` the package finn-plus 1.6.1; all need qonnx. What estimates never touch is stubbed.
"""

import importlib
import importlib.machinery
import json
import os
import sys
import tempfile
import types
import warnings

PARTS = ("xc7z020clg400-1", "xczu7ev-ffvc1156-2-e", "xcvc1902-vsva2197-2MP-e-S")
UNUSED = {"torch", "pyverilator", "finn_xsi", "sklearn", "netron", "brevitas", "pandas", "tqdm"}


class Stub(types.ModuleType):
    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class Finder:
    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        if name.split(".", maxsplit=1)[0] in UNUSED:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Stub:
        return Stub(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        module.__path__ = []


def kinds(finn: str) -> dict[str, type]:
    os.environ.setdefault("FINN_BUILD_DIR", tempfile.mkdtemp())
    os.environ.setdefault("FINN_ROOT", os.environ["FINN_BUILD_DIR"])
    sys.meta_path.append(Finder())
    if finn == "plus":
        importlib.import_module("finn.util.settings").initialize_dummy_settings()
    found = {}
    for side in ("hls", "rtl"):
        found |= importlib.import_module(f"finn.custom_op.fpgadataflow.{side}").custom_op
    return found


def answer(row: dict, known: dict[str, type]) -> list | None:
    from onnx import helper

    node = helper.make_node(row["op_type"], ["in"], ["out"], name="unit", **row["attrs"])
    try:
        unit = known[row["op_type"]](node)
        found = [unit.node_res_estimation(part) for part in PARTS]
        costs = [int(unit.get_exp_cycles()), *(int(found[1][name]) for name in ("LUT", "BRAM_18K", "URAM"))]
    except Exception:  # noqa: BLE001  (whatever FINN raises, it refuses)
        return None
    return [
        *costs,
        [int(each["DSP"]) for each in found],
        width(unit.get_instream_width),
        width(unit.get_outstream_width),
    ]


def width(ask: object) -> int | None:
    try:
        return int(ask())
    except Exception:  # noqa: BLE001  (as above)
        return None


def main(finn: str) -> None:
    known = kinds(finn)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        row = json.loads(line)
        sys.stdout.write(json.dumps({**row, "finn_says": answer(row, known)}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
