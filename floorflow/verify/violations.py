"""What `check` can find: the names of violations, one line on each, and the list that collects them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

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
    # files
    "file-missing": "a file that every plan folder holds is not there",
    "file-corrupt": "a file cannot be read as UTF-8 JSON, YAML or Tcl",
    "plan-malformed": "plan.json lacks a field or holds a value of the wrong type",
    "platform-malformed": "a board or device file lacks a field or holds a value of the wrong type",
    "shipped-file-differs": "a platform file or Tcl library bears a shipped name and is not the shipped file",
    # platform
    "platform-mismatch": "plan.json's part, device, slots or clock limits are not those of the platform's files",
    "platform-file-needless": "a platform file is listed twice, or is listed or there and nothing was made of it",
    "capacity-mismatch": "a slot's capacity is not what counting its silicon gives",
    "available-mismatch": "a slot's available resources are not capacity less shell less infrastructure",
    "infrastructure-mismatch": "infrastructure is not what the board's file lists",
    "sll-capacity-mismatch": "the wires between two slots are not what the board's and device's files give",
    "boundary-mismatch": "a boundary is listed twice, or is not called by its two slots, lower-upper",
    "wrong-link": "the links are not those that topology, board's file or platform file give",
    "fraction-out-of-range": "a cap or fill is not in (0, 1]",
    # engines and folding
    "backend-unknown": "no part of the judge is installed for the plan's back end, so that its engines are not judged",
    "name-repeated": "two networks or two phases have one name",
    "trace-phase": "the search of a network tried something for a phase that the plan does not have, or without it",
    "phase-networks": "a phase runs no network, one twice, one that the plan does not have, or not in the plan's order",
    "network-missing": "a network runs in no phase",
    "engine-missing": "an engine is in no phase, or in no module of a phase in which it runs",
    "engine-repeated": "an engine is named twice or is in two modules",
    "engine-order": "an engine stands in its network before one that feeds it, in whatever phase",
    "engine-unknown": "a name is used for an engine that no network has",
    "unknown-kind": "an engine's kind is not one that the back end's part of the judge knows",
    "engine-malformed": "an engine lacks an attribute that its kind needs",
    "type-width-mismatch": "an engine's bit width is not that of its data type",
    "type-mismatch": "producer and consumer of a channel state different data types",
    "illegal-folding": "a folding is not legal for the engine's kind and attributes",
    "wrong-cycles": "an engine's cycles are not what its kind, attributes and folding give",
    "wrong-interval": "an interval is not the most cycles of an engine, or not the longest of a network's phases",
    "wrong-parallelism": "a row of parallelism is above its most, stands twice or is not the folding of its name",
    "wrong-estimate": "fps, latency, clock or bottleneck do not follow from the cycles",
    "zero-resources": "something that exists costs nothing",
    "resources-too-few": "an engine has fewer resources than its kind needs at the very least",
    "wrong-products": "the products of an engine do not follow from its folding, or are said to be known or not",
    "engine-above-limit": "an engine is above a limit on single engines, and limits_lifted does not list it",
    "limit-lifted-wrongly": "limits_lifted lists what is above no limit, other amounts, or a reason that cannot be",
    "host-weights-differ": "host_weights does not name the engines that the host has to write, or is out of place",
    "host-weights-needless": "the host has to write weights, though without that the rate would be nearly the same",
    # channels
    "channel-repeated": "two channels have one name",
    "channel-name": "a channel is not called by its ends and their ports, source.port->target.port",
    "channel-end-unknown": "a channel ends at something that is neither an engine of the phase nor outside",
    "channel-astray": "a channel joins two networks, or nothing but ends outside",
    "port-mismatch": "an engine's port has no channel, two channels, or does not exist",
    "stream-mismatch": "producer and consumer of a channel differ in elements or in bits a frame",
    "cyclic-dataflow": "the channels form a cycle",
    "wrong-stream-width": "a channel's width does not follow from the folding of its ends",
    "wrong-words": "words a frame are not elements times bits over width",
    "converter-missing": "the ends of a channel differ in width and there is no converter",
    "converter-needless": "there is a converter and the ends do not differ in width",
    "converter-kind": "a width converter is of the wrong kind",
    "converter-illegal": "a width converter would have to split the innermost dimension unevenly",
    "converter-module": "a width converter is not in the module of its narrow side",
    "fifo-module": "a FIFO is not in its producer's module",
    "wrong-fifo-style": "a FIFO is in a memory that the back end has not for it, or that its bits do not fit",
    "wrong-fifo-depth": "a FIFO's depth does not follow from modules, SLR boundaries, links and joins",
    "wrong-crossing-registers": "crossing registers or what they cost do not follow from the slots",
    "wrong-slices": "register slices, or where they lie, do not follow from a stream's length and those beside it",
    "wrong-slice-resources": "what register slices cost is not where they lie, not one price, or holds no two words",
    "slices-left-out": "a stream goes without register slices although its slots have room for many times as many",
    "wrong-slices-built": "the tool builds register slices, and the plan says not, or the other way",
    "link-mismatch": "a channel's links are not those on its route",
    "link-unknown": "a channel runs between FPGAs that no links join",
    # between phases
    "frame-mismatch": "what passes from phase to phase, or through one port in two phases, differs in bits a frame",
    "memory-unwritten": "a buffer in memory is read and no earlier phase writes it",
    "memory-unread": "a buffer in memory is written and no later phase reads it",
    "memory-rewritten": "a buffer in memory is written by two channels",
    "phase-unknown": "a channel ends at a phase that the plan does not have, or at its own",
    "handover-mismatch": "a stream handed to or from another phase has not one counterpart there",
    "handover-backwards": "with reconfiguration, a stream is handed to a phase that runs before",
    "wrong-target": "what several networks were to reach, or their shares of it, does not follow from the options",
    "wrong-schedule": "the schedule does not follow from the phases and their intervals, or is missing or needless",
    "engine-in-two-partitions": "partitions in time share an engine",
    "wrong-load-time": "loading a partition takes other than the board's time, or its memory carries something else",
    "too-fast-for-memory": "a partition moves as much as the board's memory carries, or more",
    "wrong-buffers": "buffers.json does not tell what a partition loads from memory and stores there",
    # reconfigurable regions (UG909)
    "region-unknown": "a phase is loaded into no region of the plan, or a region has no phase",
    "region-repeated": "two regions have one name or one cell",
    "region-outside-device": "a region is not on the die of its FPGA, or not in one of its SLRs",
    "region-clock-regions": "a region on 7 series is not of whole clock regions, as RESET_AFTER_RECONFIG needs",
    "region-cuts-tiles": "a region cuts a programmable unit of UltraScale+ in height",
    "region-splits-interconnect": "an edge of a region parts columns that share interconnect",
    "region-edge-static": "an edge of a region lies beside a clock, I/O, configuration or processor column",
    "region-over-processor": "the processor is inside a region",
    "region-shell-touched": "a region touches what must stay free",
    "region-over-port": "a region lies over the place where the host's streams leave the die",
    "region-overlap": "two regions overlap",
    "region-shares-frames": "two regions share a column of a clock region, and so its frames",
    "region-owned": "what a region is said to own is not what its rectangle has, or overlaps",
    "region-ranges": "a region's ranges are malformed, or name other sites than those that it owns",
    "region-supply": "a region's supply is not what counting gives",
    "region-too-full": "a region has no room for what it is said to need",
    "region-need": "a phase needs more of a region than the region is said to need, or nothing needs as much",
    "region-frames": "frames or bytes of a region are not what its columns give",
    "region-load-time": "loading a region takes other than its bytes at the board's rate",
    "region-property": "a region's pblock has other properties than its family needs",
    "region-static-missing": "what stays lacks infrastructure of the board, a decoupler for each region, or the port",
    "region-static-left": "what is left beside all regions is not what counting gives",
    "region-static-short": "what is left beside all regions has no room for what stays",
    "region-module-outside": "a pblock of a phase is not inside its region",
    "region-module-static": "a pblock of a phase that stays lies in a region",
    "wrong-timeline": "a phase in a region loads or runs before it can, or later, or takes not its region's load",
    "wrong-region-script": "the script of the regions does not say what the plan does, or is missing or needless",
    "wrong-chunks": "chunks.json does not tell what phases load and store, or lets two buffers share bytes",
    "region-order": "a phase is loaded after another than the one before it in its region",
    "summary-differs": "the summary says something else than the rest of the plan",
    # sums
    "module-repeated": "two modules have one name",
    "module-empty": "a module has no engines",
    "module-unknown": "a name is used for a module that the plan does not have",
    "wrong-sum": "a total is not the sum of its parts",
    "implementation-unknown": "a module's implementation is not listed, or one is listed twice",
    "implementation-mismatch": "modules share an implementation and differ in engines, folding, wires or FIFOs",
    "implementation-constants": "modules share an implementation and have constants in their logic",
    "implementation-moved": "modules share an implementation and do not lie on equal columns and rows",
    "wrong-likeness": "what a module is like is not the first of equal kinds, attributes and folding, joined alike",
    "wrong-reuse": "a module is said to be reused and is not, or does not say why not, or says why and need not",
    "implementation-needless": "an implementation is listed of which no module is made",
    "implementation-port": "an implementation's ports are not the channels that leave or enter its modules",
    "implementation-window": "an implementation's window is not the columns and rows that its modules' rectangles span",
    "module-mixed": "a module holds engines of two networks, and is not all of a slot joined",
    "module-cycle": "modules that are not alone in their slots depend on each other in a cycle",
    "wrong-joined": "what is said to be joined is no module of that slot, is listed twice, or has no parts or reason",
    "wrong-memory": "a large memory is none of the phase's, is listed twice, or is not told as the plan has it",
    # partition
    "module-unassigned": "a module is in no slot",
    "slot-unknown": "a slot is named that the platform does not have",
    "wrong-utilisation": "a slot's utilisation is not demand over available",
    "cap-exceeded": "a slot holds more than its limit",
    "crossing-missing": "a run of boundaries or a link on a channel's route is not listed as a crossing",
    "crossing-needless": "a crossing is listed that is not on its channel's route",
    "wrong-crossing": "a crossing's slots, width, rate, hops or kind are wrong",
    "wrong-cost": "the partition's cost is not the sum over its crossings",
    "too-many-hops": "a stream crosses more SLR boundaries one after the other than the options or a proof allow",
    "wrong-hops": "what is said of streams over several boundaries does not follow from slots, boards and options",
    "false-hop-proof": "more hops are said to be needed, and fewer will do",
    "sll-overload": "more wires cross a boundary between slots than it has",
    "link-overload": "more Gb/s pass a link in one direction than it carries",
    "load-missing": "a boundary between slots or a direction of a link has no load",
    "load-needless": "a load is listed twice or for something that is neither a boundary nor a link",
    "wrong-load": "a load's kind, use or capacity is wrong",
    # floorplan
    "floorplan-missing": "an FPGA has no floorplan",
    "pblock-missing": "a module has no pblock",
    "pblock-repeated": "a module has a pblock on two FPGAs, or a pblock is created twice",
    "slr-mismatch": "a pblock is not in the slot or SLR that its module is assigned to",
    "rectangle-outside-device": "a rectangle is empty, turned over or leaves the device",
    "pblock-rectangles": "a pblock has no rectangle, or two that overlap",
    "pblock-overlap": "two pblocks share a site or their rectangles overlap",
    "shell-touched": "a pblock holds sites of the shell or of another region kept free",
    "fixed-pblock": "a pblock that the options fix is of no module, or does not hold just the sites of its range",
    "range-malformed": "a site range is not lower-left:upper-right of one site type",
    "range-outside-device": "a site range names sites that the device does not have",
    "range-corner-missing": "a corner of a site range is a hole in the device",
    "range-mismatch": "the site ranges hold other sites than the rectangles",
    "site-type-unconstrained": "a site type that the rectangles hold is in no range",
    "wrong-anchor": "a pblock's anchor is not its lowest, leftmost SLICE",
    "wrong-supply": "a pblock's supply is not what counting its rectangles gives",
    "wrong-demand": "a pblock's demand is not its module's resources",
    "fill-exceeded": "a pblock's demand is above its fill limit",
    "pblock-without-room": "a pblock has less room than its confidence or the rule on hard ones asks, and is not short",
    "wrong-short": "a pblock is listed as short that lacks no room, or that could have it where it lies",
    "wrong-likelihood": "a pblock's likelihood is not what bands, module and supply give",
    "wrong-constraint-style": "a slot is not constrained as options, pblocks and SLRs give, or nothing is said of it",
    "wrong-weights": "the weights of a placement's objective are not those that were asked for",
    "wrong-terms": "a term of a placement's objective is not what pblocks, ports and the die give",
    "wrong-routing-map": "the routing map, or what is said of it, is not what wires and the die's long wires give",
    "wrong-longest": "the longest streams of an FPGA are not those that pblocks and ports give",
    "wrong-hpwl": "the half-perimeter wire length is not what the rectangles give",
    "placed-port-mismatch": "a pblock does not have one port for each end of the streams that leave its module",
    "port-off-edge": "a port does not lie on the side of its pblock's box that it names",
    "port-overlap": "two ports on one side of a pblock overlap",
    "port-turned-away": "a port is on the far side of its pblock: what it leads to lies beyond the opposite one",
    "port-narrow": "a port has fewer rows or columns than its wires need, or a pblock has no such pins a row",
    "wrong-port-length": "the wire length from port to port is not what the ports give",
    "sll-columns-mismatch": "the Laguna columns are not those of each stream over an SLR boundary, for all its wires",
    "sll-column-unknown": "a stream crosses in a column without Laguna sites there, or in one that the shell keeps",
    "sll-column-overload": "more wires cross an SLR boundary in one column than it has",
    # expectations
    "wrong-band": "a band is not two positive factors on a resource, the lower first, or is missing",
    "wrong-fit": "a slot's fit is not what the bands give, or only some slots have one",
    "wrong-calibration": "what was measured is no engine of the plan, or a factor is not positive or on no resource",
    # where the plan comes from
    "wrong-option": "an option is not what the plan says of it elsewhere",
    "operation-unknown": "an engine's operation is none of its network's",
    # search and what solvers claim
    "rate-missed": "the interval is too long for the rate asked for",
    "search-unexplained": "the plan does not say what ended the search, or names a try that its trace does not have",
    "wrong-bound": "a joint bound is below the folding bound, or there is one although throughput is not sought; "
    "or a bound without balance is above that with it, or told of rates that are not balanced",
    "wrong-bargain": "what less rate would free does not go with the plan, its rate or itself",
    "rates-unbalanced": "the cycles of consecutive layers differ by more than epsilon times the lesser",
    "wrong-budget": "a folding was allowed more than the platform's summed limits, or a bound is negative",
    "wrong-gap": "a gap is not (objective - bound) / objective",
    "wrong-objective": "a solver's objective is not what the plan's cost, wire length or resources give",
    "wrong-status": "a solver's status contradicts its objective, bound or gap",
    "bound-above-objective": "a proven lower bound is above the objective",
    # the schedule of the external memory
    "memory-schedule-missing": "engines of the back end share the memory, and the plan has no schedule of it",
    "memory-schedule-needless": "there is a schedule of the memory, and engines of the back end do not share it",
    "wrong-memory-networks": "the schedule of the memory is not of the plan's networks and their engines",
    "wrong-bandwidth": "more of the memory's bandwidth is planned with than bursts are known to reach, or less",
    "wrong-subgraphs": "a subgraph's name, time or bytes are not those of the folded engine",
    "wrong-transfer-order": "subgraphs are not run one after another, as often as stated, within the period",
    "wrong-transfer-bytes": "the transfers of a run are not the bytes that its subgraph needs",
    "transfer-too-fast": "a transfer is faster than its slots or its engine, or not as fast as stated",
    "memory-overloaded": "at some time more slots are taken than a round of the memory has",
    "wrong-memory-rate": "a rate, target or least rate does not follow from period, repetitions and what is asked for",
    "wrong-memory-error": "the error of the rates is not that of eq. 5 or 6",
    "starved-unnamed": "a network below its least rate is not named as starved, or one that is not is",
    # emitted constraints
    "constraints-unplanned": "there are constraint files for an FPGA that the plan does not have",
    "network-files-unplanned": "a folder of the back end's files is of a network that the phase does not run",
    "unknown-command": "a constraint file holds a command that it must not hold",
    "malformed-command": "a command of a constraint file has the wrong arguments",
    "control-flow": "a constraint file holds variables, conditions or loops",
    "library-missing": "pblocks.tcl does not begin with the one line that sources the Tcl library",
    "pblock-uncreated": "a constraint file does not create a pblock of the plan",
    "pblock-unplanned": "a constraint file creates or uses a pblock that the plan does not have",
    "pblock-ranges-differ": "a constraint file gives a pblock other ranges than the plan",
    "pblock-soft": "IS_SOFT of a pblock is not what its slot's style asks for",
    "wrong-slr": "a cell is not assigned to its SLR where that alone is to be said, or is where not",
    "pblock-parent": "a pblock's parent is not the one that the board asks for",
    "cell-pattern-ambiguous": "a cell is named by a pattern that could take two cells",
    "cell-missing": "an engine's cell is added to no pblock",
    "cell-repeated": "a cell is added twice",
    "cell-misplaced": "a cell is added to a pblock that is not its module's",
    "names-unbound": "a build is given, and the plan is not bound to any",
    "slice-missing": "bound.json tells other cells of register slices than the plan has",
    "cell-shared": "two engines have one cell name",
    "cell-ports-differ": "pblocks.tcl does not compare a cell's streams with those of the plan's engine",
    "cell-unknown": "a cell is added that belongs to no engine",
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
