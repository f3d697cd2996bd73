# Hand-written procedures that the scripts emitted by floorflow call.
#
#   floorflow::begin  -part PART ?-unbound TRUE?
#   floorflow::ports  CELL -in WIDTHS -out WIDTHS
#   floorflow::pblock NAME -ranges RANGES -cells CELLS ?-parent PARENT? ?-soft TRUE?
#   floorflow::slr    SLR -cells CELLS
#   floorflow::end ?-pblocks COUNT? ?-assigned COUNT? ?-ports COUNT?
#
# Vivado only warns when a constraint matches nothing and then builds without it. Everything here
# stops instead, before a pblock is touched, and says what to do.
#
# A script whose cells are not bound to a build yet says -unbound TRUE. It runs only if the user
# says -unbound as well (vivado -source SCRIPT -tclargs -unbound), and makes pblocks without cells.
#
# Which pblocks are ours: those that floorflow::pblock made since this file was first read by this
# Vivado process. floorflow::begin deletes exactly these, so a script can be run again; a pblock of
# another origin (a shell, a user, a checkpoint) is never deleted or changed. In the same way it
# takes back the SLRs that floorflow::slr gave to cells.

namespace eval floorflow {
    namespace export begin ports pblock slr cell end

    # Survives a second `source` of this file: a script that is run again has to find its pblocks.
    variable created
    if {![info exists created]} {
        set created [list]
    }
    variable assigned
    if {![info exists assigned]} {
        set assigned [list]
    }
    variable running 0
    variable unbound 0
    variable pblock_count 0
    variable cell_count 0
    variable port_count 0
    # Cells that are black boxes when a floorplan begins.
    variable empty [list]
    # Full cell name -> the pblock or SLR that took it, because Vivado silently moves a cell that
    # is added twice.
    variable owner
    array unset owner
}

# Start a floorplan: check the part, remove what an earlier run of ours left, reset the counts.
proc floorflow::begin {args} {
    variable created
    variable assigned
    variable running
    variable unbound
    variable pblock_count
    variable cell_count
    variable port_count
    variable empty
    variable owner
    set options [Options begin $args {-part} {-unbound}]
    set part [dict get $options -part]
    set unbound [dict exists $options -unbound]

    # A stopped or refused run must not let the next pblock call through.
    set running 0
    if {$unbound && !([info exists ::argv] && "-unbound" in $::argv)} {
        error "floorflow: what the cells of this plan are called is known only from a build of it;\
            run 'floorflow bind' on the build, or say -unbound (vivado -source SCRIPT -tclargs\
            -unbound) to make the pblocks without cells"
    }
    set design [current_design -quiet]
    if {[llength $design] == 0} {
        error "floorflow: no design is open; open the synthesised design first"
    }
    set actual [get_property PART $design]
    if {![string equal -nocase $actual $part]} {
        error "floorflow: the plan is for part '$part', but the open design has part '$actual';\
            open the right design or plan again for this part"
    }

    # Children were made after their parents, so they go first.
    foreach name [lreverse $created] {
        set old [get_pblocks -quiet $name]
        if {[llength $old] == 1} {
            delete_pblock $old
        }
    }
    set created [list]
    foreach full_name $assigned {
        set old [get_cells -quiet $full_name]
        if {[llength $old] == 1} {
            reset_property USER_SLR_ASSIGNMENT $old
        }
    }
    set assigned [list]
    array unset owner
    # Asked once: a pattern for what lies below one cell would read the brackets in its name.
    set empty [get_cells -quiet -hierarchical -filter {IS_BLACKBOX == 1}]
    set pblock_count 0
    set cell_count 0
    set port_count 0
    set running 1
}

# Stop unless the streams of a cell are as wide as the plan's: a name alone does not make it the
# engine that is meant. WIDTHS are bits in any order; ports are padded to whole bytes, of which
# synthesis may take what nothing drives.
proc floorflow::ports {name args} {
    variable running
    variable port_count
    if {!$running} {
        error "floorflow: ports of '$name' come before floorflow::begin;\
            call floorflow::begin -part PART first"
    }
    set options [Options "ports of '$name'" $args {-in -out} {}]
    set found [StreamWidths [OneCell $name " whose streams the plan knows"]]
    foreach {option direction} {-in IN -out OUT} {
        set planned [lsort -integer [dict get $options $option]]
        set actual [lsort -integer [dict get $found $direction]]
        if {![Fit $actual $planned]} {
            error "floorflow: cell '$name' has streams of {$actual} bits ($direction), the plan has\
                {$planned}: it is another engine; run 'floorflow bind' on the build of this design"
        }
    }
    incr port_count
}

