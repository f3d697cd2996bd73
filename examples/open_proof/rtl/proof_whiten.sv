// Whitens a stream with the test pattern of floorflow's link kernels: a word a cycle, each lane of 32 bits its own pattern.
`default_nettype none

module proof_whiten #(
    parameter int BITS = 4
) (
    input  wire            clk,
    input  wire            rst_n,
    input  wire [BITS-1:0] in_data,
    input  wire            in_valid,
    output wire            in_ready,
    output reg  [BITS-1:0] out_data,
    output reg             out_valid,
    input  wire            out_ready
);
  localparam int WORD = (BITS + 31) / 32 * 32;
  reg [30:0] state;
  wire [30:0] following;
  wire [WORD-1:0] pattern;
  wire takes = in_valid && in_ready;

  floorflow_link_prbs #(WORD) prbs (
      .state(state),
      .following(following),
      .pattern(pattern)
  );

  assign in_ready = rst_n && (!out_valid || out_ready);
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      state <= 1;
      out_valid <= 0;
    end else begin
      if (takes) state <= following;
      out_valid <= takes || (out_valid && !out_ready);
    end
    if (takes) out_data <= in_data ^ pattern[BITS-1:0];
  end
endmodule

`default_nettype wire
