# Hand-written: AMD's register slices where streams cross SLR boundaries, in a design that v++ links.
#
#   floorflow::crossings ROWS    what the plan has: {SOURCE_SLR TARGET_SLR BYTES STREAM} each
#   floorflow::insert_slices     in v++'s block design (compiler.userPostSysLinkOverlayTcl)
#   floorflow::place_slices      before opt_design: each half of a slice into its SLR
#
# None of this has been run in Vivado. What it rests on:
# * axis_register_slice v1.1 has a "Multi SLR Crossing" mode, for the boundaries of NUM_SLR_CROSSINGS (PG085, Advanced
#   Properties). PG085 does not say which value of REG_CONFIG that is. 15 is what PG373 (User Parameters) has for the
#   same mode of the core for memory-mapped AXI, what the core's own RTL compares with (P_MULTI_SLR, v1_1_21), and what
#   public block designs set for this core together with NUM_SLR_CROSSINGS. (12 is the older mode, of one boundary.)
# * its halves are cells named slr_master (the source's side) and slr_slave, by that RTL and PG373, Constraining the
#   Core; PG085 has slr_source and slr_dest for the older mode. place_slices stops where there are none.
# * v++ gives kernels the property CONFIG.SLR_ASSIGNMENTS in the block design, as the scripts of Vitis read it.
# Every value that is set is read back, and a crossing more or less than the plan has stops the link.

namespace eval floorflow {
    variable planned [list]
    variable slice_settings {CONFIG.REG_CONFIG 15 CONFIG.NUM_SLR_CROSSINGS 1}
}

# Remember the crossings of the plan, in an order that both scripts have.
proc floorflow::crossings {rows} {
    variable planned
    foreach row $rows {
        lassign $row source target bytes stream
        if {[llength $row] != 4 || ![regexp {^SLR\d+$} $source] || ![regexp {^SLR\d+$} $target]
            || $source eq $target || ![string is integer -strict $bytes] || $bytes < 1} {
            error "floorflow: crossing '$row' is none; expected {SLR<n> SLR<n> BYTES STREAM}"
        }
    }
    set planned [lsort $rows]
}

# One slice a boundary: {NAME SLR SLR} in the order in which a word passes them.
proc floorflow::SlicesOf {number source target} {
    set from [string range $source 3 end]
    set to [string range $target 3 end]
    set step [expr {$to > $from ? 1 : -1}]
    set found [list]
    for {set slr $from} {$slr != $to} {incr slr $step} {
        set next [expr {$slr + $step}]
        lappend found [list "floorflow_crossing_${number}_SLR${slr}_SLR${next}" "SLR$slr" "SLR$next"]
    }
    return $found
}

# {SOURCE_SLR TARGET_SLR BYTES PIN NET PIN} of each stream between two cells of different SLRs.
proc floorflow::Linked {} {
    set found [list]
    foreach cell [get_bd_cells -quiet] {
        set source [get_property -quiet CONFIG.SLR_ASSIGNMENTS $cell]
        if {$source eq ""} {
            continue
        }
        foreach pin [get_bd_intf_pins -quiet -of_objects $cell] {
            if {[get_property MODE $pin] ne "Master"
                || ![string match "xilinx.com:interface:axis_rtl:*" [get_property VLNV $pin]]} {
                continue
            }
            foreach net [get_bd_intf_nets -quiet -of_objects $pin] {
                foreach other [get_bd_intf_pins -quiet -of_objects $net] {
                    set target [get_property -quiet CONFIG.SLR_ASSIGNMENTS [get_bd_cells -quiet -of_objects $other]]
                    if {$target ni [list "" $source]} {
                        lappend found [list $source $target [get_property CONFIG.TDATA_NUM_BYTES $pin] $pin $net $other]
                    }
                }
            }
        }
    }
    return [lsort $found]
}

# What is in one list and not as often in the other.
proc floorflow::Without {these those} {
    foreach one $those {
        set place [lsearch -exact $these $one]
        if {$place >= 0} {
            set these [lreplace $these $place $place]
        }
    }
    return $these
}

