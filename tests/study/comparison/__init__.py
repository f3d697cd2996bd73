"""Tests of floorflow.study.comparison."""
