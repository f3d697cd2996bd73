"""Vivado's commands: which an XDC file may hold (UG903), their arguments, and the properties of pblocks (UG912)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from floorflow.verify.tcl.values import BadCommandError, Value

_FLOW = (
    "after apply break catch continue else elseif eval for foreach if namespace proc return switch try upvar uplevel "
    "while"
)
CONTROL_FLOW = frozenset(_FLOW.split())
_TCL_IN_XDC = "set list expr"
_OBJECTS = (
    "all_clocks all_cpus all_dsps all_fanin all_fanout all_ffs all_hsios all_inputs all_latches all_outputs "
    "all_rams all_registers current_design current_instance filter get_bel_pins get_bels get_cells "
    "get_clock_regions get_clocks get_debug_cores get_debug_ports get_generated_clocks "
    "get_hierarchy_separator get_iobanks get_lib_cells get_lib_pins get_libs get_macros get_nets get_nodes "
    "get_package_pins get_path_groups get_pblocks get_pins get_pips get_ports get_property get_site_pins "
    "get_site_pips get_sites get_slrs get_tiles get_timing_arcs get_wires list_property"
)
_CONSTRAINTS = (
    "add_cells_to_pblock config_timing_corners config_timing_analysis connect_debug_cores connect_debug_port "
    "create_clock create_debug_core create_debug_port create_generated_clock create_interface create_macro "
    "create_pblock create_property create_waiver delete_macros delete_pblock delete_pblocks "
    "delete_power_results endgroup group_path make_diff_pair_ports remove_cells_from_pblock "
    "reset_operating_conditions reset_property reset_switching_activity resize_pblock set_bus_skew "
    "set_case_analysis set_clock_groups set_clock_latency set_clock_sense set_clock_uncertainty "
    "set_data_check set_disable_timing set_external_delay set_false_path set_hierarchy_separator "
    "set_input_delay set_input_jitter set_load set_logic_dc set_logic_one set_logic_unconnected "
    "set_logic_zero set_max_delay set_max_time_borrow set_min_delay set_multicycle_path "
    "set_operating_conditions set_output_delay set_package_pin_val set_power_opt set_propagated_clock "
    "set_property set_switching_activity set_system_jitter set_units startgroup update_macro"
)
IN_XDC = frozenset(f"{_TCL_IN_XDC} {_OBJECTS} {_CONSTRAINTS}".split())
"""Commands that an XDC file may hold."""
PBLOCK_COMMANDS = (
    "create_pblock",
    "resize_pblock",
    "add_cells_to_pblock",
    "remove_cells_from_pblock",
    "delete_pblock",
    "get_pblocks",
    "get_cells",
    "set_property",
)

_TCL = (
    "after append array binary break catch cd clock close concat continue dict encoding eof error exec exit expr "
    "fconfigure file flush format gets glob global history incr info interp join lappend lassign lindex linsert list "
    "llength lmap load lrange lrepeat lreplace lreverse lsearch lset lsort namespace open package pid puts pwd read "
    "regexp regsub rename scan seek set split string subst switch tell throw time trace unset update uplevel upvar "
    "variable vwait"
)
_VIVADO = (
    "archive_project checkpoint compile_simlib current_bd_design current_bd_instance current_fileset current_frame "
    "current_project current_run current_sim encrypt endgroup filter generate_target import_files load_features "
    "make_wrapper phys_opt_design power_opt_design pr_verify refresh_design send_msg_id startgroup undo unplace_cell "
    "upgrade_ip validate_bd_design version wait_on_run"
)
OTHERS = frozenset(f"{_TCL} {_VIVADO}".split())
_BEGIN = (
    "all_ apply_bd close_ common:: config_ connect_ create_ delete_ disconnect_ export_ generate_ get_ group_ hsi:: "
    "ipx:: launch_ link_ list_ lock_ mark_ modify_ open_ opt_ place_ read_ remove_ report_ reset_ route_ save_ set_ "
    "synth_ tclapp:: unset_ update_ write_ xilinx:: ::tclapp::"
)
OTHERS_BEGIN = tuple(_BEGIN.split())
"""Commands of Tcl and Vivado that say nothing of pblocks, or how such begin."""
TALK = frozenset(("puts", "error", "send_msg_id", "info", "string", "regexp"))
"""Those of them whose texts are told or compared, and not run."""

BOOLEAN = ("TRUE", "FALSE", "1", "0", "YES", "NO")
PBLOCK_PROPERTIES: dict[str, tuple[str, ...]] = {
    "CONTAIN_ROUTING": BOOLEAN,
    "EXCLUDE_PLACEMENT": BOOLEAN,
    "IS_SOFT": BOOLEAN,
    "RESET_AFTER_RECONFIG": BOOLEAN,
    "SNAPPING_MODE": ("OFF", "ON", "NESTED", "ROUTING", "FINE_GRAINED"),
    "PARENT": (),
    "PARTPIN_SPREADING": (),
    "GRIDTYPES": (),
    "GRID_RANGES": (),
    "NAME": (),
    "CLASS": (),
    "RESERVE_PCIE": (),
    "HD.TANDEM": (),
    "HD.RECONFIGURABLE": BOOLEAN,
    "HD.PLATFORM_WRAPPER": BOOLEAN,
    "DONT_TOUCH": BOOLEAN,
}
"""Properties of pblocks and the values that they may have; none: any."""


@dataclass(frozen=True, slots=True)
class Form:
    """What a command takes: options without and with a value, and how many arguments besides."""

    flags: tuple[str, ...]
    values: tuple[str, ...]
    least: int
    most: int
    written: str


@dataclass(slots=True)
class Arguments:
    """What it was given."""

    flags: set[str] = field(default_factory=set)
    values: dict[str, Value] = field(default_factory=dict)
    rest: list[Value] = field(default_factory=list)

    def give(self, option: str, values: Sequence[Value]) -> None:
        """Give an option its value; what an option is given twice adds up, and is not known if any of it is not."""
        texts = [value for value in values if isinstance(value, str)]
        if len(texts) == len(values):
            self.values[option] = " ".join(texts)
        else:
            self.values[option] = next(value for value in values if not isinstance(value, str))


FORMS: dict[str, Form] = {
    "create_pblock": Form(("-quiet", "-verbose"), (), 1, 1, "create_pblock NAME"),
    "resize_pblock": Form(
        ("-quiet", "-verbose", "-replace"),
        ("-add", "-remove", "-from", "-to", "-locs", "-add_rect", "-remove_rect"),
        1,
        1,
        "resize_pblock PBLOCK -add|-remove RANGES",
    ),
    "add_cells_to_pblock": Form(
        ("-quiet", "-verbose", "-top", "-clear_locs", "-add_primitives"),
        (),
        1,
        2,
        "add_cells_to_pblock PBLOCK CELLS|-top",
    ),
    "remove_cells_from_pblock": Form(("-quiet", "-verbose"), (), 2, 2, "remove_cells_from_pblock PBLOCK CELLS"),
    "delete_pblock": Form(("-quiet", "-verbose", "-hier"), (), 1, 99, "delete_pblocks PBLOCKS"),
    "get_pblocks": Form(
        ("-quiet", "-verbose", "-regexp", "-nocase", "-include_nested_pblocks"),
        ("-filter", "-of_objects"),
        0,
        1,
        "get_pblocks PATTERNS",
    ),
    "get_cells": Form(
        ("-quiet", "-verbose", "-hierarchical", "-regexp", "-nocase", "-include_replicated_objects"),
        ("-filter", "-of_objects", "-hsc", "-match_style"),
        0,
        1,
        "get_cells PATTERNS",
    ),
    "set_property": Form(("-quiet", "-verbose"), ("-dict", "-name", "-value"), 1, 3, "set_property NAME VALUE OBJECTS"),
    "current_instance": Form(("-quiet", "-verbose"), (), 0, 1, "current_instance CELL"),
}


def arguments(command: str, given: Sequence[Value]) -> Arguments:
    """Sort what a command was given.

    Raises
    ------
    BadCommandError
        If an option is not known or lacks its value, or there are too few or too many arguments.

    """
    form, found = FORMS[command], Arguments()
    waiting, told = iter(given), dict[str, list[Value]]()
    for word in waiting:
        if not isinstance(word, str) or not word.startswith("-") or word[1:2].isdigit() or len(word) < 2:
            found.rest.append(word)
            continue
        fitting = [name for name in (*form.flags, *form.values) if name == word]
        fitting = fitting or [name for name in (*form.flags, *form.values) if name.startswith(word)]
        if len(fitting) != 1:
            raise BadCommandError("command-malformed", f"option {word}", form.written)
        if fitting[0] in form.flags:
            found.flags.add(fitting[0])
        elif (value := next(waiting, None)) is None:
            raise BadCommandError("command-malformed", f"{word} without a value", form.written)
        else:
            told.setdefault(fitting[0], []).append(value)
    for option, values in told.items():
        found.give(option, values)
    if not form.least <= len(found.rest) <= form.most:
        raise BadCommandError("command-malformed", f"{len(found.rest)} arguments", form.written)
    return found
