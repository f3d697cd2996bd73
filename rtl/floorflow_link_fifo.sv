// A FIFO from one clock to another, AMD's macro (UG974). ``used``: words in it as its writer sees them.
`default_nettype none

module floorflow_link_fifo #(
    parameter int BITS = 518,
    parameter int DEPTH = 64,
    parameter MEMORY = "distributed"
) (
    input  wire             write_clk,
    input  wire             write_rst_n,
    input  wire  [BITS-1:0] in_data,
    input  wire             in_valid,
    output logic            in_ready,
    output logic [15:0]     used,
    input  wire             read_clk,
    output logic [BITS-1:0] out_data,
    output logic            out_valid,
    input  wire             out_ready
);
  localparam int COUNT = $clog2(DEPTH) + 1;
  logic full, busy, empty;
  logic [COUNT-1:0] count;

  assign in_ready  = write_rst_n && !full && !busy;  // nothing may be written while it is reset
  assign out_valid = !empty;
  assign used      = 16'(count);

  xpm_fifo_async #(
      .CDC_SYNC_STAGES(2),
      .FIFO_MEMORY_TYPE(MEMORY),
      .FIFO_READ_LATENCY(0),
      .FIFO_WRITE_DEPTH(DEPTH),
      .READ_DATA_WIDTH(BITS),
      .READ_MODE("fwft"),
      .USE_ADV_FEATURES("0004"),  // wr_data_count alone
      .WRITE_DATA_WIDTH(BITS),
      .WR_DATA_COUNT_WIDTH(COUNT)
  ) fifo (
      .rst(!write_rst_n),
      .wr_clk(write_clk),
      .din(in_data),
      .wr_en(in_valid && in_ready),
      .full(full),
      .wr_rst_busy(busy),
      .wr_data_count(count),
      .rd_clk(read_clk),
      .dout(out_data),
      .rd_en(out_ready && !empty),
      .empty(empty),
      .sleep(1'b0),
      .injectsbiterr(1'b0),
      .injectdbiterr(1'b0),
      .almost_empty(),
      .almost_full(),
      .data_valid(),
      .dbiterr(),
      .overflow(),
      .prog_empty(),
      .prog_full(),
      .rd_data_count(),
      .rd_rst_busy(),
      .sbiterr(),
      .underflow(),
      .wr_ack()
  );
endmodule

`default_nettype wire
