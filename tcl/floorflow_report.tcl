# Hand-written: what a routed design tells, in files that `floorflow calibrate` reads. Run behind
# the last step that changes it (STEPS.POST_ROUTE_PHYS_OPT_DESIGN.TCL.POST where that step is
# enabled), or in an open implemented design.

namespace eval floorflow {}

# Write utilisation by pblock and by cell, timing and the paths that fail, into a folder.
proc floorflow::report {folder} {
    file mkdir $folder
    report_utilization -hierarchical -hierarchical_depth 5 \
        -file [file join $folder utilization.rpt]
    set pblocks [get_pblocks -quiet]
    if {[llength $pblocks] > 0} {
        report_utilization -pblocks $pblocks -file [file join $folder pblocks.rpt]
    }
    report_timing_summary -file [file join $folder timing_summary.rpt]
    report_timing -max_paths 200 -slack_lesser_than 0 -sort_by slack \
        -file [file join $folder failing_paths.rpt]
}

# Vivado sources this file behind a step, in the folder of its run.
if {![info exists floorflow::only_define]} {
    floorflow::report [file join [pwd] floorflow_reports]
}
