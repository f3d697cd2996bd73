// Stand-ins for AMD's macros (UG974), for tests alone: harsher than the documents promise.
// A count at the writer is two cycles late and leaves out two words that a reader may have fetched ahead; a FIFO holds a
// word less than its depth; what is written while it is reset is an error.

module xpm_fifo_async #(
    parameter int CDC_SYNC_STAGES = 2,
    parameter FIFO_MEMORY_TYPE = "auto",
    parameter int FIFO_READ_LATENCY = 0,
    parameter int FIFO_WRITE_DEPTH = 64,
    parameter int READ_DATA_WIDTH = 32,
    parameter READ_MODE = "fwft",
    parameter USE_ADV_FEATURES = "0004",
    parameter int WRITE_DATA_WIDTH = 32,
    parameter int WR_DATA_COUNT_WIDTH = 7
) (
    input  wire rst, wr_clk, wr_en, rd_clk, rd_en, sleep, injectsbiterr, injectdbiterr,
    input  wire [WRITE_DATA_WIDTH-1:0] din,
    output logic full, wr_rst_busy, rd_rst_busy, empty,
    output logic [WR_DATA_COUNT_WIDTH-1:0] wr_data_count,
    output logic [READ_DATA_WIDTH-1:0] dout,
    output logic almost_empty, almost_full, data_valid, dbiterr, sbiterr, overflow, underflow, prog_empty, prog_full, wr_ack,
    output logic rd_data_count
);
  localparam int ADDRESS = $clog2(FIFO_WRITE_DEPTH);
  logic [WRITE_DATA_WIDTH-1:0] memory[0:FIFO_WRITE_DEPTH-1];
  logic [ADDRESS:0] put, put_gray, got_seen_gray, got_seen;
  logic [ADDRESS:0] fetched, got_gray, put_seen_gray, put_seen;
  logic [ADDRESS:0] got_first, put_first, held;
  logic [3:0] busy;
  logic reset_first, reading_reset, there;

  function automatic [ADDRESS:0] binary(input [ADDRESS:0] gray);
    integer n;
    binary = gray;
    for (n = ADDRESS - 1; n >= 0; n = n - 1) binary[n] = binary[n+1] ^ gray[n];
  endfunction

  assign got_seen = binary(got_seen_gray);
  assign put_seen = binary(put_seen_gray);
  assign held = put - got_seen;
  assign full = wr_rst_busy || held >= (ADDRESS + 1)'(FIFO_WRITE_DEPTH - 1);
  assign wr_rst_busy = |busy;
  logic [WR_DATA_COUNT_WIDTH-1:0] counted;
  always_ff @(posedge wr_clk) begin
    counted <= held > 2 ? WR_DATA_COUNT_WIDTH'(held - 2) : 0;
    wr_data_count <= wr_rst_busy ? 0 : counted;
    busy <= rst ? 4'd15 : busy != 0 ? busy - 1 : 0;
    got_first <= got_gray;
    got_seen_gray <= got_first;
    put_gray <= put ^ (put >> 1);
    if (wr_en && !full) begin
      memory[put[ADDRESS-1:0]] <= din;
      put <= put + 1;
    end
    if (wr_rst_busy) begin
      counted <= 0;
      put <= 0;
      put_gray <= 0;
      got_first <= 0;
      got_seen_gray <= 0;
    end
  end

`ifdef VERILATOR
  always_ff @(posedge wr_clk) if (rst && wr_en) $error("written while reset");
`endif

  // A word is read from the memory when it is fetched, the cycle before it is shown.
  assign empty = !there;
  assign rd_rst_busy = reading_reset;
  always_ff @(posedge rd_clk) begin
    reset_first <= wr_rst_busy;
    reading_reset <= reset_first;
    put_first <= put_gray;
    put_seen_gray <= put_first;
    got_gray <= fetched ^ (fetched >> 1);
    if (!there || rd_en) begin
      there <= put_seen != fetched;
      dout <= memory[fetched[ADDRESS-1:0]];
      if (put_seen != fetched) fetched <= fetched + 1;
    end
    if (reading_reset) begin
      there <= 0;
      fetched <= 0;
      got_gray <= 0;
      put_first <= 0;
      put_seen_gray <= 0;
    end
  end
  assign {almost_empty, almost_full, data_valid, dbiterr, sbiterr, overflow, underflow, prog_empty, prog_full, wr_ack} = 0;
  assign rd_data_count = 0;
endmodule

module xpm_cdc_single #(
    parameter int DEST_SYNC_FF = 2
) (
    input  wire src_clk, src_in, dest_clk,
    output logic dest_out
);
  logic sent, first;
  always_ff @(posedge src_clk) sent <= src_in;
  always_ff @(posedge dest_clk) {dest_out, first} <= {first, sent};
endmodule

module xpm_cdc_array_single #(
    parameter int DEST_SYNC_FF = 2,
    parameter int WIDTH = 2
) (
    input  wire src_clk, dest_clk,
    input  wire [WIDTH-1:0] src_in,
    output logic [WIDTH-1:0] dest_out
);
  logic [WIDTH-1:0] sent, first;
  always_ff @(posedge src_clk) sent <= src_in;
  always_ff @(posedge dest_clk) {dest_out, first} <= {first, sent};
endmodule
