"""What the judge of XDC files can find: names, how grave each is unless a rule knows better, and what to do."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from floorflow.verify.hardware.geometry import Sites
from floorflow.verify.tcl.words import Place

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)
MOST_OF_A_NAME = 200
"""So many findings of one name are kept; the rest are counted."""
MOST_CHARACTERS = 1_000
"""So much is told of what was found."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a finding is, its severity unless it says otherwise, and what to do about it."""

    severity: str
    text: str
    todo: str


FINDINGS: dict[str, Meaning] = {
    name: Meaning(*told)
    for group in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")).values()
    for name, told in group.items()
}
"""Every finding that there can be."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: where, what was found and expected, what to do; ``sites`` show where it is on the die."""

    name: str
    severity: str
    place: Place
    pblock: str
    found: str
    expected: str
    todo: str
    sites: Sites = field(default_factory=dict)


@dataclass
class Findings:
    """The findings so far; equal ones are kept once, and of one name the first `MOST_OF_A_NAME`."""

    kept: list[Finding] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    by_name: Counter[str] = field(default_factory=Counter)
    _seen: set[tuple[str, Place, str, str]] = field(default_factory=set)

    def add(
        self,
        name: str,
        place: Place,
        found: str,
        expected: str,
        *,
        pblock: str = "",
        severity: str = "",
        sites: Sites | None = None,
    ) -> None:
        """Note a finding; a name without a meaning is a mistake in the judge itself (KeyError)."""
        meaning = FINDINGS[name]
        found, expected = found[:MOST_CHARACTERS], expected[:MOST_CHARACTERS]
        key = name, place, pblock, found
        if key in self._seen:
            return
        severity = severity or meaning.severity
        self.counts[severity] += 1
        self.by_name[name] += 1
        if self.by_name[name] > MOST_OF_A_NAME:
            return
        self._seen.add(key)
        kept = Finding(name, severity, place, pblock, found, expected, meaning.todo, sites or {})
        self.kept.append(kept)

    @property
    def left_out(self) -> dict[str, int]:
        """How many findings of a name were counted and not kept."""
        return {name: count - MOST_OF_A_NAME for name, count in self.by_name.items() if count > MOST_OF_A_NAME}

    def in_order(self) -> list[Finding]:
        """Return them by severity, then as they were read."""
        return sorted(self.kept, key=lambda one: (SEVERITIES.index(one.severity), one.place.order))
