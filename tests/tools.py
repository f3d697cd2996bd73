"""Tools outside the package that tests use where they can be had."""

from __future__ import annotations

import importlib
import os

import pytest


def need_module(name: str, reason: str) -> None:
    """Skip with the reason if the module is missing; fail where the gate says that every tool is there."""
    try:
        importlib.import_module(name)
    except ImportError:
        if os.environ.get("FLOORFLOW_TOOLS_REQUIRED"):
            raise
        pytest.skip(reason, allow_module_level=True)


def need_tcl() -> None:
    """Ask for the Tcl interpreter that the model of Vivado runs in."""
    need_module("tkinter", "the model of Vivado needs Python's tkinter for its Tcl interpreter")
