# Hand-written: implements a design whose regions are loaded while the rest runs (Dynamic Function
# eXchange, UG909, the software flow): a reference run, which places and routes what stays, one
# more run for each further phase of a region, pr_verify, and the bitstreams.
#
#   vivado -mode batch -source dfx.tcl -tclargs STATIC.dcp MODULES ?FOLDER?
#
# STATIC.dcp is the synthesised checkpoint of what stays, with a black box for each region. MODULES
# is a folder with a checkpoint <phase>.dcp of each phase, synthesised out of context with the ports
# of its region, and <phase>.tcl where the modules of a phase are floorplanned inside its region:
# pblocks.tcl of the bound plan.

namespace eval floorflow {}

# Implement all configurations and write their bitstreams.
#
#   -part PART -regions REGIONS -configurations CONFIGURATIONS -arguments ARGV
#
# REGIONS are dicts with name, cell, pblock, ranges, snapping and reset (TRUE, or FALSE where the
# family has no such property). CONFIGURATIONS are lists {NAME PHASES}; PHASES is a dict of the
# phase in each region. The first is the reference.
proc floorflow::dfx {args} {
    array set given $args
    lassign [DfxArguments $given(-arguments)] static modules folder
    set configurations $given(-configurations)
    DfxModules $configurations $modules
    file mkdir $folder
    set routed [list]
    # Phases that were routed; where a region has fewer than others, its first is used again.
    set done [dict create]
    foreach configuration $configurations {
        lassign $configuration name phases
        open_checkpoint $static
        DfxPart $given(-part) $static
        foreach region $given(-regions) {
            set phase [dict get $phases [dict get $region name]]
            if {[dict exists $done $phase]} {
                DfxRead [dict get $region cell] [dict get $done $phase] -strict
                lock_design -level routing [get_cells [dict get $region cell]]
            } else {
                DfxRead [dict get $region cell] [file join $modules $phase.dcp]
            }
        }
        if {[llength $routed] == 0} {
            foreach region $given(-regions) {
                DfxRegion $region
            }
        }
        foreach region $given(-regions) {
            set phase [dict get $phases [dict get $region name]]
            if {![dict exists $done $phase]} {
                DfxConstraints [file join $modules $phase.tcl]
            }
        }
        opt_design
        place_design
        route_design
        lappend routed [DfxRouted $folder $name]
        DfxRules $folder $name
        foreach region $given(-regions) {
            set phase [dict get $phases [dict get $region name]]
            if {![dict exists $done $phase]} {
                dict set done $phase [DfxModule $folder $phase [dict get $region cell]]
            }
        }
        if {[llength $routed] == 1} {
            # What stays is the same, to the last wire, in every configuration that follows.
            set static [DfxStatic $folder $given(-regions)]
        }
        close_design
    }
    DfxVerify $folder $routed
    DfxBitstreams $folder $given(-regions) $configurations $routed
    puts "floorflow: [llength $routed] configurations are routed and verified; bitstreams of\
        [dict size $done] phases are in $folder"
}

# Return the checkpoint of what stays, the folder of modules, and the folder for what is made.
proc floorflow::DfxArguments {arguments} {
    if {[llength $arguments] < 2 || [llength $arguments] > 3} {
        error "floorflow: expected -tclargs STATIC.dcp MODULES ?FOLDER?; STATIC.dcp is the\
            synthesised design with a black box for each region, MODULES holds <phase>.dcp"
    }
    lassign $arguments static modules folder
    if {![file isfile $static]} {
        error "floorflow: there is no checkpoint $static"
    }
    if {![file isdirectory $modules]} {
        error "floorflow: there is no folder $modules"
    }
    if {$folder eq ""} {
        set folder [file join [pwd] floorflow_dfx]
    }
    return [list [file normalize $static] [file normalize $modules] [file normalize $folder]]
}

# Stop before anything is implemented if a phase has no checkpoint.
proc floorflow::DfxModules {configurations modules} {
    set missing [list]
    foreach configuration $configurations {
        dict for {region phase} [lindex $configuration 1] {
            if {![file isfile [file join $modules $phase.dcp]] && $phase ni $missing} {
                lappend missing $phase
            }
        }
    }
    if {[llength $missing] > 0} {
        error "floorflow: $modules has no checkpoint of [join $missing {, }]; synthesise each phase\
            out of context and write it there as <phase>.dcp"
    }
}

# Stop if the open design is of another part than the plan.
proc floorflow::DfxPart {part file} {
    set actual [get_property PART [current_design]]
    if {![string equal -nocase $actual $part]} {
        error "floorflow: $file is for part '$actual', the plan for '$part'"
    }
}

# Return the one cell of a region, or stop.
proc floorflow::DfxCell {name} {
    set cell [get_cells -quiet $name]
    if {[llength $cell] != 1} {
        error "floorflow: cell '$name' of a region matches [llength $cell] cells, expected exactly\
            1; name the instance in the static design as the plan does"
    }
    return $cell
}

# Put a phase into the black box of a region.
proc floorflow::DfxRead {name file args} {
    set cell [DfxCell $name]
    if {![get_property IS_BLACKBOX $cell]} {
        error "floorflow: cell '$name' is no black box; synthesise the static design with an empty\
            module there"
    }
    read_checkpoint -cell $cell {*}$args $file
    if {[get_property IS_BLACKBOX [DfxCell $name]]} {
        error "floorflow: $file left cell '$name' a black box"
    }
}

