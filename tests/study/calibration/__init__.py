"""Tests of floorflow.study.calibration."""
