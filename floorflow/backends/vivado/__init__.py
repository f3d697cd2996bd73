"""Readers of what Vivado reports after a build, one file a format; a report is known by its contents."""

from __future__ import annotations

from floorflow.backends.reports import Report
from floorflow.backends.vivado import flat_text, hierarchy_text, hierarchy_xml, power_text

_TEXTS = (hierarchy_text, power_text, flat_text)


def read_vivado(text: str, file: str) -> Report | None:
    """Return the rows of a report of utilisation or power, as text or XML; None for anything else.

    Raises
    ------
    InputError
        If it is one, and malformed; names file and line.

    """
    if hierarchy_xml.recognises(text[:4096]):
        return hierarchy_xml.read(text, file)
    reader = next((reader for reader in _TEXTS if reader.recognises(text)), None)
    return None if reader is None else reader.read(text, file)
