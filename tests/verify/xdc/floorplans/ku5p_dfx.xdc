# The reconfigurable partition of AMD's DFX tutorial for the KCU116 board (UG947): ranges and properties.
create_pblock pblock_inst_RP
add_cells_to_pblock [get_pblocks pblock_inst_RP] [get_cells -quiet [list inst_RP]]
resize_pblock [get_pblocks pblock_inst_RP] -add {SLICE_X9Y60:SLICE_X27Y179}
resize_pblock [get_pblocks pblock_inst_RP] -add {DSP48E2_X1Y24:DSP48E2_X3Y71}
resize_pblock [get_pblocks pblock_inst_RP] -add {RAMB18_X1Y24:RAMB18_X2Y71}
resize_pblock [get_pblocks pblock_inst_RP] -add {RAMB36_X1Y12:RAMB36_X2Y35}
set_property SNAPPING_MODE ON [get_pblocks pblock_inst_RP]
set_property IS_SOFT FALSE [get_pblocks pblock_inst_RP]
set_property HD.RECONFIGURABLE true [get_cells inst_RP]
