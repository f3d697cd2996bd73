"""toykit's part of the judge: every number anew, from the engines' attributes; imports nothing of floorflow."""

from fractions import Fraction
from math import ceil
from typing import Any

findings = {
    "toykit-tie-broken": "filters that are tied differ in makers or maths",
    "toykit-build-missing": "an engine stands not in toykit's build file, or what stands there is no engine",
    "toykit-build-differs": "toykit's build file has another folding, slot or cell for an engine than the plan",
}
_KEYS = {"Filter": {"makers", "takers", "maths"}, "LineBuffer": {"lanes"}, "Mixer": {"lanes"}}
_MOST_OF_BRAM = 18432


def option_objections(options: dict[str, Any]) -> list[str]:
    lanes, maths = options.get("most_lanes"), options.get("maths")
    wrong = [] if _count(lanes) and lanes <= 4096 else [f"most_lanes is {lanes!r}, expected 1 to 4096"]
    wrong += [] if maths in ("free", "dsp", "fabric") else [f"maths is {maths!r}, expected free, dsp or fabric"]
    unknown = sorted(set(options) - {"most_lanes", "maths"})
    return wrong + [f"unknown option {name}" for name in unknown]


def may_cost_nothing(options: dict[str, Any]) -> bool:
    return False


def engine(row: dict[str, Any], context: dict[str, Any]) -> dict[str, Any] | None:
    entry, folding = row["entry"], row["folding"]["attributes"]
    if entry["kind"] not in _KEYS:
        return None
    told = {"Filter": _filter, "LineBuffer": _buffer, "Mixer": _mixer}[entry["kind"]]
    wrong = _malformed(entry) or _unfoldable(entry, folding)
    if wrong:
        return {"objections": wrong}
    found = told(entry, entry["attributes"], folding, row)
    return {**found, "objections": _broken_ties(row, context) + _too_wide(entry, folding, context)}


def _malformed(entry: dict[str, Any]) -> list[tuple[str, str]]:
    more = {"Filter": {"outputs", "weights"}, "LineBuffer": {"taps"}, "Mixer": {"copies", "streams"}}[entry["kind"]]
    sizes = entry["attributes"]
    wrong = sorted(key for key in {"rows", "columns", "channels"} | more if not _count(sizes.get(key)))
    if wrong:
        return [("engine-malformed", f"{wrong[0]} is {sizes.get(wrong[0])!r}, expected an integer of 1 or more")]
    if entry["weight_bits"] != sizes.get("weights", 0):
        return [("engine-malformed", f"weight_bits is {entry['weight_bits']}")]
    return _wrong_bits(entry)


def _wrong_bits(entry: dict[str, Any]) -> list[tuple[str, str]]:
    more = entry["attributes"]["streams"] - 1 if entry["kind"] == "Mixer" else 0
    if entry["output_bits"] == entry["input_bits"] + more:
        return []
    return [("type-width-mismatch", f"{entry['input_bits']} bits in make {entry['output_bits']} bits out")]


def _unfoldable(entry: dict[str, Any], folding: dict[str, Any]) -> list[tuple[str, str]]:
    if set(folding) != _KEYS[entry["kind"]]:
        return [("illegal-folding", f"has {sorted(folding)}, expected {sorted(_KEYS[entry['kind']])}")]
    sizes = entry["attributes"]
    mosts = {"makers": sizes.get("outputs"), "takers": sizes["channels"], "lanes": sizes["channels"]}
    for key, most in mosts.items():
        if key in folding and not (_count(folding[key]) and most % folding[key] == 0):
            return [("illegal-folding", f"{key}={folding[key]!r} does not divide {most}")]
    return []


def _too_wide(entry: dict[str, Any], folding: dict[str, Any], context: dict[str, Any]) -> list[tuple[str, str]]:
    if entry["kind"] != "Filter":
        return []
    options, maths, wrong = context["options"], folding["maths"], []
    lanes = folding["makers"] * folding["takers"]
    if lanes > options["most_lanes"]:
        wrong.append(("illegal-folding", f"{lanes} lanes, and most_lanes is {options['most_lanes']}"))
    if maths not in (("dsp", "fabric") if options["maths"] == "free" else (options["maths"],)):
        wrong.append(("illegal-folding", f"maths={maths!r}, and the option maths is {options['maths']}"))
    return wrong


def _broken_ties(row: dict[str, Any], context: dict[str, Any]) -> list[tuple[str, str]]:
    before = f"{row['network']}/" if context["several_networks"] else ""
    wrong = []
    for name in row["entry"]["attributes"].get("tied", ()):
        other = context["engines"].get(f"{before}{name}")
        mine, its = row["folding"]["attributes"], other["folding"]["attributes"] if other else {}
        if any(mine.get(key) != its.get(key) for key in ("makers", "maths")):
            wrong.append(("toykit-tie-broken", f"its makers and maths are not those of {name}"))
    return wrong


