# Two accelerators of a Zynq 7020, each with a clock region of its own, for exchange at run time.
set_property PACKAGE_PIN H16 [get_ports clk]
create_clock -period 8.000 -name clk [get_ports clk]

create_pblock pblock_lower
add_cells_to_pblock [get_pblocks pblock_lower] [get_cells -quiet [list design_1_i/lower]]
resize_pblock [get_pblocks pblock_lower] -add {SLICE_X50Y0:SLICE_X113Y49}
resize_pblock [get_pblocks pblock_lower] -add {DSP48_X3Y0:DSP48_X4Y19}
resize_pblock [get_pblocks pblock_lower] -add {RAMB18_X3Y0:RAMB18_X5Y19}
resize_pblock [get_pblocks pblock_lower] -add {RAMB36_X3Y0:RAMB36_X5Y9}
set_property RESET_AFTER_RECONFIG true [get_pblocks pblock_lower]
set_property HD.RECONFIGURABLE true [get_cells design_1_i/lower]

create_pblock pblock_upper
add_cells_to_pblock [get_pblocks pblock_upper] [get_cells -quiet [list design_1_i/upper]]
resize_pblock [get_pblocks pblock_upper] -add {CLOCKREGION_X1Y1:CLOCKREGION_X1Y1}
set_property RESET_AFTER_RECONFIG true [get_pblocks pblock_upper]
set_property HD.RECONFIGURABLE true [get_cells design_1_i/upper]
