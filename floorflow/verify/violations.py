"""What `check` can find: names of violations with a line on each, in ``violations.json``, and the list of them."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MOST_OF_A_NAME, MOST_CHARACTERS = 1_000, 1_000
"""So many violations of one name are kept, and characters of where and what."""


class NotAPlan(Exception):  # noqa: N818 - a refusal to check, named after what was met
    """The folder does not hold a plan at all; the message says what was looked for."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: its stable kebab-case ``name``, ``where`` in the plan or files, and a sentence."""

    name: str
    where: str
    message: str


VIOLATIONS: dict[str, str] = {
    name: meaning
    for group in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")).values()
    for name, meaning in group.items()
}
"""Every violation that `check` can report of a plan of any back end, with what it means."""


@dataclass(slots=True)
class Findings:
    """The violations found so far, in the order of the rules; ``meanings`` are those that there can be.

    Of one name the first `MOST_OF_A_NAME` are kept and the others counted: a hostile folder could hold millions.
    """

    violations: list[Violation] = field(default_factory=list)
    meanings: Mapping[str, str] = field(default_factory=lambda: VIOLATIONS)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, name: str, where: str, message: str) -> None:
        """Record one violation; a name without a meaning is a mistake in check itself (KeyError)."""
        self.meanings[name]
        self.counts[name] += 1
        if self.counts[name] <= MOST_OF_A_NAME:
            self.violations.append(Violation(name, _told(where), _told(message)))

    def told(self) -> list[Violation]:
        """Return them, and of each name how many more there are than were kept."""
        more = ((name, count - MOST_OF_A_NAME) for name, count in self.counts.items() if count > MOST_OF_A_NAME)
        return [*self.violations, *(Violation(name, "", f"and {count:,} more of {name}") for name, count in more)]

    def expect(self, name: str, where: str, what: str, stated: object, derived: object) -> None:
        """Record ``name`` unless the stated value equals the derived one; numbers to 6 digits."""
        if not same(stated, derived):
            self.add(name, where, f"{what} is {stated}, derived {derived}")

    def compare(self, name: str, where: str, stated: Mapping[str, object], derived: Mapping[str, object]) -> None:
        """Record ``name`` for each derived value that the stated one of its key does not equal."""
        for key, value in derived.items():
            self.expect(name, where, key, stated[key], value)

    def compare_at(self, name: str, where: str, stated: Mapping[str, object], derived: Mapping[str, object]) -> None:
        """Do the same, and tell the place of each."""
        for key, value in derived.items():
            self.expect(name, f"{where}.{key}", key, stated[key], value)


def _told(text: str) -> str:
    """Spell what cannot be written as UTF-8, such as a file name in another encoding, and cut what is too long."""
    text = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def same(stated: object, derived: object) -> bool:
    """Whether two values agree; floats to six digits, since files hold rounded shares."""
    if isinstance(stated, float | int) and isinstance(derived, float | int):
        if isinstance(stated, int) and isinstance(derived, int):
            return stated == derived
        try:
            return abs(stated - derived) <= 1.5e-6 * max(1.0, abs(stated), abs(derived))
        except OverflowError:  # an integer that no float holds
            return False
    return stated == derived


def close(stated: float, derived: float) -> bool:
    """Whether two sums agree to six digits, however small they are."""
    return abs(stated - derived) <= 1.5e-6 * max(abs(stated), abs(derived)) + 1e-12
