# Planted: a child that leaves its parent over an SLR boundary, and cells named as under a U250's shell.
create_pblock pblock_outer
resize_pblock [get_pblocks pblock_outer] -add {CLOCKREGION_X0Y0:CLOCKREGION_X3Y3}
add_cells_to_pblock [get_pblocks pblock_outer] [get_cells level0_i/ulp/kernel_1/inst]
create_pblock pblock_inner
resize_pblock [get_pblocks pblock_inner] -add {CLOCKREGION_X1Y3:CLOCKREGION_X1Y4}
set_property PARENT pblock_outer [get_pblocks pblock_inner]
add_cells_to_pblock [get_pblocks pblock_inner] [get_cells level0_i/level1/level1_i/ulp/kernel_1/inst/core]
