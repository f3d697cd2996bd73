"""Tests of floorflow.view.contents."""
