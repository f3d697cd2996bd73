# The right half of SLR0 of a U280 under its shell of 2019 beside the left half: ranges and prefix as in a public project.
create_pblock pblock_X0_Y0
resize_pblock pblock_X0_Y0 -add CLOCKREGION_X0Y0:CLOCKREGION_X3Y3
add_cells_to_pblock [get_pblocks pblock_X0_Y0] [get_cells -regex {
  pfm_top_i/dynamic_region/kernel_1/inst/left
}]
create_pblock pblock_X1_Y0
resize_pblock pblock_X1_Y0 -add { \
  SLICE_X117Y0:SLICE_X205Y239 \
  DSP48E2_X16Y0:DSP48E2_X29Y89 \
  LAGUNA_X16Y0:LAGUNA_X27Y119 \
  RAMB18_X8Y0:RAMB18_X11Y95 \
  RAMB36_X8Y0:RAMB36_X11Y47 \
  URAM288_X2Y0:URAM288_X4Y63 \
  SLICE_X206Y0:SLICE_X232Y59 \
  DSP48E2_X30Y0:DSP48E2_X31Y17 \
  PCIE4CE4_X1Y0:PCIE4CE4_X1Y0 \
  RAMB18_X12Y0:RAMB18_X13Y23 \
  RAMB36_X12Y0:RAMB36_X13Y11 \
}
add_cells_to_pblock [get_pblocks pblock_X1_Y0] [get_cells -regex {
  pfm_top_i/dynamic_region/kernel_1/inst/right
}]
