// One side of an SLR boundary: bare flip-flops both ways, without reset, enable or logic, as Laguna sites take them.
`default_nettype none

module floorflow_stitch_stage #(
    parameter BITS = 8
) (
    input  wire            clk,
    input  wire [BITS-1:0] in_data,
    input  wire            in_valid,
    output wire            in_room,
    output wire [BITS-1:0] out_data,
    output wire            out_valid,
    input  wire            out_room
);
  (* shreg_extract = "no", dont_touch = "yes", user_sll_reg = "true" *)
  reg [BITS-1:0] data;
  (* shreg_extract = "no", dont_touch = "yes", user_sll_reg = "true" *)
  reg valid = 1'b0;
  (* shreg_extract = "no", dont_touch = "yes", user_sll_reg = "true" *)
  reg room = 1'b0;

  always @(posedge clk) begin
    data  <= in_data;
    valid <= in_valid;
    room  <= out_room;
  end
  assign out_data  = data;
  assign out_valid = valid;
  assign in_room   = room;
endmodule

`default_nettype wire
