"""Values of options from what was typed or given: each returns one, or says what was expected."""

from collections.abc import Iterable, Mapping

from floorflow.errors import InputError
from floorflow.resources import NONE


def fpga_count(value: object) -> object:
    """Read a number of FPGAs, or ``auto``."""
    text = str(value)
    if text == "auto":
        return text
    if isinstance(value, bool) or not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise InputError(f"--fpgas {text}: expected auto or a number of 1 and more")
    return int(text)


def copy_count(value: object) -> object:
    """Read a number of copies, ``auto``, or nothing."""
    text = str(value)
    if value is None or text == "auto":
        return value
    if isinstance(value, bool) or not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise InputError(f"--replicas {text}: expected auto or a number of 1 and more")
    return int(text)


def products(value: object) -> object:
    """Read a number of products, one for each width from which it holds (``1:8192,2:4096``), or ``none``."""
    text = NONE if value is None else str(value)
    if text == NONE:
        return text
    if not isinstance(value, bool) and _is_count(text):
        return int(text)
    pairs = [pair.partition(":") for pair in text.split(",")]
    if not all(_is_count(bits, digits=4) and _is_count(most) for bits, _, most in pairs):
        raise InputError(f"--max-products {text}: expected none, a number of 1 and more, or BITS:NUMBER,BITS:NUMBER")
    widths = [int(bits) for bits, _, _ in pairs]
    if widths[0] != 1 or widths != sorted(set(widths)):
        raise InputError(f"--max-products {text}: expected ascending widths of operands that begin with 1")
    return ",".join(f"{int(bits)}:{int(most)}" for bits, _, most in pairs)


def _is_count(text: str, *, digits: int = 18) -> bool:
    """Whether a text is a number of 1 and more, and no longer than plan.json takes."""
    return text.isascii() and text.isdecimal() and len(text) <= digits and int(text) >= 1


def products_from(limit: int | str) -> Mapping[int, int] | None:
    """Return the most products by the width of operands from which they hold; None where ``none`` lifts the limit."""
    if limit == NONE:
        return None
    if isinstance(limit, int):
        return {1: limit}
    return {int(bits): int(most) for bits, _, most in (pair.partition(":") for pair in limit.split(","))}


def at_width(by_bits: Mapping[int, int], bits: int) -> int:
    """Return the value that stands at the widest width not above this one."""
    return by_bits[max(width for width in by_bits if width <= max(bits, 1))]


def confidence(value: object) -> object:
    """Read a probability, or ``none``."""
    if value == "none" or value is None:
        return "none"
    try:
        share = -1.0 if isinstance(value, bool) else float(str(value))
    except ValueError:
        share = -1.0
    if not 0 < share < 1:
        raise InputError(f"--confidence {value}: expected none or a probability above 0 and below 1, such as 0.9")
    return share


def areas(value: object) -> object:
    """Read ranges, with the FPGA's name before each or not, from a list or from one text."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (str(value),)
    return tuple(map(str, value))


def fixed_pblocks(value: object) -> object:
    """Read the ranges of pblocks by name from a mapping or from ``NAME=RANGE`` settings, none of them twice."""
    if isinstance(value, Mapping):
        return {str(name): str(area) for name, area in value.items()}
    found: dict[str, str] = {}
    for setting in [value] if isinstance(value, str) or not isinstance(value, Iterable) else value:
        name, equals, area = str(setting).partition("=")
        if not (equals and name and area):
            raise InputError(
                f"--fix-pblock {setting}: expected the name of an engine or module and a range",
                hint="such as --fix-pblock MVAU_hls_0=SLICE_X0Y0:SLICE_X19Y59",
            )
        if name in found:
            raise InputError(f"--fix-pblock {setting}: {name} is fixed twice, before at {found[name]}")
        found[name] = area
    return found


def settings(given: object) -> dict[str, str]:
    """Return names and values of ``NAME=VALUE`` settings, of which none may be given twice."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"--backend-option {given}: expected NAME=VALUE")
    values: dict[str, str] = {}
    for setting in map(str, given):
        name, equals, value = setting.partition("=")
        name = name.replace("-", "_")
        if not equals or not name:
            raise InputError(f"--backend-option {setting}: expected NAME=VALUE")
        if name in values:
            raise InputError(f"--backend-option {setting}: {name} is given twice, before as {values[name]}")
        values[name] = value
    return values
