"""Tests of floorflow.verify.hardware."""
