// Packs a stream into words of a link: unit after unit, the first in the lowest bits.
//
// A word that is not full leaves once it has waited WAIT cycles and nothing else waits for the link.
// out_last is the number of its last byte.
`default_nettype none

module floorflow_link_pack #(
    parameter int BITS = 8,   // of the stream, whole bytes
    parameter int WORD = 512,
    parameter int WAIT = 64
) (
    input  wire                     clk,
    input  wire                     rst_n,
    input  wire  [BITS-1:0]         in_data,
    input  wire                     in_valid,
    output logic                    in_ready,
    output logic [WORD-1:0]         out_data,
    output logic [$clog2(WORD/8)-1:0] out_last,
    output logic                    out_valid,
    input  wire                     out_ready,
    input  wire                     out_idle
);
  localparam int UNIT = (BITS & -BITS) < WORD ? (BITS & -BITS) : WORD;  // the largest that divides both
  localparam int FULL = WORD / UNIT;
  localparam int STEP = BITS / UNIT;
  localparam int MOST = FULL - 1 + STEP;
  localparam int COUNT = $clog2(MOST + 1);
  localparam int LAST = $clog2(WORD / 8);
  localparam int AGE = $clog2(WAIT + 1);

  logic [MOST*UNIT-1:0] held, rest_held, arrived;
  logic [COUNT-1:0] units, rest;
  logic [AGE-1:0] age;
  logic whole, leaves;

  assign whole     = units >= COUNT'(FULL);
  assign out_valid = whole || (units != 0 && age == AGE'(WAIT) && out_idle);
  assign out_data  = held[WORD-1:0];
  assign out_last  = whole ? {LAST{1'b1}} : LAST'(32'(units) * (UNIT / 8) - 1);
  assign leaves    = out_valid && out_ready;
  assign rest      = !leaves ? units : whole ? units - COUNT'(FULL) : 0;
  assign rest_held = !leaves ? held : whole ? held >> WORD : 0;
  assign in_ready  = rst_n && rest < COUNT'(FULL);
  assign arrived   = (MOST * UNIT)'(in_data);

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      held  <= 0;
      units <= 0;
      age   <= 0;
    end else begin
      if (in_valid && in_ready) begin
        held  <= rest_held | (arrived << ((32'(rest) & (FULL - 1)) << $clog2(UNIT)));
        units <= rest + COUNT'(STEP);
      end else begin
        held  <= rest_held;
        units <= rest;
      end
      age <= leaves || units == 0 ? 0 : age != AGE'(WAIT) ? age + 1 : age;
    end
  end
endmodule

`default_nettype wire
