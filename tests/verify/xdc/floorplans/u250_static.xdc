# Planted: the pblock reaches into the right column of clock regions, which the shell of 2018 keeps.
create_pblock pblock_right
resize_pblock [get_pblocks pblock_right] -add {CLOCKREGION_X5Y8:CLOCKREGION_X7Y11}
set_property IS_SOFT FALSE [get_pblocks pblock_right]
add_cells_to_pblock [get_pblocks pblock_right] [get_cells pfm_top_i/dynamic_region/kernel_1/inst]
