# Hand-written: implements modules alone, each in its pblock, and stitches them into the top of a
# card. The scripts that call it hold data alone.
#
#   vivado -mode batch -source ooc/<implementation>/run.tcl \
#       -tclargs MODULES ?FOLDER? ?NAME ...? ?-once?
#   vivado -mode batch -source <fpga>/top/assemble.tcl -tclargs FOLDER ?PINS.xdc? ?-glue|-stitched?
#
# MODULES has a folder with the packaged IP of each implementation, as the back end's build made it;
# with NAMEs only these of its places are made.
# FOLDER (floorflow_stitch) takes what is made: <module>.dcp, utilisation, timing; then the card's.
# Without PINS.xdc the card is a module of the user's own top; with it the bitstream is written.
#
# With RapidWright (rapidwright/) a module that serves several places is implemented in the first of
# them (-once), and the card is stitched in three steps: -glue writes the top alone, the script
# rapidwright/stitch_<card>.py puts those modules into it, -stitched goes on from there.

namespace eval floorflow {}

# Implement one module in each of its places: synthesised once, placed and routed in every pblock.
#
#   -name NAME -part PART -period NS -sources FILES -rtl FOLDER -cells CELLS -places PLACES
#   -arguments ARGV
#
# CELLS are those of floorflow's own registers, which synthesis has to leave. PLACES are dicts with
# name, pblock, ranges and ports; PORTS are lists {NAME RANGES OUTSIDE}: the sites at which the pins
# of a stream lie, and the nanoseconds of a cycle that pass outside.
proc floorflow::implementation {args} {
    array set given $args
    lassign [StitchFlag $given(-arguments) -once] once arguments
    lassign [StitchArguments [lrange $arguments 0 1] {MODULES ?FOLDER? ?NAME ...? ?-once?} 1 2] \
        modules folder
    set only [lrange $arguments 2 end]
    if {$once ne ""} {
        set given(-places) [list [StitchFirst $given(-places)]]
    }
    set ip [file join $modules $given(-name)]
    if {![file isdirectory $ip]} {
        error "floorflow: there is no folder $ip with the IP of $given(-name); run the back end's\
            build, which makes it"
    }
    set folder [StitchFolder $folder]
    set work [file join $folder work $given(-name)]
    file delete -force $work
    file mkdir $work
    create_project -in_memory -part $given(-part)
    StitchTell $given(-name) synthesis
    StitchCore $given(-name)_core $ip $work
    read_verilog [concat $given(-sources) [StitchRtl $given(-rtl)]]
    # A cascade of block RAMs over clock regions could not be moved with its module.
    synth_design -top $given(-name) -part $given(-part) -mode out_of_context \
        -flatten_hierarchy rebuilt -max_bram_cascade_height 1
    StitchOwn $given(-cells)
    StitchNoClockBuffers $given(-name)
    set synthesised [file join $work synthesised.dcp]
    write_checkpoint -force $synthesised
    StitchMade $synthesised synth_design
    close_project
    foreach place $given(-places) {
        if {[llength $only] > 0 && [dict get $place name] ni $only} {
            continue
        }
        open_checkpoint $synthesised
        StitchConstraints $place $given(-period)
        StitchTell [dict get $place name] placement
        opt_design
        place_design
        phys_opt_design
        StitchTell [dict get $place name] routing
        route_design
        StitchPlaced [dict get $place name]
        StitchInside [dict get $place name] [dict get $place pblock]
        StitchRouted [dict get $place name]
        set worst [StitchTimed [dict get $place name]]
        lock_design -level routing
        set file [file join $folder [dict get $place name].dcp]
        write_checkpoint -force $file
        StitchMade $file write_checkpoint
        # Last: whoever finds the timing finds the whole.
        StitchReport $folder [dict get $place name] $worst
        close_design
    }
    puts "floorflow: $given(-name) is implemented in [llength $given(-places)] places"
}

