"""Tests of floorflow.verify.files."""
