// A reset on its way over a die, or into a module: registers that placement can spread.
`default_nettype none

module floorflow_stitch_reset #(
    parameter STAGES = 4
) (
    input  wire clk,
    input  wire in_n,
    output wire out_n
);
  (* shreg_extract = "no" *)
  reg [STAGES-1:0] way = 0;

  always @(posedge clk) way <= {way[STAGES-2:0], in_n};
  assign out_n = way[STAGES-1];
endmodule

`default_nettype wire
