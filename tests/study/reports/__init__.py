"""Tests of floorflow.study.reports."""
