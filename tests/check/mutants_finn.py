"""Planted mistakes in FINN's files."""

from __future__ import annotations

import json

from tests.check.planting import (
    TWO_SLRS,
    Files,
    Plan,
    crossing,
    edit_json,
    first,
    folded,
    mutant,
    phase_of,
)


@mutant("finn-folding-differs")
def folding_file_with_another_pe(plan: Plan, files: Files) -> None:
    name = folded(plan)[0]
    edit_json(files, "finn/folding_config.json", lambda content: content[name].update(PE=content[name]["PE"] * 2))


@mutant("finn-entry-malformed")
def folding_file_without_defaults(plan: Plan, files: Files) -> None:
    edit_json(files, "finn/folding_config.json", lambda content: content.pop("Defaults"))


@mutant("finn-node-missing")
def engine_forgotten_in_the_folding_file(plan: Plan, files: Files) -> None:
    name = folded(plan)[0]
    edit_json(files, "finn/folding_config.json", lambda content: content.pop(name))


@mutant("finn-slr-differs")
def finn_engine_in_another_slr(plan: Plan, files: Files) -> None:
    name = folded(plan)[0]
    edit_json(files, "finn/floorplan.json", lambda content: content[name].update(slr=content[name]["slr"] + 1))


@mutant("finn-partition-split", TWO_SLRS)
def one_partition_in_two_slrs(plan: Plan, files: Files) -> None:
    crossing(plan)

    def merge(content: Plan) -> None:
        for name, entry in content.items():
            if name != "Defaults":
                entry["partition_id"] = 1

    edit_json(files, "finn/floorplan.json", merge)


@mutant("finn-partition-cycle")
def partitions_in_a_cycle(plan: Plan, files: Files) -> None:
    chain = [c for c in phase_of(plan)["channels"] if not c["source"].startswith("host:")]
    middle = first(
        (c["source"], c["target"], d["target"])
        for c in chain
        for d in chain
        if c["target"] == d["source"] and not d["target"].startswith("host:")
    )

    def split(content: Plan) -> None:
        content[middle[0]]["partition_id"] = content[middle[2]]["partition_id"] = 901
        content[middle[1]]["partition_id"] = 902

    edit_json(files, "finn/floorplan.json", split)


@mutant("finn-partition-open")
def runtime_weights_inside_a_partition(plan: Plan, files: Files) -> None:
    engines = phase_of(plan)["folding"]["engines"]
    ids = json.loads(files["finn/floorplan.json"])
    name = first(
        c["source"]
        for c in phase_of(plan)["channels"]
        if c["source"] in engines
        and c["target"] in engines
        and ids[c["source"]]["partition_id"] == ids[c["target"]]["partition_id"]
    )
    engines[name]["runtime_writeable_weights"] = 1


@mutant("finn-partition-reserved")
def partition_of_an_input_dma(plan: Plan, files: Files) -> None:
    name = folded(plan)[0]
    edit_json(files, "finn/floorplan.json", lambda content: content[name].update(partition_id=0))


@mutant("finn-entry-malformed")
def floorplan_file_without_defaults(plan: Plan, files: Files) -> None:
    edit_json(files, "finn/floorplan.json", lambda content: content.pop("Defaults"))


@mutant("finn-entry-malformed")
def memory_port_of_a_kernel(plan: Plan, files: Files) -> None:
    name = folded(plan)[0]
    edit_json(files, "finn/floorplan.json", lambda content: content[name].update(mem_port="DDR[0]"))


@mutant("finn-entry-malformed")
def fifth_key_in_the_floorplan_file(plan: Plan, files: Files) -> None:
    name = folded(plan)[0]
    edit_json(files, "finn/floorplan.json", lambda content: content[name].update(SLR=2))


@mutant("finn-node-unknown")
def fifo_in_the_floorplan_file(plan: Plan, files: Files) -> None:
    place = {"slr": 0, "device_id": 0, "partition_id": 9, "mem_port": ""}
    edit_json(files, "finn/floorplan.json", lambda content: content.update(StreamingFIFO_0=place))
