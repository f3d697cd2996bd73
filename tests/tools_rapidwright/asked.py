"""Ask RapidWright's own classes which forms some methods have; run by the Python that has JPype (see test_api.py).

    FLOORFLOW_RAPIDWRIGHT/bin/python tests/tools_rapidwright/asked.py > tests/rapidwright_model/api.json

That writes the index anew; which methods it holds, `METHODS` says. Needs no device.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PREFIX = "com.xilinx.rapidwright."
METHODS: Mapping[str, Sequence[str]] = {
    "design.Design": (
        *("readCheckpoint", "getTopEDIFCell", "getNetlist", "getDevice", "createModuleInst", "setAutoIOBuffers"),
        "writeCheckpoint",
    ),
    "design.DesignTools": ("makePhysNetNamesConsistent",),
    "design.Module": ("<init>", "getNets", "getNet", "getPorts", "getAnchor", "isValidPlacement"),
    "design.ModuleInst": (
        *("getName", "getCellInst", "getPort", "getSiteInsts", "place", "getCorrespondingNet"),
        "getCorrespondingPins",
    ),
    "design.Net": ("getName", "isStaticNet", "getSource", "getFanOut", "hasPIPs", "unroute", "removePin", "addPin"),
    "design.Port": ("getNet", "isOutPort"),
    "design.SiteInst": ("isPlaced",),
    "design.SitePinInst": ("getNet",),
    "device.Device": ("getName", "getSite"),
    "device.Site": ("getName", "getTile", "getSiteTypeEnum", "getCorrespondingSite"),
    "device.Tile": ("getTileXCoordinate", "getTileYCoordinate", "getTileXYNeighbor"),
    "edif.EDIFCell": ("getName", "rename", "hasContents", "getCellInst"),
    "edif.EDIFCellInst": ("getName", "getCellName", "getCellType", "getPortInst", "removeBlackBoxProperty"),
    "edif.EDIFLibrary": ("isHDIPrimitivesLibrary", "getCells"),
    "edif.EDIFNetlist": ("getLibraries", "getEncryptedCells", "consolidateAllToWorkLibrary", "resetParentNetMap"),
    "edif.EDIFPortInst": ("getNet",),
}


def start() -> list[str]:
    """Start Java with what Maven brought beside this Python's environment; return the names of RapidWright's jars."""
    import jpype
    import jpype.imports

    jars = sorted((Path(sys.prefix) / "jars").glob("*.jar"))
    jpype.startJVM(classpath=[str(jar) for jar in jars], convertStrings=False)
    return [jar.name for jar in jars if jar.name.startswith("rapidwright")]


def forms() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return all public forms of the methods, inherited ones too, as Java's reflection tells them."""
    from java.lang import Class, ClassLoader
    from java.lang.reflect import Modifier

    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for name, methods in METHODS.items():
        # Not initialised: some of them look for device data then.
        made = Class.forName(PREFIX + name, False, ClassLoader.getSystemClassLoader())  # noqa: FBT003
        told = [
            (str(one.getName()), bool(Modifier.isStatic(one.getModifiers())), one, str(one.getReturnType().getName()))
            for one in made.getMethods()
            if not one.isBridge()
        ]
        told += [("<init>", True, one, PREFIX + name) for one in made.getConstructors()]
        rows = [
            (
                method,
                {
                    "arguments": [str(a.getName()) for a in one.getParameterTypes()],
                    "returns": back,
                    "static": is_static,
                },
            )
            for method, is_static, one, back in told
        ]
        found[name] = {
            method: sorted((row for other, row in rows if other == method), key=lambda row: row["arguments"])
            for method in methods
        }
    return found


if __name__ == "__main__":
    jars, classes = start(), forms()
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(classes[name], sort_keys=True)}" for name in sorted(classes))
    print(f'{{"asked of": {json.dumps(jars)},\n "classes": {{\n{rows}\n}}}}')