# Floorplan the modules of a phase inside its region, if there is a script for it.
proc floorflow::DfxConstraints {file} {
    if {[file isfile $file]} {
        uplevel #0 [list source $file]
    }
}

# Make a cell reconfigurable, and the pblock of its region.
proc floorflow::DfxRegion {region} {
    set cell [DfxCell [dict get $region cell]]
    set name [dict get $region pblock]
    if {[llength [get_pblocks -quiet $name]] != 0} {
        error "floorflow: the static design has a pblock '$name' already; leave the pblocks of\
            regions to this script"
    }
    set_property HD.RECONFIGURABLE TRUE $cell
    create_pblock $name
    set pblock [get_pblocks $name]
    resize_pblock $pblock -add [dict get $region ranges]
    add_cells_to_pblock $pblock $cell
    # Vivado's default is a soft pblock; for a region it ignores that, and what is meant is said.
    set_property IS_SOFT FALSE $pblock
    set_property SNAPPING_MODE [dict get $region snapping] $pblock
    if {[dict get $region reset]} {
        set_property RESET_AFTER_RECONFIG TRUE $pblock
    }
}

# Write the routed design and what it tells, and return its checkpoint.
proc floorflow::DfxRouted {folder name} {
    set file [file join $folder ${name}_routed.dcp]
    write_checkpoint -force $file
    report_timing_summary -file [file join $folder ${name}_timing_summary.rpt]
    report_utilization -hierarchical -hierarchical_depth 5 \
        -file [file join $folder ${name}_utilization.rpt]
    return [DfxMade $file "route_design"]
}

# Write the routed module of a phase, and return its checkpoint.
proc floorflow::DfxModule {folder phase name} {
    set file [file join $folder ${phase}_routed.dcp]
    write_checkpoint -force -cell [DfxCell $name] $file
    return [DfxMade $file "write_checkpoint"]
}

# Empty the regions, lock what stays, and return its checkpoint.
proc floorflow::DfxStatic {folder regions} {
    foreach region $regions {
        update_design -cell [DfxCell [dict get $region cell]] -black_box
    }
    lock_design -level routing
    set file [file join $folder static_routed.dcp]
    write_checkpoint -force $file
    return [DfxMade $file "lock_design"]
}

# Stop unless all configurations have the same static part and partition pins.
proc floorflow::DfxVerify {folder routed} {
    if {[llength $routed] < 2} {
        return
    }
    set file [file join $folder pr_verify.log]
    file delete -force $file
    set additional [lrange $routed 1 end]
    pr_verify -full_check -initial [lindex $routed 0] -additional $additional -file $file
    DfxMade $file "pr_verify"
    set channel [open $file]
    set told [read $channel]
    close $channel
    if {[regexp -nocase {error|not compatible|incompatible} $told]} {
        error "floorflow: pr_verify found configurations that differ in what stays; see $file"
    }
}

# Write the bitstream of the whole device for the reference, and one for each phase.
proc floorflow::DfxBitstreams {folder regions configurations routed} {
    set written [list]
    foreach configuration $configurations checkpoint $routed {
        lassign $configuration name phases
        open_checkpoint $checkpoint
        if {[llength $written] == 0} {
            set full [file join $folder full.bit]
            file delete -force $full
            write_bitstream -force -no_partial_bitfile $full
            DfxMade $full "write_bitstream"
        }
        foreach region $regions {
            set phase [dict get $phases [dict get $region name]]
            if {$phase ni $written} {
                DfxPartial $folder $phase [dict get $region cell]
                lappend written $phase
            }
        }
        close_design
    }
}

# Stop if Vivado's design rules find an error in a routed configuration: no bitstream comes of it.
proc floorflow::DfxRules {folder name} {
    set file [file join $folder ${name}_drc.rpt]
    file delete -force $file
    report_drc -name floorflow_drc -ruledecks {default bitstream_checks} -file $file
    DfxMade $file "report_drc"
    set bad [list]
    foreach violation [get_drc_violations -quiet -name floorflow_drc] {
        if {[string tolower [get_property SEVERITY $violation]] in {error fatal}} {
            lappend bad $violation
        }
    }
    if {[llength $bad] > 0} {
        error "floorflow: $name breaks [llength $bad] of Vivado's design rules\
            ([join [lrange $bad 0 4] {, }]); no bitstream is written; $file says what is wrong"
    }
}

# Write the bitstream of one phase: .bit, and .bin as the processor's port (PCAP) takes it.
proc floorflow::DfxPartial {folder phase name} {
    set bit [file join $folder $phase.bit]
    set bin [file join $folder $phase.bin]
    file delete -force $bit $bin
    write_bitstream -force -cell [DfxCell $name] $bit
    DfxMade $bit "write_bitstream"
    write_cfgmem -force -format BIN -interface SMAPx32 -disablebitswap -loadbit "up 0x0 $bit" $bin
    DfxMade $bin "write_cfgmem"
}

# Return a file that a step has made, or stop.
proc floorflow::DfxMade {file step} {
    if {![file isfile $file] || [file size $file] == 0} {
        error "floorflow: $step made no $file; its messages above say why"
    }
    return $file
}
