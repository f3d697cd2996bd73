"""Tests of floorflow.view.pictures."""
