# Planted: a reconfigurable partition without snapping whose right edge parts an interconnect and whose top cuts tiles.
create_pblock pblock_rp
resize_pblock [get_pblocks pblock_rp] -add {SLICE_X9Y60:SLICE_X25Y177}
resize_pblock [get_pblocks pblock_rp] -add {DSP48E2_X1Y24:DSP48E2_X2Y69}
resize_pblock [get_pblocks pblock_rp] -add {RAMB18_X1Y24:RAMB18_X2Y69 RAMB36_X1Y12:RAMB36_X2Y34}
add_cells_to_pblock [get_pblocks pblock_rp] [get_cells [list inst_RP]]
set_property HD.RECONFIGURABLE 1 [get_cells inst_RP]
set_property SNAPPING_MODE OFF [get_pblocks pblock_rp]
