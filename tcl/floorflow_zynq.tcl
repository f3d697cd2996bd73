# Hand-written: implements FINN's Zynq project again, with the plan's constraints. Synthesis is used
# as it is; only the run impl_1 is reset.
#
#   vivado -mode batch -source zynq_impl.tcl -tclargs PROJECT.xpr ?FOLDER?

namespace eval floorflow {
    # The reports are written when the design is open, not when the file is read.
    variable only_define 1
}
source [file join [file dirname [file normalize [info script]]] floorflow_report.tcl]

# Reopen the project, hook the constraints in, implement, report, and copy the .bit and the .hwh.
proc floorflow::implement {args} {
    array set given $args
    lassign [Arguments $given(-arguments)] project folder
    if {![file isfile $given(-constraints)]} {
        error "floorflow: there is no $given(-constraints); the names of cells are read from FINN's\
            build: run 'floorflow bind' and use the folder that it writes"
    }
    CheckVersion $given(-versions)
    open_project $project
    CheckPart $given(-part) $project
    set run [get_runs impl_1]
    set_property STEPS.OPT_DESIGN.TCL.PRE $given(-constraints) $run
    reset_run impl_1
    launch_runs impl_1 -to_step write_bitstream -jobs 4
    wait_on_run impl_1
    CheckRun $run
    open_run impl_1
    report $folder
    Copy $project $folder
    close_project
    puts "floorflow: bitstream, hand-off and reports are in $folder"
}

# Return the project and the folder for what comes of it.
proc floorflow::Arguments {arguments} {
    if {[llength $arguments] < 1 || [llength $arguments] > 2} {
        error "floorflow: expected -tclargs PROJECT.xpr ?FOLDER?; FINN keeps its project,\
            finn_zynq_link.xpr, in a folder vivado_zynq_proj..."
    }
    lassign $arguments project folder
    if {![file isfile $project]} {
        error "floorflow: there is no project $project"
    }
    if {$folder eq ""} {
        set folder [file join [pwd] floorflow_zynq]
    }
    return [list [file normalize $project] [file normalize $folder]]
}

# Stop in another Vivado than FINN was made for: it would upgrade every IP and synthesise anew.
proc floorflow::CheckVersion {versions} {
    set version [version -short]
    if {$version ni $versions} {
        error "floorflow: this is Vivado $version, FINN's project is of [join $versions { or }];\
            start that one"
    }
}

# Stop if the project is of another part than the plan.
proc floorflow::CheckPart {part project} {
    set actual [get_property PART [current_project]]
    if {![string equal -nocase $actual $part]} {
        error "floorflow: $project is for part '$actual', the plan for '$part'"
    }
}

# Stop unless the run went to its end.
proc floorflow::CheckRun {run} {
    set progress [get_property PROGRESS $run]
    if {$progress ne "100%"} {
        error "floorflow: impl_1 stopped at $progress ([get_property STATUS $run]);\
            runme.log in [get_property DIRECTORY $run] says why"
    }
}

# Copy bitstream and hand-off as FINN calls them.
proc floorflow::Copy {project folder} {
    set root [file rootname $project]
    set bits [glob -nocomplain -directory $root.runs/impl_1 *.bit]
    if {[llength $bits] != 1} {
        error "floorflow: $root.runs/impl_1 holds [llength $bits] bitstreams, expected 1"
    }
    file copy -force [lindex $bits 0] [file join $folder finn-accel.bit]
    foreach place {gen srcs} {
        set handoff $root.$place/sources_1/bd/top/hw_handoff/top.hwh
        if {[file isfile $handoff]} {
            file copy -force $handoff [file join $folder finn-accel.hwh]
            return
        }
    }
    error "floorflow: there is no top.hwh below $root.gen or $root.srcs"
}