# Make one pblock, hard unless told, and put cells into it. Everything is checked before anything
# is made.
proc floorflow::pblock {name args} {
    variable running
    variable unbound
    variable pblock_count
    if {!$running} {
        error "floorflow: pblock '$name' comes before floorflow::begin;\
            call floorflow::begin -part PART first"
    }
    set options [Options "pblock '$name'" $args {-ranges -cells} {-parent -soft}]
    set ranges [dict get $options -ranges]
    set cells [dict get $options -cells]
    CheckNewPblock $name $ranges
    if {[dict exists $options -parent]} {
        CheckParent $name [dict get $options -parent]
    }
    if {!$unbound} {
        CheckCells "pblock '$name'" $cells
    }
    set soft [expr {[dict exists $options -soft] ? [dict get $options -soft] : "FALSE"}]
    if {$soft ni {TRUE FALSE}} {
        error "floorflow: pblock '$name': -soft is '$soft', expected TRUE or FALSE"
    }

    set new [MakePblock $name $ranges]
    if {[dict exists $options -parent]} {
        set_property PARENT [dict get $options -parent] $new
    }
    # Vivado's default is a soft pblock, which its cells may leave; what is meant is always said.
    set_property IS_SOFT $soft $new
    if {!$unbound} {
        AddCells $name $cells
    }
    incr pblock_count
    return $name
}

# Assign cells to an SLR, without a pblock. Everything is checked before anything is assigned.
proc floorflow::slr {name args} {
    variable running
    variable unbound
    variable assigned
    variable owner
    if {!$running} {
        error "floorflow: slr '$name' comes before floorflow::begin;\
            call floorflow::begin -part PART first"
    }
    set cells [dict get [Options "slr '$name'" $args {-cells} {}] -cells]
    RefuseWildcards "SLR" $name
    set count [llength [get_slrs -quiet $name]]
    if {$count != 1} {
        error "floorflow: SLR '$name' matches $count SLRs of the part, expected exactly 1"
    }
    if {$unbound} {
        return $name
    }
    CheckCells "SLR '$name'" $cells
    foreach full_name $cells {
        # Noted before it is set, so that the next run takes back what a failed one did.
        lappend assigned $full_name
        set_property USER_SLR_ASSIGNMENT $name [get_cells -quiet $full_name]
        set owner($full_name) "SLR '$name'"
    }
    return $name
}

# Return the one cell of this full name, or stop.
proc floorflow::cell {name} {
    return [OneCell $name ""]
}

# Finish: compare with the counts that the plan gives, and report what was made. Without counts, a
# script that constrains nothing is a mistake; an FPGA that got no module has `-pblocks 0`.
proc floorflow::end {args} {
    variable running
    variable pblock_count
    variable cell_count
    variable unbound
    variable assigned
    variable port_count
    set options [Options end $args {} {-pblocks -assigned -ports}]
    if {!$running} {
        error "floorflow: floorflow::end without floorflow::begin;\
            call floorflow::begin -part PART first"
    }
    set running 0
    set assigned_count [llength $assigned]
    if {![dict exists $options -pblocks]} {
        if {$pblock_count + $assigned_count == 0} {
            error "floorflow: no pblock was made between floorflow::begin and floorflow::end, and\
                no cell has an SLR; the design would be built without a floorplan"
        }
    } elseif {$pblock_count != [dict get $options -pblocks]} {
        error "floorflow: pblocks made: $pblock_count, in the plan: [dict get $options -pblocks];\
            the script is not whole, take it again from the plan's folder"
    }
    set told [expr {!$unbound && [dict exists $options -assigned]}]
    if {$told && $assigned_count != [dict get $options -assigned]} {
        error "floorflow: cells assigned to SLRs: $assigned_count, in the plan:\
            [dict get $options -assigned]; the script is not whole, take it again from the plan's\
            folder"
    }
    if {[dict exists $options -ports] && $port_count != [dict get $options -ports]} {
        error "floorflow: cells whose streams were compared: $port_count, in the plan:\
            [dict get $options -ports]; the script is not whole, take it again from the plan's\
            folder"
    }
    puts "floorflow: $pblock_count pblocks, $cell_count cells in them,\
        $assigned_count cells assigned to SLRs"
}

# Return the cell object; `purpose` ends the first part of the message, such as " for pblock 'x'".
proc floorflow::OneCell {name purpose} {
    RefuseWildcards "cell" $name
    set found [get_cells -quiet $name]
    set count [llength $found]
    if {$count != 1} {
        error "floorflow: cell '$name'$purpose matches $count cells, expected exactly 1;\
            check the name against the hierarchy of the open design and set keep_hierarchy on\
            the cell, as synthesis may have flattened or renamed it"
    }
    return $found
}

# Return a dict of the widths of a cell's streams by direction (IN, OUT), counted by data pins.
proc floorflow::StreamWidths {cell} {
    set widths [dict create]
    foreach pin [get_pins -quiet -of_objects $cell] {
        set port [get_property REF_PIN_NAME $pin]
        if {[regexp -nocase {^(.*)_tdata(\[\d+\])?$} $port - stream]} {
            dict incr widths [list [get_property DIRECTION $pin] $stream]
        }
    }
    set found [dict create IN [list] OUT [list]]
    dict for {key width} $widths {
        dict lappend found [lindex $key 0] $width
    }
    return $found
}

