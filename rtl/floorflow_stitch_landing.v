// Where a chain of STAGES stages ends: room for every word that is under way when it says that there is none.
`default_nettype none

module floorflow_stitch_landing #(
    parameter BITS   = 8,
    parameter STAGES = 2,
    parameter DEPTH  = 16
) (
    input  wire            clk,
    input  wire            rst_n,
    input  wire [BITS-1:0] in_data,
    input  wire            in_valid,
    output reg             in_room,
    output reg  [BITS-1:0] out_data,
    output reg             out_valid,
    input  wire            out_ready
);
  localparam PLACES = $clog2(DEPTH);
  // After in_room falls, words come for STAGES cycles there, STAGES back, and one in each of its two registers.
  localparam [PLACES:0] MOST = DEPTH - 2 * STAGES - 2;
  (* ram_style = "distributed" *)
  reg [BITS-1:0] words[0:DEPTH-1];
  reg [PLACES-1:0] first, last;
  reg [PLACES:0] count;
  wire moves = out_ready || !out_valid;
  wire reads = moves && count != 0;

  always @(posedge clk) begin
    if (in_valid) words[last] <= in_data;
    if (reads) out_data <= words[first];
    if (!rst_n) begin
      first <= 0;
      last <= 0;
      count <= 0;
      in_room <= 1'b0;
      out_valid <= 1'b0;
    end else begin
      if (in_valid) last <= last + 1'b1;
      if (reads) first <= first + 1'b1;
      if (in_valid && !reads) count <= count + 1'b1;
      if (reads && !in_valid) count <= count - 1'b1;
      in_room <= count <= MOST;
      if (moves) out_valid <= count != 0;
    end
  end
endmodule

`default_nettype wire
