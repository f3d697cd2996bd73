# Planted: RESET_AFTER_RECONFIG on a pblock of half a clock region, and another partition in the same frames above it.
create_pblock pblock_low
resize_pblock [get_pblocks pblock_low] -add {SLICE_X50Y0:SLICE_X59Y24}
add_cells_to_pblock [get_pblocks pblock_low] [get_cells low]
set_property RESET_AFTER_RECONFIG TRUE [get_pblocks pblock_low]
set_property HD.RECONFIGURABLE TRUE [get_cells low]
create_pblock pblock_high
resize_pblock [get_pblocks pblock_high] -add {SLICE_X50Y25:SLICE_X59Y49}
add_cells_to_pblock [get_pblocks pblock_high] [get_cells high]
set_property HD.RECONFIGURABLE TRUE [get_cells high]
