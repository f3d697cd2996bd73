"""Tests of floorflow.study.pareto."""