# Run several scripts of modules in one session; one that fails leaves the others to be made.
#
# ARGUMENTS are MODULES and FOLDER; RUNS are lists {SCRIPT NAME ...}: a run.tcl, and which of its
# places.
proc floorflow::session {arguments runs} {
    set failed [list]
    foreach run $runs {
        set names [lassign $run script]
        set ::argv [concat $arguments $names]
        if {[catch {uplevel #0 [list source $script]} message]} {
            puts "floorflow failed: [join $names {, }]: [lindex [split $message \n] 0]"
            lappend failed {*}$names
        }
        # What a run leaves open, a checkpoint's project too, would be the next one's.
        catch {close_design}
        catch {close_project}
    }
    if {[llength $failed] > 0} {
        error "floorflow: [llength $failed] modules were not made: [join $failed {, }]"
    }
}

# Stitch the modules of a card.
#
#   -top NAME -part PART -sources FILES -rtl FOLDER -clock FILE -cells CELLS -slrs SLRS
#   -arguments ARGV
#
# CELLS are lists {CELL MODULE ?FIRST?} of what checkpoints are read into: FOLDER/MODULE.dcp; FIRST
# is the module whose checkpoint serves this one too, which RapidWright moves. SLRS are lists
# {SLR CELLS} of the registers between modules.
proc floorflow::assemble {args} {
    array set given $args
    lassign [StitchFlag $given(-arguments) -glue -stitched] mode arguments
    lassign [StitchArguments $arguments {FOLDER ?PINS.xdc? ?-glue|-stitched?} 1 2] folder pins
    if {$pins ne "" && ![file isfile $pins]} {
        error "floorflow: there is no file $pins"
    }
    set out [file join [StitchFolder $folder] $given(-top)]
    set cells [lmap row $given(-cells) {
        list [lindex $row 0] [lindex $row [expr {$mode eq "-stitched" ? "end" : 1}]]
    }]
    if {$mode ne "-glue"} {
        StitchLibrary $cells $folder
    }
    if {$mode eq "-stitched"} {
        StitchOpen [file join $out stitched.dcp] $given(-cells)
    } else {
        file delete -force $out
        file mkdir $out
        create_project -in_memory -part $given(-part)
        StitchTop $given(-top) $given(-part) [concat $given(-sources) [StitchRtl $given(-rtl)]] \
            $given(-clock) $pins [lmap row $cells {lindex $row 0}]
    }
    if {$mode eq "-glue"} {
        set glue [file join $out glue.dcp]
        write_checkpoint -force $glue
        StitchMade $glue write_checkpoint
        puts "floorflow: $given(-top) is ready for the modules that RapidWright moves"
        return
    }
    foreach row $cells {
        lassign $row cell module
        if {[get_property IS_BLACKBOX [get_cells $cell]]} {
            StitchRead $cell [file join $folder $module.dcp]
        }
        lock_design -level routing [get_cells $cell]
        StitchPlaced $cell
        StitchKept $cell [file join $folder ${module}_timing.json]
    }
    StitchAssign $given(-slrs)
    StitchTell $given(-top) placement
    opt_design
    place_design
    StitchPlaced $given(-top)
    phys_opt_design
    StitchTell $given(-top) routing
    route_design
    StitchRouted $given(-top)
    phys_opt_design
    StitchRouted $given(-top)
    StitchClocks $given(-top)
    foreach row $cells {
        StitchKept [lindex $row 0] [file join $folder [lindex $row 1]_timing.json]
    }
    set worst [StitchTimed $given(-top)]
    StitchReport $out $given(-top) $worst
    set netlist [file join $out $given(-top)_funcsim.v]
    # What it does against the back end's own stimuli tells whether pins and words are where they
    # should be; timing does not.
    write_verilog -mode funcsim -force $netlist
    StitchMade $netlist write_verilog
    set checkpoint [file join $out $given(-top).dcp]
    write_checkpoint -force $checkpoint
    StitchMade $checkpoint write_checkpoint
    if {$pins ne ""} {
        set bits [file join $out $given(-top).bit]
        write_bitstream -force $bits
        StitchMade $bits write_bitstream
    }
    puts "floorflow: $given(-top) is stitched of [llength $given(-cells)] modules; WNS $worst ns"
}

# Return the one of some flags that -tclargs brought, or nothing, and the other arguments.
proc floorflow::StitchFlag {arguments args} {
    set flags [lsearch -all -inline $arguments -*]
    if {[llength $flags] > 1 || ([llength $flags] == 1 && $flags ni $args)} {
        error "floorflow: expected one of [join $args { or }] at the most, found $flags"
    }
    return [list [lindex $flags 0] [lsearch -all -inline -not $arguments -*]]
}

# Return the first place of a module that is moved to the others: at each port it has the time that
# the place with the longest way outside leaves.
proc floorflow::StitchFirst {places} {
    set first [lindex $places 0]
    set ports [list]
    foreach port [dict get $first ports] {
        lassign $port stream sites outside
        foreach other $places {
            set there [lsearch -inline -index 0 [dict get $other ports] $stream]
            set outside [expr {max($outside, [lindex $there 2])}]
        }
        lappend ports [list $stream $sites $outside]
    }
    dict set first ports $ports
    return $first
}

# Synthesise the top, in which CELLS are black boxes.
proc floorflow::StitchTop {top part sources clock pins cells} {
    read_verilog $sources
    read_xdc $clock
    if {$pins eq ""} {
        synth_design -top $top -part $part -mode out_of_context -flatten_hierarchy none
        set_property HD.CLK_SRC [StitchClockSource] [get_ports ap_clk]
    } else {
        read_xdc $pins
        synth_design -top $top -part $part -flatten_hierarchy none
    }
    set boxes [get_cells -quiet -hierarchical -filter {IS_BLACKBOX == 1}]
    if {[lsort $boxes] ne [lsort $cells]} {
        error "floorflow: $top has the black boxes {[lsort $boxes]}, the plan's modules are\
            {[lsort $cells]}; a file of another plan was read"
    }
}

# Open what RapidWright wrote, or stop where a module that it moves is not in it.
proc floorflow::StitchOpen {file cells} {
    if {![file isfile $file]} {
        error "floorflow: there is no $file; run -glue, then rapidwright/stitch_<card>.py"
    }
    open_checkpoint $file
    foreach row $cells {
        lassign $row cell module first
        if {$first ne "" && [get_property IS_BLACKBOX [get_cells $cell]]} {
            error "floorflow: cell '$cell' is empty in $file; run rapidwright/stitch_<card>.py of\
                this plan"
        }
    }
}

# Tell what a run begins with, for whoever waits for it.
proc floorflow::StitchTell {name step} {
    puts "floorflow now: $name: $step"
    flush stdout
}

# Return what -tclargs brought, as many as may be.
proc floorflow::StitchArguments {arguments usage least most} {
    if {[llength $arguments] < $least || [llength $arguments] > $most} {
        error "floorflow: expected -tclargs $usage"
    }
    return [lmap path $arguments {file normalize $path}]
}

# Return the folder for what is made.
proc floorflow::StitchFolder {folder} {
    if {$folder eq ""} {
        set folder [file join [pwd] floorflow_stitch]
    }
    file mkdir $folder
    return $folder
}

# Return the shipped Verilog, of which there is none in a folder that was not taken whole.
proc floorflow::StitchRtl {folder} {
    set found [glob -nocomplain -directory $folder floorflow_stitch_*.v]
    if {[llength $found] == 0} {
        error "floorflow: $folder holds no floorflow_stitch_*.v; take the plan's folder whole"
    }
    return [lsort $found]
}

# Make the back end's IP, which the folder holds under this name, a module of the open project.
proc floorflow::StitchCore {name folder work} {
    set_property ip_repo_paths [list $folder] [current_project]
    update_ip_catalog
    set found [get_ipdefs -quiet -all -filter "NAME == $name"]
    if {[llength $found] != 1} {
        error "floorflow: $folder holds [llength $found] IPs of the name $name, expected exactly 1"
    }
    create_ip -vlnv $found -module_name $name -dir $work
    generate_target all [get_ips $name]
    synth_ip [get_ips $name]
}

# Stop if synthesis took a register of ours: ports would no longer begin and end in registers.
proc floorflow::StitchOwn {cells} {
    foreach cell $cells {
        if {[llength [get_cells -quiet $cell]] != 1} {
            error "floorflow: synthesis left no cell '$cell'; it is floorflow's own and has\
                DONT_TOUCH"
        }
    }
}

# Stop if a module has a clock buffer: the one buffer of a design stands in its top.
proc floorflow::StitchNoClockBuffers {name} {
    set found [get_cells -quiet -hierarchical -filter {REF_NAME =~ BUFG*}]
    if {[llength $found] > 0} {
        error "floorflow: $name has clock buffers ([lrange $found 0 4]); the clock's one buffer\
            belongs into the top"
    }
}

# Return the site of a clock buffer in the middle of those that the part has.
proc floorflow::StitchClockSource {} {
    foreach type {BUFGCE BUFGCTRL} {
        set sites [lsort -dictionary [get_sites -quiet -filter "SITE_TYPE == $type"]]
        if {[llength $sites] > 0} {
            return [lindex $sites [expr {[llength $sites] / 2}]]
        }
    }
    error "floorflow: the part has no site for a clock buffer, neither BUFGCE nor BUFGCTRL"
}

# Constrain the open module: clock, pblock, the places of its pins, and what of a cycle is its own.
proc floorflow::StitchConstraints {place period} {
    create_clock -name ap_clk -period $period [get_ports ap_clk]
    set_property HD.CLK_SRC [StitchClockSource] [get_ports ap_clk]
    set name [dict get $place pblock]
    create_pblock $name
    set pblock [get_pblocks $name]
    resize_pblock $pblock -add [dict get $place ranges]
    add_cells_to_pblock $pblock -top
    set_property IS_SOFT FALSE $pblock
    set_property CONTAIN_ROUTING TRUE $pblock
    foreach port [dict get $place ports] {
        lassign $port stream sites outside
        set pins [StitchPins $stream]
        set_property HD.PARTPIN_RANGE $sites $pins
        set_input_delay -clock ap_clk $outside [StitchPins $stream IN]
        set_output_delay -clock ap_clk $outside [StitchPins $stream OUT]
    }
    set_input_delay -clock ap_clk [expr {$period / 2.0}] [get_ports ap_rst_n]
}

# Return the pins of a stream, all or of one direction.
proc floorflow::StitchPins {stream {direction ""}} {
    set found [get_ports -quiet ${stream}_*]
    if {$direction ne ""} {
        set found [get_ports -quiet ${stream}_* -filter "DIRECTION == $direction"]
    }
    if {[llength $found] == 0} {
        error "floorflow: the open module has no pins of the stream '$stream'"
    }
    return $found
}

# Put a checkpoint into a black box.
proc floorflow::StitchRead {cell file} {
    read_checkpoint -cell $cell -strict $file
    if {[get_property IS_BLACKBOX [get_cells $cell]]} {
        error "floorflow: $file left cell '$cell' a black box"
    }
}

# Tell Vivado the die of each register between modules.
proc floorflow::StitchAssign {slrs} {
    if {[llength [get_slrs -quiet]] < 2} {
        return
    }
    foreach row $slrs {
        lassign $row slr cells
        foreach cell $cells {
            set found [get_cells -quiet $cell]
            if {[llength $found] != 1} {
                error "floorflow: register '$cell' matches [llength $found] cells, expected\
                    exactly 1"
            }
            set_property USER_SLR_ASSIGNMENT $slr $found
        }
    }
}

# Stop if a cell has no place. Its STATUS would not tell: it is ASSIGNED in a routed checkpoint.
proc floorflow::StitchPlaced {name} {
    set inside [list]
    foreach cell [StitchBelow $name [StitchPrimitives]] {
        if {[get_property LOC $cell] eq ""} {
            lappend inside $cell
        }
    }
    if {[llength $inside] > 0} {
        error "floorflow: [llength $inside] cells of $name have no LOC ([lrange $inside 0 4]);\
            place_design did not place them, or a checkpoint lost them"
    }
}

# Stop if a cell of a module lies outside its pblock.
proc floorflow::StitchInside {name pblock} {
    # An array, as a search through the sites for each cell would take hours.
    foreach site [get_sites -quiet -of_objects [get_pblocks $pblock]] {
        set inside($site) 1
    }
    set outside [list]
    foreach cell [StitchPrimitives] {
        if {![info exists inside([get_property LOC $cell])]} {
            lappend outside $cell
        }
    }
    if {[llength $outside] > 0} {
        error "floorflow: [llength $outside] cells of $name lie outside $pblock\
            ([lrange $outside 0 4])"
    }
}

# Return the cells that have a place: all primitive ones but the two constants.
proc floorflow::StitchPrimitives {} {
    return [get_cells -quiet -hierarchical -filter \
        {IS_PRIMITIVE == 1 && REF_NAME != VCC && REF_NAME != GND}]
}

# Return those of some cells that are in a cell; all where the name is that of the design.
proc floorflow::StitchBelow {name cells} {
    if {[llength [get_cells -quiet $name]] == 0} {
        return $cells
    }
    return [lmap cell $cells {
        if {[string first "$name/" $cell] != 0} {
            continue
        }
        set cell
    }]
}

# Stop if a net has no whole route, by what report_route_status counts.
proc floorflow::StitchRouted {name} {
    set told [report_route_status -return_string]
    if {![regexp {# of nets with routing errors[. ]*:\s*(\d+)} $told - count]} {
        error "floorflow: report_route_status does not tell how many nets of $name have errors"
    }
    if {$count > 0} {
        error "floorflow: $count nets of $name are not routed; report_route_status lists them;\
            give the modules there more room"
    }
}

# Return the worst slack in ns, or stop where it is below 0.
proc floorflow::StitchTimed {name} {
    set paths [get_timing_paths -quiet -setup -max_paths 1]
    if {[llength $paths] == 0} {
        error "floorflow: $name has no timing path; its clock reaches nothing"
    }
    set worst [get_property SLACK [lindex $paths 0]]
    if {$worst < 0} {
        error "floorflow: $name misses its clock by [expr {-$worst}] ns (WNS $worst ns); plan with\
            a lower --clock-mhz, or give the module a wider pblock"
    }
    set hold [get_timing_paths -quiet -hold -max_paths 1]
    if {[llength $hold] > 0 && [get_property SLACK [lindex $hold 0]] < 0} {
        error "floorflow: $name holds by [get_property SLACK [lindex $hold 0]] ns; its hold paths\
            need room for detours"
    }
    return $worst
}

# Stop if a design has several clock buffers, or none where it is whole.
proc floorflow::StitchClocks {name} {
    set found [get_cells -quiet -hierarchical -filter {REF_NAME =~ BUFG*}]
    if {[llength $found] > 1} {
        error "floorflow: $name has [llength $found] clock buffers ([lrange $found 0 4]); modules\
            were timed from one"
    }
}

# Stop if a module does not have as many primitive cells as when it was implemented alone:
# route-through LUTs are lost where a run is split into modules.
proc floorflow::StitchKept {cell file} {
    set channel [open $file]
    set told [read $channel]
    close $channel
    if {![regexp {"cells": (\d+)} $told - planned]} {
        error "floorflow: $file does not tell how many cells the module has"
    }
    set found [llength [StitchBelow $cell [StitchPrimitives]]]
    if {$found != $planned} {
        error "floorflow: '$cell' has $found primitive cells, the module that was implemented has\
            $planned: route-through LUTs were lost, or logic was trimmed"
    }
}

# Write utilisation as XML, and timing with the count of cells as JSON.
proc floorflow::StitchReport {folder name worst} {
    report_utilization -hierarchical -format xml -file [file join $folder ${name}_utilization.xml]
    report_timing_summary -file [file join $folder ${name}_timing_summary.rpt]
    set cells [llength [StitchPrimitives]]
    set channel [open [file join $folder ${name}_timing.json] w]
    puts $channel "{\"name\": \"$name\", \"wns_ns\": $worst, \"cells\": $cells}"
    close $channel
}

# Stop unless every module has its checkpoint and what was told of it.
proc floorflow::StitchLibrary {cells folder} {
    set missing [list]
    foreach row $cells {
        foreach end {.dcp _timing.json} {
            set file [lindex $row 1]$end
            if {![file isfile [file join $folder $file]]} {
                lappend missing $file
            }
        }
    }
    if {[llength $missing] > 0} {
        error "floorflow: $folder lacks [join $missing {, }]; run ooc/<implementation>/run.tcl of\
            these modules first"
    }
}

# Stop if a step made no file.
proc floorflow::StitchMade {file step} {
    if {![file isfile $file] || [file size $file] == 0} {
        error "floorflow: $step made no $file; its messages above say why"
    }
}
