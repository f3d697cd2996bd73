// A filter over time: in each lane a weighted sum of the last TAPS values, one a cycle; a word takes TAPS cycles.
`default_nettype none

module proof_filter #(
    parameter int BITS = 4,
    parameter int LANES = 1,
    parameter int TAPS = 8
) (
    input  wire                  clk,
    input  wire                  rst_n,
    input  wire [BITS*LANES-1:0] in_data,
    input  wire                  in_valid,
    output wire                  in_ready,
    output reg  [BITS*LANES-1:0] out_data,
    output reg                   out_valid,
    input  wire                  out_ready
);
  localparam int COUNT = $clog2(TAPS);
  localparam int SUM = BITS + COUNT;
  reg busy;
  reg [COUNT-1:0] step;
  wire last = step == COUNT'(TAPS - 1);
  wire moves = busy && (!last || !out_valid || out_ready);
  wire takes = in_valid && in_ready;

  assign in_ready = rst_n && (!busy || (last && moves));
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      busy <= 0;
      step <= 0;
      out_valid <= 0;
    end else begin
      busy <= takes || (busy && !(moves && last));
      out_valid <= (moves && last) || (out_valid && !out_ready);
      if (moves) step <= last ? 0 : step + 1'b1;
    end
  end

  for (genvar lane = 0; lane < LANES; lane = lane + 1) begin : lanes
    reg [TAPS*BITS-1:0] line;  // the youngest in the lowest bits; a frame of TAPS cycles turns it once
    reg [SUM-1:0] sum;
    wire [TAPS*BITS-1:0] turned = moves ? {line[BITS-1:0], line[TAPS*BITS-1:BITS]} : line;
    wire [BITS-1:0] term = step[0] ? line[BITS-1:0] >> 1 : line[BITS-1:0];
    wire [SUM-1:0] next = (step == 0 ? SUM'(0) : sum) + SUM'(term);

    always_ff @(posedge clk) begin
      line <= takes ? {turned, in_data[BITS*lane+:BITS]} : turned;
      if (moves) sum <= next;
      if (moves && last) out_data[BITS*lane+:BITS] <= next[SUM-1-:BITS];
    end
  end
endmodule

`default_nettype wire
