"""The files of an output folder, from a plan."""

from __future__ import annotations

import hashlib

from floorflow.emit import emit
from floorflow.plan import Plan
from floorflow.target import Platform


def bundle(result: Plan, platform: Platform) -> dict[str, str | bytes]:
    """Return every file of the output folder but pictures and run.json."""
    text = result.to_json()
    files: dict[str, str | bytes] = {"plan.json": text}
    files |= {f"platform/{name}": content for name, content in platform.files.items()}
    return files | emit(result, platform, hashlib.sha256(text.encode()).hexdigest())


def render_if(result: Plan, platform: Platform, *, wanted: bool) -> dict[str, bytes]:
    """Return the pictures; matplotlib, slow to import, is loaded only here."""
    if not wanted:
        return {}
    from floorflow.view import render

    return render(result.model_dump(by_alias=True), platform)
