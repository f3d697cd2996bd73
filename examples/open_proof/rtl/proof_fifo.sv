// A FIFO of DEPTH words (of 4 at least), in flip-flops.
`default_nettype none

module proof_fifo #(
    parameter int BITS = 8,
    parameter int DEPTH = 2
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
  // Two words stand in a slice at the output, which cuts every path from reader to writer; the youngest is lowest.
  localparam int STORE = DEPTH < 4 ? 2 : DEPTH - 2;
  localparam int COUNT = $clog2(STORE + 1);
  reg [STORE*BITS-1:0] words;
  reg [COUNT-1:0] used;
  reg [BITS-1:0] spare;
  reg spare_valid;
  wire [BITS-1:0] eldest = words >> (BITS * (32'(used) - 1));
  wire writes = in_valid && in_ready;
  wire moves = used != 0 && !spare_valid;
  wire free = !out_valid || out_ready;

  assign in_ready = rst_n && used != COUNT'(STORE);
  always_ff @(posedge clk) begin
    used <= !rst_n ? 0 : used + COUNT'(writes) - COUNT'(moves);
    out_valid <= rst_n && (!free || moves || spare_valid);
    spare_valid <= rst_n && !free && (moves || spare_valid);
    if (free) out_data <= spare_valid ? spare : eldest;
    if (moves) spare <= eldest;
    if (writes) words <= {words, in_data};
  end
endmodule

`default_nettype wire
