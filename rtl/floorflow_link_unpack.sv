// Makes a stream of the words that floorflow_link_pack made of it; in_last is the number of a word's last byte.
`default_nettype none

module floorflow_link_unpack #(
    parameter int BITS = 8,   // of the stream, whole bytes
    parameter int WORD = 512
) (
    input  wire                     clk,
    input  wire                     rst_n,
    input  wire  [WORD-1:0]         in_data,
    input  wire  [$clog2(WORD/8)-1:0] in_last,
    input  wire                     in_valid,
    output logic                    in_ready,
    output logic [BITS-1:0]         out_data,
    output logic                    out_valid,
    input  wire                     out_ready
);
  localparam int UNIT = (BITS & -BITS) < WORD ? (BITS & -BITS) : WORD;  // the largest that divides both
  localparam int FULL = WORD / UNIT;
  localparam int STEP = BITS / UNIT;
  localparam int MOST = STEP - 1 + FULL;
  localparam int COUNT = $clog2(MOST + 1);

  logic [MOST*UNIT-1:0] held, rest_held, arrived;
  logic [COUNT-1:0] units, rest;

  assign out_valid = units >= COUNT'(STEP);
  assign out_data  = held[BITS-1:0];
  assign rest      = out_valid && out_ready ? units - COUNT'(STEP) : units;
  assign rest_held = out_valid && out_ready ? held >> BITS : held;
  assign in_ready  = rst_n && rest < COUNT'(STEP);
  assign arrived   = (MOST * UNIT)'(in_data);

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      held  <= 0;
      units <= 0;
    end else if (in_valid && in_ready) begin
      held  <= rest_held | (arrived << ((32'(rest) & ((1 << $clog2(STEP)) - 1)) << $clog2(UNIT)));
      units <= rest + COUNT'((32'(in_last) + 1) / (UNIT / 8));
    end else begin
      held  <= rest_held;
      units <= rest;
    end
  end
endmodule

`default_nettype wire