proc floorflow::RequirePlanned {found} {
    variable planned
    set has [lmap row $found {lrange $row 0 2}]
    set wants [lmap row $planned {lrange $row 0 2}]
    set missing [Without $wants $has]
    set more [Without $has $wants]
    if {[llength $missing] || [llength $more]} {
        error "floorflow: the linked design is not the plan's: of streams over SLR boundaries (source, target, bytes)\
            it lacks {$missing} and has {$more} beside; link a build of this plan, with FINN's own config.txt"
    }
}

# Return the pin of a kernel's clock or reset.
proc floorflow::KernelPin {cell name} {
    set pin [get_bd_pins -quiet $cell/$name]
    if {[llength $pin] != 1} {
        error "floorflow: kernel '$cell' has no pin $name, from which a register slice takes its clock and reset"
    }
    return $pin
}

# Put slices into every stream that crosses; nothing is changed unless the crossings are those of the plan.
proc floorflow::insert_slices {} {
    variable planned
    if {[llength [get_bd_cells -quiet floorflow_crossing_*]]} {
        error "floorflow: the block design has register slices of ours already; link FINN's project anew"
    }
    set found [Linked]
    RequirePlanned $found
    set number 0
    set count 0
    foreach row $found {
        lassign $row source target bytes from net to
        set kernel [get_bd_cells -of_objects $from]
        set reader [get_bd_cells -of_objects $to]
        set clock [get_bd_nets -quiet -of_objects [KernelPin $kernel ap_clk]]
        if {$clock eq "" || $clock ne [get_bd_nets -quiet -of_objects [KernelPin $reader ap_clk]]} {
            error "floorflow: kernels '$kernel' and '$reader' have no clock, or different ones; a register slice has one"
        }
        delete_bd_objs $net
        foreach slice [SlicesOf $number $source $target] {
            set cell [Slice [lindex $slice 0]]
            connect_bd_net [KernelPin $kernel ap_clk] [get_bd_pins $cell/aclk]
            connect_bd_net [KernelPin $kernel ap_rst_n] [get_bd_pins $cell/aresetn]
            connect_bd_intf_net $from [get_bd_intf_pins $cell/S_AXIS]
            set from [get_bd_intf_pins $cell/M_AXIS]
            incr count
        }
        connect_bd_intf_net $from $to
        incr number
    }
    puts "floorflow: $count register slices inserted for $number streams over SLR boundaries"
}

# Make one slice, and see that the core took what it was given.
proc floorflow::Slice {name} {
    variable slice_settings
    set cell [create_bd_cell -type ip -vlnv xilinx.com:ip:axis_register_slice:1.1 $name]
    set_property -dict $slice_settings $cell
    foreach {property value} $slice_settings {
        set taken [get_property $property $cell]
        if {$taken ne $value} {
            error "floorflow: register slice '$name' has $property $taken, not the $value that was set;\
                this Vivado knows another core: use --crossings fifo"
        }
    }
    return $cell
}

# Give the halves of every slice their SLR; the floorplan's own script has run.
proc floorflow::place_slices {} {
    variable planned
    set number 0
    set count 0
    foreach row $planned {
        foreach slice [SlicesOf $number [lindex $row 0] [lindex $row 1]] {
            lassign $slice name source target
            foreach {half slr} [list slr_master $source slr_slave $target] {
                # USER_SLR_ASSIGNMENT is for hierarchical cells (UG949).
                set filter "NAME =~ \"*/$name/*$half\" && IS_PRIMITIVE == 0"
                set cells [get_cells -quiet -hierarchical -filter $filter]
                if {[llength $cells] != 1} {
                    error "floorflow: register slice '$name' has [llength $cells] cells $half, expected one;\
                        use --crossings fifo"
                }
                set_property USER_SLR_ASSIGNMENT $slr $cells
                incr count
            }
        }
        incr number
    }
    puts "floorflow: $count halves of register slices assigned to SLRs"
}
