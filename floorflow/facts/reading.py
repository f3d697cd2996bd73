"""Reading a plan.json, and the JSON Schema of it."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from floorflow.errors import InputError
from floorflow.facts.plan import SCHEMA, Plan
from floorflow.facts.values import first_fault
from floorflow.reading import read_text


def read_plan(path: Path) -> Plan:
    """Read plan.json.

    Raises
    ------
    InputError
        If the file is missing, is no plan or is of another version; the message names the first wrong field.

    """
    text = read_text(path, "plan", "give a folder that plan wrote")
    _require_version(path, text)
    try:
        return Plan.model_validate_json(text)
    except ValidationError as error:
        raise InputError(f"{path}: {first_fault(error)}", hint="give a plan.json of this version") from error
    except InputError as error:  # its back end is not installed, or has other options
        raise InputError(f"{path}: options: {error}", hint=error.hint) from error


def _require_version(path: Path, text: str) -> None:
    """Refuse the plan of another version of floorflow, before its fields are held against those of this one."""
    try:
        plan = json.loads(text)
    except (ValueError, RecursionError):
        return
    found = plan.get("schema") if isinstance(plan, dict) else None
    if isinstance(found, str) and found.startswith("floorflow-plan/") and found != SCHEMA:
        by = f", written by floorflow {plan['version']}" if isinstance(plan.get("version"), str) else ""
        raise InputError(
            f"{path}: is a {found}{by}; this floorflow reads {SCHEMA}", hint="plan again (--force replaces the folder)"
        )


def json_schema() -> str:
    """Return the JSON Schema of plan.json as text."""
    return json.dumps(Plan.model_json_schema(by_alias=True), indent=2, sort_keys=True) + "\n"
