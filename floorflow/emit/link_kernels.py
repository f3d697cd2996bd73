"""Link kernels: what joins the streams of one card to the user side of an Aurora core, as SystemVerilog.

The modules are shipped (``rtl/``); of each kernel the top is made here, with the ports of its streams. Credits keep a
stream whose reader waits from stopping the others: a word is sent only if the receiver's FIFO has room for it.
"""

from collections.abc import Sequence

from floorflow.assets import asset_folder
from floorflow.facts.link_kernels import (
    BEAT_CYCLES,
    ITEM_BITS,
    SEND_WORDS,
    SPARE_WORDS,
    WORD_BITS,
    LinkKernel,
    LinkStream,
)
from floorflow.technology import PACKET_WORDS

MODULES = ("pack", "unpack", "fifo", "prbs", "send", "receive", "registers")


def link_files(kernels: Sequence[LinkKernel]) -> dict[str, str]:
    """Return the sources of kernels by file names: the shipped modules, and the top of each."""
    folder = asset_folder("rtl")
    names = [f"floorflow_link_{name}.sv" for name in MODULES]
    shipped = {name: (folder / name).read_text(encoding="utf-8") for name in names}
    return shipped | {f"{kernel.name}.sv": top(kernel) for kernel in kernels}


def top(kernel: LinkKernel) -> str:
    """Return the top of a kernel: an RTL kernel of Vitis whose clocks are the network's and the link's."""
    sends, receives = kernel.sends, kernel.receives
    ports = [_axis(f"s_axis_{at}", one.bits, enters=True) for at, one in enumerate(sends)]
    ports += [_axis(f"m_axis_{at}", one.bits, enters=False) for at, one in enumerate(receives)]
    parts = [_sent(at, one) for at, one in enumerate(sends)] + [_received(at, one) for at, one in enumerate(receives)]
    # A vector has a bit at least: where no stream goes a way, nothing ever comes or is taken there.
    parts += [] if sends else ["  assign {packed_data, packed_valid} = 0;\n"]
    parts += [] if receives else ["  assign came_ready = 1;\n  assign used = 0;\n"]
    told = [f"//   s_axis_{at}: {one.name}, {one.bits} bits" for at, one in enumerate(sends)]
    told += [
        f"//   m_axis_{at}: {one.name}, {one.bits} bits, credits in {one.words}" for at, one in enumerate(receives)
    ]
    given = [f"16'd{one.words - SPARE_WORDS}" for one in reversed(sends)] or ["16'd0"]
    return _TOP.format(
        name=kernel.name,
        told="\n".join(told),
        ports="".join(ports),
        word=WORD_BITS,
        keep=WORD_BITS // 8,
        item=ITEM_BITS,
        sends=max(1, len(sends)),
        receives=max(1, len(receives)),
        credits=", ".join(given),
        most=PACKET_WORDS,
        beat=BEAT_CYCLES,
        parts="\n".join(parts),
    )


def _axis(name: str, bits: int, *, enters: bool) -> str:
    """Return the ports of a stream that enters the kernel, or leaves it."""
    there, back = ("input  wire", "output wire") if enters else ("output wire", "input  wire")
    ports = ((there, f"[{bits - 1}:0] {name}_tdata"), (there, f"{name}_tvalid"), (back, f"{name}_tready"))
    return "".join(f"    {way} {port},\n" for way, port in ports)


def _sent(at: int, one: LinkStream) -> str:
    return _SENT.format(at=at, bits=one.bits, word=WORD_BITS, item=ITEM_BITS, depth=SEND_WORDS)


def _received(at: int, one: LinkStream) -> str:
    return _RECEIVED.format(at=at, bits=one.bits, word=WORD_BITS, item=ITEM_BITS, depth=one.words)


