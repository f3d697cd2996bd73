// The next word of a test pattern: 32 bits of PRBS-31 (x^31 + x^28 + 1) in each lane, each lane's its own by a constant.
`default_nettype none

module floorflow_link_prbs #(
    parameter int WORD = 512
) (
    input  wire  [30:0]     state,
    output logic [30:0]     following,
    output logic [WORD-1:0] pattern
);
  logic [27:0] first;
  logic [31:0] word;

  assign first = state[27:0] ^ state[30:3];
  assign word = {{first[0], state[30:28]} ^ first[3:0], first};
  assign following = word[31:1];
  for (genvar lane = 0; lane < WORD / 32; lane = lane + 1)
    assign pattern[32*lane+:32] = word ^ (32'h9E3779B1 * lane);
endmodule

`default_nettype wire
