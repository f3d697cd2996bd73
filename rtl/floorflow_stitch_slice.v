// Two words of a stream: every output is a register, so that no path leads through it, and words pass at the full rate.
`default_nettype none

module floorflow_stitch_slice #(
    parameter BITS = 8
) (
    input  wire            clk,
    input  wire            rst_n,
    input  wire [BITS-1:0] in_data,
    input  wire            in_valid,
    output reg             in_ready,
    output reg  [BITS-1:0] out_data,
    output reg             out_valid,
    input  wire            out_ready
);
  reg [BITS-1:0] kept;
  reg full;  // `kept` holds a word that has to wait, and in_ready is 0
  wire takes = in_valid && in_ready;
  wire moves = out_ready || !out_valid;

  always @(posedge clk) begin
    if (in_ready) kept <= in_data;
    if (moves) out_data <= full ? kept : in_data;
    if (!rst_n) begin
      in_ready <= 1'b0;
      full <= 1'b0;
      out_valid <= 1'b0;
    end else if (moves) begin
      in_ready <= 1'b1;
      full <= 1'b0;
      out_valid <= full || takes;
    end else begin
      in_ready <= !(full || takes);
      full <= full || takes;
    end
  end
endmodule

`default_nettype wire
