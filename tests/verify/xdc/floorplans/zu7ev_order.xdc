# Planted: order of commands, control flow, a cell in two pblocks, an overlap of hard pblocks.
add_cells_to_pblock [get_pblocks pblock_a] [get_cells top_i/a]
create_pblock pblock_a
resize_pblock [get_pblocks pblock_a] -add {CLOCKREGION_X2Y0:CLOCKREGION_X2Y1}
set_property IS_SOFT FALSE [get_pblocks pblock_a]
foreach cell {top_i/b top_i/c} {
  add_cells_to_pblock [get_pblocks pblock_b] [get_cells $cell]
}
create_pblock pblock_b
resize_pblock [get_pblocks pblock_b] -add {CLOCKREGION_X2Y1:CLOCKREGION_X2Y2}
set_property IS_SOFT FALSE [get_pblocks pblock_b]
add_cells_to_pblock [get_pblocks pblock_b] [get_cells top_i/a]