_SENT = """\
  wire [{item}-1:0] word_{at};
  wire word_{at}_valid, word_{at}_ready;
  wire [15:0] waiting_{at};
  floorflow_link_pack #(.BITS({bits}), .WORD({word})) pack_{at} (
      .clk(ap_clk),
      .rst_n(ap_rst_n),
      .in_data(s_axis_{at}_tdata),
      .in_valid(s_axis_{at}_tvalid),
      .in_ready(s_axis_{at}_tready),
      .out_data(word_{at}[{word}-1:0]),
      .out_last(word_{at}[{item}-1:{word}]),
      .out_valid(word_{at}_valid),
      .out_ready(word_{at}_ready),
      .out_idle(waiting_{at} == 0)
  );
  floorflow_link_fifo #(.BITS({item}), .DEPTH({depth})) fifo_out_{at} (
      .write_clk(ap_clk),
      .write_rst_n(ap_rst_n),
      .in_data(word_{at}),
      .in_valid(word_{at}_valid),
      .in_ready(word_{at}_ready),
      .used(waiting_{at}),
      .read_clk(ap_clk_2),
      .out_data(packed_data[{item}*{at}+:{item}]),
      .out_valid(packed_valid[{at}]),
      .out_ready(packed_ready[{at}])
  );
"""
_RECEIVED = """\
  wire [{item}-1:0] back_{at};
  wire back_{at}_valid, back_{at}_ready;
  floorflow_link_fifo #(.BITS({item}), .DEPTH({depth}), .MEMORY("block")) fifo_in_{at} (
      .write_clk(ap_clk_2),
      .write_rst_n(ap_rst_n_2),
      .in_data(came_data),
      .in_valid(came_valid[{at}]),
      .in_ready(came_ready[{at}]),
      .used(used[16*{at}+:16]),
      .read_clk(ap_clk),
      .out_data(back_{at}),
      .out_valid(back_{at}_valid),
      .out_ready(back_{at}_ready)
  );
  floorflow_link_unpack #(.BITS({bits}), .WORD({word})) unpack_{at} (
      .clk(ap_clk),
      .rst_n(ap_rst_n),
      .in_data(back_{at}[{word}-1:0]),
      .in_last(back_{at}[{item}-1:{word}]),
      .in_valid(back_{at}_valid),
      .in_ready(back_{at}_ready),
      .out_data(m_axis_{at}_tdata),
      .out_valid(m_axis_{at}_tvalid),
      .out_ready(m_axis_{at}_tready)
  );
"""
_TOP = """\
// One end of a link between two cards, an RTL kernel: the network's clock is ap_clk, the link's ap_clk_2.
{told}
`default_nettype none

module {name} (
    input  wire ap_clk,
    input  wire ap_rst_n,
    input  wire ap_clk_2,
    input  wire ap_rst_n_2,
{ports}    output wire [{word}-1:0] link_tx_tdata,
    output wire [{keep}-1:0] link_tx_tkeep,
    output wire link_tx_tlast,
    output wire link_tx_tvalid,
    input  wire link_tx_tready,
    input  wire [{word}-1:0] link_rx_tdata,
    input  wire [{keep}-1:0] link_rx_tkeep,
    input  wire link_rx_tlast,
    input  wire link_rx_tvalid,
    output wire link_rx_tready,
    input  wire [5:0] s_axi_control_awaddr,
    input  wire s_axi_control_awvalid,
    output wire s_axi_control_awready,
    input  wire [31:0] s_axi_control_wdata,
    input  wire [3:0] s_axi_control_wstrb,
    input  wire s_axi_control_wvalid,
    output wire s_axi_control_wready,
    output wire [1:0] s_axi_control_bresp,
    output wire s_axi_control_bvalid,
    input  wire s_axi_control_bready,
    input  wire [5:0] s_axi_control_araddr,
    input  wire s_axi_control_arvalid,
    output wire s_axi_control_arready,
    output wire [31:0] s_axi_control_rdata,
    output wire [1:0] s_axi_control_rresp,
    output wire s_axi_control_rvalid,
    input  wire s_axi_control_rready
);
  wire testing, there_ready, astray, garbled, overflown;
  wire [31:0] tested, wrong;
  wire [{item}*{sends}-1:0] packed_data;
  wire [{sends}-1:0] packed_valid, packed_ready;
  wire [16*{sends}-1:0] there_read;
  wire [{item}-1:0] came_data;
  wire [{receives}-1:0] came_valid, came_ready;
  wire [16*{receives}-1:0] used, here_read;

  floorflow_link_registers registers (
      .clk(ap_clk),
      .rst_n(ap_rst_n),
      .awaddr(s_axi_control_awaddr),
      .awvalid(s_axi_control_awvalid),
      .awready(s_axi_control_awready),
      .wdata(s_axi_control_wdata),
      .wstrb(s_axi_control_wstrb),
      .wvalid(s_axi_control_wvalid),
      .wready(s_axi_control_wready),
      .bresp(s_axi_control_bresp),
      .bvalid(s_axi_control_bvalid),
      .bready(s_axi_control_bready),
      .araddr(s_axi_control_araddr),
      .arvalid(s_axi_control_arvalid),
      .arready(s_axi_control_arready),
      .rdata(s_axi_control_rdata),
      .rresp(s_axi_control_rresp),
      .rvalid(s_axi_control_rvalid),
      .rready(s_axi_control_rready),
      .link_clk(ap_clk_2),
      .testing(testing),
      .status({{astray, overflown, garbled, there_ready}}),
      .tested(tested),
      .wrong(wrong)
  );
  floorflow_link_send #(
      .WORD({word}),
      .STREAMS({sends}),
      .PEERS({receives}),
      .ROOM({{{credits}}}),
      .MOST({most}),
      .BEAT({beat})
  ) send (
      .clk(ap_clk_2),
      .rst_n(ap_rst_n_2),
      .testing(testing),
      .in_data(packed_data),
      .in_valid(packed_valid),
      .in_ready(packed_ready),
      .there_ready(there_ready),
      .there_read(there_read),
      .here_ready(&came_ready),
      .here_read(here_read),
      .astray(astray),
      .tx_tdata(link_tx_tdata),
      .tx_tkeep(link_tx_tkeep),
      .tx_tlast(link_tx_tlast),
      .tx_tvalid(link_tx_tvalid),
      .tx_tready(link_tx_tready)
  );
  floorflow_link_receive #(
      .WORD({word}),
      .STREAMS({receives}),
      .PEERS({sends})
  ) receive (
      .clk(ap_clk_2),
      .rst_n(ap_rst_n_2),
      .rx_tdata(link_rx_tdata),
      .rx_tkeep(link_rx_tkeep),
      .rx_tlast(link_rx_tlast),
      .rx_tvalid(link_rx_tvalid),
      .out_data(came_data),
      .out_valid(came_valid),
      .out_ready(came_ready),
      .used(used),
      .here_read(here_read),
      .there_ready(there_ready),
      .there_read(there_read),
      .garbled(garbled),
      .overflown(overflown),
      .tested(tested),
      .wrong(wrong)
  );
  assign link_rx_tready = 1;

{parts}endmodule

`default_nettype wire
"""
