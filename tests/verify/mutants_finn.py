"""Planted mistakes in FINN's files."""

from __future__ import annotations

import json

from tests.verify.planting import (
    JOIN,
    TWO_SLRS,
    Files,
    NotApplicable,
    Plan,
    board_of,
    crossing,
    edit_json,
    first,
    folded,
    mutant,
    part_of,
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


@mutant("finn-kernel-split", TWO_SLRS)
def one_partition_in_two_slrs(plan: Plan, files: Files) -> None:
    crossing(plan)

    def merge(content: Plan) -> None:
        for name, entry in content.items():
            if name != "Defaults":
                entry["partition_id"] = 1

    edit_json(files, "finn/floorplan.json", merge)


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


@mutant("finn-node-missing")
def fifo_without_a_place(plan: Plan, files: Files) -> None:
    """FINN would make a kernel of its own of it, in no SLR."""
    edit_json(files, "finn/floorplan.json", lambda content: content.pop("StreamingFIFO_rtl_0"))


@mutant("finn-node-missing")
def dma_engine_without_a_place(plan: Plan, files: Files) -> None:
    edit_json(files, "finn/floorplan.json", lambda content: content.pop("IODMA_hls_0"))


@mutant("finn-fifo-differs")
def fifo_asked_for_at_no_port(plan: Plan, files: Files) -> None:
    name = folded(plan)[0]
    depths = {"inFIFODepths": [2], "outFIFODepths": [2]}
    edit_json(files, "finn/folding_config.json", lambda content: content[name].update(depths))


def _a_fifo(plan: Plan, **entry: object) -> None:
    """Let a FIFO be what it is not, with as much of every resource as that could need."""
    channel = phase_of(plan)["channels"][1]
    channel |= {"fifo_depth": 34, **entry}


@mutant("wrong-fifo-style")
def fifo_of_no_memory(plan: Plan, files: Files) -> None:
    _a_fifo(plan, fifo_style="")


@mutant("wrong-fifo-style")
def shift_register_in_block_ram(plan: Plan, files: Files) -> None:
    resources = {"LUT": 90, "FF": 90, "BRAM18": 9, "URAM": 0, "DSP": 0}
    _a_fifo(plan, fifo_depth=32, fifo_style="block", fifo_resources=resources)


@mutant("wrong-fifo-style")
def deep_fifo_left_to_finn(plan: Plan, files: Files) -> None:
    _a_fifo(plan, fifo_style="auto")


@mutant("wrong-fifo-style")
def fifo_in_block_ram_without_any(plan: Plan, files: Files) -> None:
    resources = {"LUT": 9000, "FF": 90, "BRAM18": 0, "URAM": 0, "DSP": 0}
    _a_fifo(plan, fifo_style="block", fifo_resources=resources)


@mutant("wrong-fifo-style")
def fifo_in_luts_with_block_ram_besides(plan: Plan, files: Files) -> None:
    resources = {"LUT": 9000, "FF": 90, "BRAM18": 9, "URAM": 0, "DSP": 0}
    _a_fifo(plan, fifo_style="distributed", fifo_resources=resources)


@mutant("wrong-fifo-style")
def more_bits_than_its_luts_hold(plan: Plan, files: Files) -> None:
    _a_fifo(plan, fifo_style="distributed", fifo_depth=10_000)


@mutant("wrong-fifo-style")
def ultra_ram_that_the_part_lacks(plan: Plan, files: Files) -> None:
    fpga = plan["platform"]["fpgas"][0]
    if fpga["part"].startswith("xcku5p"):
        fpga["part"] = "xcku9p-ffve900-2-e"
    elif not fpga["part"].startswith("xc7"):
        raise NotApplicable
    resources = {"LUT": 90, "FF": 90, "BRAM18": 0, "URAM": 1, "DSP": 0}
    _a_fifo(plan, fifo_style="ultra", fifo_resources=resources)


FIFOS = "finn/fifo_config.json"


def _with_fifo_file(plan: Plan, files: Files) -> Plan:
    """Let the depths be known to keep the rate, so that FINN is told of them; return what it is told."""
    interval = part_of(plan)["interval_cycles"]
    known = {"full_rate_cycles": interval, "interval_cycles": interval, "not_analysed": ""}
    known |= {"first_word_cycles": 9, "first_frame_cycles": interval, "deadlock": [], "shallow": []}
    part_of(plan)["estimates"]["throughput"] = known
    channels = phase_of(plan)["channels"]
    depths = [depth for c in channels for depth in ([2] if c["converter"] else []) + [c["fifo_depth"]]]
    styled = {"impl_style": "rtl", "ram_style": "auto"}
    fifos = {f"StreamingFIFO_rtl_{n}": {"depth": depth, **styled} for n, depth in enumerate(depths)}
    return fifos | json.loads(files["finn/folding_config.json"])


@mutant("file-missing")
def fifos_that_finn_is_not_told_of(plan: Plan, files: Files) -> None:
    _with_fifo_file(plan, files)
    files.pop(FIFOS, None)


@mutant("finn-fifo-differs")
def fifo_file_of_a_shallower_fifo(plan: Plan, files: Files) -> None:
    content = _with_fifo_file(plan, files)
    content["StreamingFIFO_rtl_0"]["depth"] -= 1
    files[FIFOS] = json.dumps(content)


@mutant("finn-fifo-differs")
def fifo_file_of_another_memory(plan: Plan, files: Files) -> None:
    content = _with_fifo_file(plan, files)
    content["StreamingFIFO_rtl_0"] |= {"impl_style": "vivado", "ram_style": "ultra"}
    files[FIFOS] = json.dumps(content)


@mutant("finn-folding-differs")
def fifo_file_with_another_folding(plan: Plan, files: Files) -> None:
    content = _with_fifo_file(plan, files)
    content[folded(plan)[0]]["PE"] = content[folded(plan)[0]].get("PE", 1) * 2
    files[FIFOS] = json.dumps(content)


STYLES = "finn/specialize_layers_config.json"
STYLED = {"weightDataType": "INT4", "inputDataType": "UINT4", "noActivation": 1}


def _last_unit(plan: Plan) -> Plan:
    """Return a matrix unit without thresholds, of types that FINN makes rtl, lowered from a layer."""
    engines = plan["networks"][0]["engines"]
    matrix_unit: Plan = first(
        e for e in engines if e["kind"] == "MVAU_hls" and e["attributes"].get("noActivation") == 1
    )
    matrix_unit["attributes"] |= STYLED
    operation = {"name": matrix_unit["operation"], "type": "conv", "inputs": [], "outputs": [], "macs": 0}
    plan["networks"][0]["operations"].append(operation)
    return matrix_unit


def _styled(plan: Plan, files: Files) -> str:
    """Let that unit be hls against FINN's own choice, with the file that says so; return the name of its layer."""
    unit = _last_unit(plan)
    unit["attributes"]["preferred_impl_style"] = "hls"
    units = [engine for engine in plan["networks"][0]["engines"] if engine["kind"].startswith("MVAU")]
    layer = f"MVAU_{units.index(unit)}"
    files[STYLES] = json.dumps({"Defaults": {}, layer: {"preferred_impl_style": "hls"}})
    return layer


@mutant("wrong-impl-style")
def unit_in_hls_that_finn_makes_rtl(plan: Plan, files: Files) -> None:
    if plan["platform"]["fpgas"][0]["part"].startswith("xc7"):
        raise NotApplicable  # there it depends on the weights, which a plan does not hold
    _last_unit(plan)["attributes"].pop("preferred_impl_style", None)


@mutant("wrong-impl-style")
def preference_that_the_engine_does_not_follow(plan: Plan, files: Files) -> None:
    _styled(plan, files)
    _last_unit(plan)["attributes"]["preferred_impl_style"] = "rtl"


@mutant("wrong-impl-style")
def preference_for_what_finn_makes_anyway(plan: Plan, files: Files) -> None:
    _styled(plan, files)
    _last_unit(plan)["attributes"]["weightDataType"] = "INT2"


@mutant("wrong-impl-style")
def preference_that_was_not_asked_for(plan: Plan, files: Files) -> None:
    _styled(plan, files)
    plan["options"]["keep_folding"] = False
    plan["options"]["backend_options"]["impl_style"] = "default"


@mutant("wrong-impl-style", JOIN)
def preference_where_there_is_no_choice(plan: Plan, files: Files) -> None:
    engine = first(e for e in plan["networks"][0]["engines"] if e["kind"] == "DuplicateStreams_hls")
    engine["attributes"]["preferred_impl_style"] = "hls"


@mutant("wrong-engine-name")
def engines_not_numbered_by_their_styles(plan: Plan, files: Files) -> None:
    _styled(plan, files)
    engines = plan["networks"][0]["engines"]
    places = [place for place, engine in enumerate(engines) if engine["kind"] == "MVAU_hls"]
    if len(places) < 2:
        raise NotApplicable
    one, other = places[:2]
    engines[one], engines[other] = engines[other], engines[one]


@mutant("file-missing")
def styles_without_their_file(plan: Plan, files: Files) -> None:
    _styled(plan, files)
    del files[STYLES]


@mutant("finn-style-differs")
def style_file_without_a_style(plan: Plan, files: Files) -> None:
    files[STYLES] = json.dumps({"Defaults": {}})


@mutant("finn-style-differs")
def style_left_out_of_the_file(plan: Plan, files: Files) -> None:
    layer = _styled(plan, files)
    edit_json(files, STYLES, lambda content: content.pop(layer))


@mutant("finn-style-differs")
def style_of_a_layer_that_follows_finn(plan: Plan, files: Files) -> None:
    _styled(plan, files)
    edit_json(files, STYLES, lambda content: content.update(MVAU_0={"preferred_impl_style": "hls"}))


@mutant("finn-style-differs")
def other_style_in_the_file(plan: Plan, files: Files) -> None:
    layer = _styled(plan, files)
    edit_json(files, STYLES, lambda content: content[layer].update(preferred_impl_style="rtl"))


@mutant("finn-style-differs")
def style_for_all_by_default(plan: Plan, files: Files) -> None:
    _styled(plan, files)
    edit_json(files, STYLES, lambda content: content.update(Defaults={"preferred_impl_style": ["hls", "all"]}))


@mutant("flow-file-differs")
def relink_script_of_another_hand(plan: Plan, files: Files) -> None:
    files["vitis/relink.sh"] = "#!/bin/bash\nrm -r /\n"


@mutant("flow-file-differs")
def link_without_the_hook(plan: Plan, files: Files) -> None:
    files["vitis/floorflow.cfg"] = "[vivado]\n"


@mutant("flow-file-differs", TWO_SLRS)
def reports_before_the_last_step(plan: Plan, files: Files) -> None:
    crossing(plan)
    hooks = (
        "OPT_DESIGN.TCL.PRE=@HOOK@",
        "ROUTE_DESIGN.TCL.POST=@REPORT@",
        "POST_ROUTE_PHYS_OPT_DESIGN.IS_ENABLED=true",
    )
    lines = [
        f"# platform: {board_of(plan, files)['shell']['name']}",
        "[vivado]",
        *(f"prop=run.impl_1.STEPS.{hook}" for hook in hooks),
    ]
    files["vitis/floorflow.cfg"] = "\n".join(lines) + "\n"


@mutant("kernel-stream-wide", TWO_SLRS)
def stream_between_kernels_that_is_not_linked(plan: Plan, files: Files) -> None:
    _, channel = crossing(plan)
    channel.update(source_width_bits=4089, target_width_bits=4089, width_bits=4089)


@mutant("flow-file-differs")
def output_in_another_bank(plan: Plan, files: Files) -> None:
    text = files.get("vitis/floorflow.cfg", "sp=odma0.m_axi_gmem0:DDR[0]\n")
    files["vitis/floorflow.cfg"] = text.replace("gmem0:DDR[0]", "gmem0:DDR[7]")


@mutant("flow-file-differs")
def zynq_script_for_another_part(plan: Plan, files: Files) -> None:
    text = files.get("vivado/zynq_impl.tcl", "floorflow::implement -part {x}\n")
    files["vivado/zynq_impl.tcl"] = text.replace("-part {x", "-part {y")


@mutant("finn-slices-differ")
def steps_told_of_a_slice_that_is_not_planned(plan: Plan, files: Files) -> None:
    streams = [{"name": channel["name"], "slices": []} for channel in phase_of(plan)["channels"]]
    streams[-1]["slices"] = [[0, 0]]
    files["finn/floorflow_plan.json"] = json.dumps({"streams": streams})