# Whether widths of ports are those of streams, both ascending: as wide, or padded to whole bytes.
proc floorflow::Fit {actual planned} {
    if {[llength $actual] != [llength $planned]} {
        return 0
    }
    foreach width $actual bits $planned {
        if {$width < $bits || $width > ($bits + 7) / 8 * 8} {
            return 0
        }
    }
    return 1
}

# Stop unless a pblock of this name can be made here.
proc floorflow::CheckNewPblock {name ranges} {
    RefuseWildcards "pblock" $name
    if {[llength $ranges] == 0} {
        error "floorflow: pblock '$name' has no ranges; it would constrain nothing"
    }
    if {[llength [get_pblocks -quiet $name]] != 0} {
        error "floorflow: pblock '$name' exists already and was not made by an earlier run of\
            floorflow in this session; remove it with: delete_pblock \[get_pblocks {$name}\]"
    }
}

# Stop unless every cell matches exactly once and belongs to no other pblock or SLR of this run.
proc floorflow::CheckCells {place cells} {
    variable owner
    if {[llength $cells] == 0} {
        error "floorflow: $place has no cells; it would constrain nothing"
    }
    array set claimed {}
    foreach full_name $cells {
        OneCell $full_name " for $place"
        if {[info exists owner($full_name)]} {
            error "floorflow: cell '$full_name' is in $owner($full_name) and again in\
                $place; a cell can be in one place only"
        }
        if {[info exists claimed($full_name)]} {
            error "floorflow: $place lists cell '$full_name' twice"
        }
        CheckFilled $full_name $place
        set claimed($full_name) 1
    }
}

# Stop at a cell that is empty, or holds an empty one: an IP that was not synthesised, or whose
# checkpoint was not found. Vivado takes it into a pblock without a word.
proc floorflow::CheckFilled {name place} {
    variable empty
    foreach box $empty {
        if {$box eq $name || [string first "$name/" $box] == 0} {
            error "floorflow: cell '$box' for $place is a black box; synthesise the IP or read the\
                checkpoint that belongs there, and see what synthesis says of it"
        }
    }
}

# Create and resize. Noted as ours before the resize, so that the next run removes a failed one.
proc floorflow::MakePblock {name ranges} {
    variable created
    create_pblock $name
    lappend created $name
    set new [get_pblocks $name]
    resize_pblock $new -add $ranges
    return $new
}

# Put the cells, all checked before, into the pblock.
proc floorflow::AddCells {name cells} {
    variable owner
    variable cell_count
    set new [get_pblocks $name]
    foreach full_name $cells {
        add_cells_to_pblock $new [get_cells -quiet $full_name]
        set owner($full_name) "pblock '$name'"
        incr cell_count
    }
}

# A parent is the shell's or an earlier pblock's; making one here would hide a wrong shell.
proc floorflow::CheckParent {name parent} {
    RefuseWildcards "parent pblock" $parent
    if {[string equal $name $parent]} {
        error "floorflow: pblock '$name' is its own parent"
    }
    set count [llength [get_pblocks -quiet $parent]]
    if {$count != 1} {
        error "floorflow: parent pblock '$parent' of pblock '$name' matches $count pblocks,\
            expected exactly 1; parents come with the shell and are never made here: check\
            that the design was linked with the shell of the plan's board"
    }
}

# `foo_1*` also takes foo_10 to foo_19, so only whole names are accepted. Brackets are literal in
# Vivado's patterns and common in names (gen[0].core), so they are allowed.
proc floorflow::RefuseWildcards {kind name} {
    if {[string length $name] == 0} {
        error "floorflow: the name of a $kind is empty"
    }
    if {[regexp {[*?]} $name]} {
        error "floorflow: $kind name '$name' holds a wildcard (* or ?); give the whole name"
    }
}

# Return a dict of options, each given at most once; `caller` names the call in messages.
proc floorflow::Options {caller arguments required optional} {
    set known [concat $required $optional]
    if {[llength $arguments] % 2 != 0} {
        error "floorflow: $caller: '[lindex $arguments end]' has no value;\
            expected values for [join $known {, }]"
    }
    set options [dict create]
    foreach {key value} $arguments {
        if {$key ni $known} {
            error "floorflow: $caller: unknown option '$key';\
                expected [join $known {, }]"
        }
        if {[dict exists $options $key]} {
            error "floorflow: $caller: option '$key' is given twice"
        }
        dict set options $key $value
    }
    foreach key $required {
        if {![dict exists $options $key]} {
            error "floorflow: $caller: option '$key' is missing"
        }
    }
    return $options
}
