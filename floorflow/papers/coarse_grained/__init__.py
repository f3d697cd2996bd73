"""Kwadjo, Tchinda and Bobda: coarse-grained floorplanning of streaming CNN applications on FPGAs."""
