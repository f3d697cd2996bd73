# The Tcl side of the model: commands whose work is done in Python, and the XDC interpreter.
# A Python exception inside a Tcl command loses its message, so Python answers {ok value} instead.

namespace eval vivado_model {}

proc vivado_model::define {command} {
    proc ::$command {args} [format {
        lassign [::vivado_model::dispatch %s {*}$args] ok value
        if {!$ok} {
            return -code error $value
        }
        return $value
    } [list $command]]
}

# Both runs return {failed message line}.

# Run an XDC text in an interpreter that has only `commands` and the allowed built-ins (UG903).
proc vivado_model::run_xdc {text commands allowed} {
    set xdc [interp create]
    set builtins [interp eval $xdc {info commands}]
    foreach builtin $builtins {
        if {$builtin ni $allowed} {
            interp hide $xdc $builtin
        }
    }
    foreach command $commands {
        interp alias $xdc $command {} ::$command
    }
    interp alias $xdc unknown {} ::vivado_model::refuse $builtins $allowed
    set outcome [EachCommand $xdc $text]
    interp delete $xdc
    return $outcome
}

# Command by command, because `interp eval` of a whole text does not tell the line of an error.
proc vivado_model::EachCommand {xdc text} {
    set command ""
    set number 0
    set first 1
    foreach line [split $text \n] {
        incr number
        if {$command eq ""} {
            set first $number
        }
        append command $line \n
        if {[info complete $command]} {
            if {[catch {interp eval $xdc $command} result]} {
                return [list 1 $result $first]
            }
            set command ""
        }
    }
    if {$command ne ""} {
        return [list 1 "the command that starts here is not closed" $first]
    }
    return [list 0 "" 0]
}

# Run a script file with the whole of Tcl.
proc vivado_model::run_tcl {path} {
    set failed [catch {uplevel #0 [list source $path]} result options]
    set line 0
    if {$failed} {
        # A library sourced by the script stands first in the trace, the script itself last.
        set trace [dict get $options -errorinfo]
        set pattern {\(file "[^"]*" line (\d+)\)}
        foreach {- line} [regexp -all -inline $pattern $trace] {}
    }
    return [list $failed $result $line]
}

proc vivado_model::refuse {builtins allowed name args} {
    if {$name in $builtins} {
        error "Tcl command '$name' is not allowed in an XDC file, only [join $allowed {, }] (UG903)"
    }
    error "invalid command name \"$name\""
}