def _filter(
    entry: dict[str, Any], size: dict[str, Any], folding: dict[str, Any], row: dict[str, Any]
) -> dict[str, Any]:
    pixels, lanes = size["rows"] * size["columns"], folding["makers"] * folding["takers"]
    weights = size["channels"] * size["outputs"]
    least = {"BRAM18": ceil(weights * entry["weight_bits"] / _MOST_OF_BRAM), "LUT": lanes}
    if folding["maths"] == "dsp":
        least["DSP"] = ceil(lanes / (1 if row["part"].startswith("xc7") else 2))
    return {
        "cycles": pixels * weights // lanes,
        "inputs": [_port(pixels, size["channels"], folding["takers"], entry["input_bits"])],
        "outputs": [_port(pixels, size["outputs"], folding["makers"], entry["output_bits"])],
        "least_resources": least,
    }


def _buffer(
    entry: dict[str, Any], size: dict[str, Any], folding: dict[str, Any], row: dict[str, Any]
) -> dict[str, Any]:
    pixels, lanes, taps = size["rows"] * size["columns"], folding["lanes"], size["taps"]
    held = (taps - 1) * size["columns"] * size["channels"] * entry["input_bits"]
    return {
        "cycles": (size["rows"] + taps // 2) * size["columns"] * (size["channels"] // lanes),
        "inputs": [_port(pixels, size["channels"], lanes, entry["input_bits"])],
        "outputs": [_port(pixels, size["channels"] * taps, lanes * taps, entry["output_bits"])],
        "window_fill": Fraction(min(taps // 2 * size["columns"] + 1, pixels), pixels),
        "least_resources": {"BRAM18": ceil(held / _MOST_OF_BRAM)},
    }


def _mixer(entry: dict[str, Any], size: dict[str, Any], folding: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    pixels, lanes = size["rows"] * size["columns"], folding["lanes"]
    return {
        "cycles": pixels * size["channels"] // lanes,
        "inputs": [_port(pixels, size["channels"], lanes, entry["input_bits"])] * size["streams"],
        "outputs": [_port(pixels, size["channels"], lanes, entry["output_bits"])] * size["copies"],
        "least_resources": {"FF": lanes},
    }


def _port(pixels: int, depth: int, parallel: int, bits: int) -> dict[str, Any]:
    ends = {"parallel": parallel, "element_bits": bits, "elements": pixels * depth}
    return {**ends, "last_dimension": depth, "type": f"u{bits}"}


def joined(source: dict[str, Any], target: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    mine, its = source["entry"]["attributes"], target["entry"]["attributes"]
    if [mine["rows"], mine["columns"]] == [its["rows"], its["columns"]]:
        return {}
    return {"objections": [("engine-malformed", "makes an image of another shape than the next takes")]}


def converter(narrow_bits: int, wide_bits: int) -> tuple[str, list[str]]:
    return "Reshaper", ["one width does not divide the other"] if wide_bits % narrow_bits else []


def fifo(channel: dict[str, Any], part: str, context: dict[str, Any]) -> list[str]:
    style, depth, use = channel["fifo_style"], channel["fifo_depth"], channel["fifo_resources"]
    if style not in (("cells", "blocks") if depth > 32 else ("cells",)):
        return [f"a queue of {depth} words is not in {style!r}"]
    room = use["BRAM18"] * _MOST_OF_BRAM if style == "blocks" else 32 * use["LUT"]
    bits = depth * channel["width_bits"]
    return [f"{bits} bits do not fit {style} of {room} bits"] if bits > room else []


def files(plan: dict[str, Any], phase: dict[str, Any], folder: Any, context: dict[str, Any]) -> Any:
    problems: list[tuple[str, str, str]] = []
    cells = {name: f"toy_{number}" for number, name in enumerate(sorted(context["engines"]))}
    for run in phase["networks"]:
        rows = {name: r for name, r in context["engines"].items() if r["network"] == run["network"]}
        name = f"toykit/{run['network']}/build.json" if context["several_networks"] else "toykit/build.json"
        problems += _differences(folder.json(name), folder.path(name), rows, cells)
    tops, all_rows = context["hierarchies"], context["engines"].values()
    return problems, {r["id"]: _full(tops[r["fpga"]], cells[r["id"]]) for r in all_rows if r["fpga"] in tops}


def _full(hierarchy: str, cell: str) -> str:
    return f"{hierarchy}/{cell}" if hierarchy else cell


def _differences(content: Any, where: str, rows: dict[str, Any], cells: dict[str, str]) -> list[tuple[str, str, str]]:
    if content is None:
        return []
    if not isinstance(content, dict):
        return [("toykit-build-missing", where, "is no table of engines")]
    lost = sorted(set(content) ^ set(rows))
    wanted = {n: {"cell": cells[n], "slot": r["slot"], **r["folding"]["attributes"]} for n, r in rows.items()}
    other = sorted(name for name in set(content) & set(rows) if content[name] != wanted[name])
    problems = [("toykit-build-missing", where, f"{name} is in one of plan and file only") for name in lost]
    return problems + [("toykit-build-differs", where, f"{name} is {content[name]}") for name in other]


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
