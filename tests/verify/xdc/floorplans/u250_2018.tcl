# Half-SLR slots of a U250 under its shell of 2018, as AutoBridge lays them out: the right column of clock regions is
# the shell's. Facts: UCLA-VAST/AutoBridge, DeviceManager.py; the prefix of that shell.
create_pblock pblock_X0_Y0
resize_pblock pblock_X0_Y0 -add CLOCKREGION_X0Y0:CLOCKREGION_X3Y3
add_cells_to_pblock [get_pblocks pblock_X0_Y0] [get_cells -regexp {
  pfm_top_i/dynamic_region/kernel_1/inst/slot_X0_Y0_.*
}]
create_pblock pblock_X1_Y0
resize_pblock pblock_X1_Y0 -add CLOCKREGION_X4Y0:CLOCKREGION_X6Y3
add_cells_to_pblock [get_pblocks pblock_X1_Y0] [get_cells -regexp {
  pfm_top_i/dynamic_region/kernel_1/inst/slot_X1_Y0_.*
}]
create_pblock pblock_X0_Y1
resize_pblock pblock_X0_Y1 -add CLOCKREGION_X0Y4:CLOCKREGION_X3Y7
add_cells_to_pblock [get_pblocks pblock_X0_Y1] [get_cells -regexp {
  pfm_top_i/dynamic_region/kernel_1/inst/slot_X0_Y1_.*
}]
create_pblock pblock_X1_Y1
resize_pblock pblock_X1_Y1 -add CLOCKREGION_X4Y4:CLOCKREGION_X6Y7
add_cells_to_pblock [get_pblocks pblock_X1_Y1] [get_cells -regexp {
  pfm_top_i/dynamic_region/kernel_1/inst/slot_X1_Y1_.*
}]
create_pblock pblock_X0_Y2
resize_pblock pblock_X0_Y2 -add CLOCKREGION_X0Y8:CLOCKREGION_X3Y11
add_cells_to_pblock [get_pblocks pblock_X0_Y2] [get_cells -regexp {
  pfm_top_i/dynamic_region/kernel_1/inst/slot_X0_Y2_.*
}]
create_pblock pblock_X1_Y2
resize_pblock pblock_X1_Y2 -add CLOCKREGION_X4Y8:CLOCKREGION_X6Y11
add_cells_to_pblock [get_pblocks pblock_X1_Y2] [get_cells -regexp {
  pfm_top_i/dynamic_region/kernel_1/inst/slot_X1_Y2_.*
}]
create_pblock pblock_X0_Y3
resize_pblock pblock_X0_Y3 -add CLOCKREGION_X0Y12:CLOCKREGION_X3Y15
add_cells_to_pblock [get_pblocks pblock_X0_Y3] [get_cells -regexp {
  pfm_top_i/dynamic_region/kernel_1/inst/slot_X0_Y3_.*
}]
create_pblock pblock_X1_Y3
resize_pblock pblock_X1_Y3 -add CLOCKREGION_X4Y12:CLOCKREGION_X6Y15
add_cells_to_pblock [get_pblocks pblock_X1_Y3] [get_cells -regexp {
  pfm_top_i/dynamic_region/kernel_1/inst/slot_X1_Y3_.*
}]
