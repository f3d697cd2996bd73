"""Tests of floorflow.view."""
