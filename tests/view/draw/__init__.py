"""Tests of floorflow.view.draw."""
