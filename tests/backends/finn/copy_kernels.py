"""Copy what FINN itself made of three floorplans into this folder: one file a plan.

Use: ``python tests/backends/finn/copy_kernels.py KERNELS_FOLDER``. Measured with FINN main (Xilinx/finn 39f0c9a): its
InsertDWC, InsertFIFO, InsertIODMA, SpecializeLayers, Floorplan, CreateDataflowPartition and VitisLink (v++ left out) on
plans of floorflow for one U250. Each file holds ``graph`` (op types, attributes, connections), ``folding_config``, the
``floorplan`` with an entry for every node, and, where FINN got so far, ``kernels`` (those that it made, their nodes in
order) and ``kernels_engines_only`` (the same with entries for engines alone). Of ResNet-18 FINN made none.
"""

import gzip
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent / "kernels"


def main(folder: Path) -> None:
    for case in sorted(path for path in folder.iterdir() if path.is_dir()):
        content = {path.stem: json.loads(path.read_text()) for path in sorted(case.glob("*.json"))}
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        (HERE / f"{case.name}.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
