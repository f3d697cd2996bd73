# Planted: no DSP, block RAM or UltraRAM range, and a corner in a Laguna column, under the newer shell's prefix.
create_pblock pblock_mac
resize_pblock [get_pblocks pblock_mac] -add {SLICE_X60Y300:SLICE_X90Y359}
resize_pblock [get_pblocks pblock_mac] -add {SLICE_X8Y230:SLICE_X20Y239}
set_property IS_SOFT FALSE [get_pblocks pblock_mac]
add_cells_to_pblock [get_pblocks pblock_mac] [get_cells {level0_i/ulp/mac_1/inst}]
