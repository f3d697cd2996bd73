"""Names for tools: whatever a model calls a thing, as Tcl, Verilog, Python, a shell and a file system take it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from keyword import kwlist

LONGEST = 120
"""Characters of a name: with what is put before and behind it a file system takes it."""
_VERILOG = """
accept_on alias always always_comb always_ff always_latch and assert assign assume automatic before begin bind bins
binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking cmos config const
constraint context continue cover covergroup coverpoint cross deassign default defparam design disable dist do edge else
end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup endinterface endmodule endpackage
endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event eventually expect export extends
extern final first_match for force foreach forever fork forkjoin function generate genvar global highz0 highz1 if iff
ifnone ignore_bins illegal_bins implements implies import incdir include initial inout input inside instance int integer
interconnect interface intersect join join_any join_none large let liblist library local localparam logic longint
macromodule matches medium modport module nand negedge nettype new nexttime nmos nor noshowcancelled not notif0 notif1
null or output package packed parameter pmos posedge primitive priority program property protected pull0 pull1 pulldown
pullup pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime ref reg
reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always s_eventually s_nexttime s_until
s_until_with scalared sequence shortint shortreal showcancelled signed small soft solve specify specparam static string
strong strong0 strong1 struct super supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time
timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned
until until_with untyped use uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire
with within wor xnor xor
"""
RESERVED = frozenset({*_VERILOG.split(), *(word.lower() for word in kwlist), "con", "prn", "aux", "nul"})
"""Words of SystemVerilog and Python, and of one file system, in small letters."""


def underscored(text: str) -> str:
    """Return a text with ``_`` for whatever is no letter, digit or ``_`` of ASCII."""
    return re.sub(r"[^A-Za-z0-9_]", "_", text)


def plain_names(
    names: Iterable[str], prefix: str = "layer", taken: Iterable[str] = (), reserved: Collection[str] = RESERVED
) -> dict[str, str]:
    """Return a name for each: letters, digits and ``_``, a letter first, each once even where case does not count.

    What is such a name stays as it is. ``prefix`` stands before what begins otherwise or is a word of a language
    (``reserved``), and in the place of nothing at all. ``taken``: names that none may have.
    """
    found: dict[str, str] = {}
    used = {name.lower() for name in taken}
    for name in names:
        plain = underscored(name)[:LONGEST] or prefix
        if not plain[0].isalpha() or plain.lower() in reserved:
            plain = f"{prefix}_{plain}"
        number, made = 0, plain
        while made.lower() in used:
            number += 1
            made = f"{plain}_{number}"
        used.add(made.lower())
        found[name] = made
    return found
