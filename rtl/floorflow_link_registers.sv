// What the host reads and writes of a link, over AXI-lite in the network's clock; the link has a clock of its own.
//
// 00: bit 0 sends the test pattern instead of streams. 04: bits of the status. 08: words of the test pattern that came,
// 0C: how many were wrong; both stand still once the other side no longer sends them.
`default_nettype none

module floorflow_link_registers (
    input  wire         clk,
    input  wire         rst_n,
    input  wire  [5:0]  awaddr,
    input  wire         awvalid,
    output logic        awready,
    input  wire  [31:0] wdata,
    input  wire  [3:0]  wstrb,
    input  wire         wvalid,
    output logic        wready,
    output logic [1:0]  bresp,
    output logic        bvalid,
    input  wire         bready,
    input  wire  [5:0]  araddr,
    input  wire         arvalid,
    output logic        arready,
    output logic [31:0] rdata,
    output logic [1:0]  rresp,
    output logic        rvalid,
    input  wire         rready,
    input  wire         link_clk,
    output logic        testing,  // in the link's clock
    input  wire  [3:0]  status,
    input  wire  [31:0] tested,
    input  wire  [31:0] wrong
);
  logic test, write, read;
  logic [67:0] told;

  xpm_cdc_single #(.DEST_SYNC_FF(2)) asked (
      .src_clk(clk),
      .src_in(test),
      .dest_clk(link_clk),
      .dest_out(testing)
  );
  xpm_cdc_array_single #(.DEST_SYNC_FF(2), .WIDTH(68)) answer (
      .src_clk(link_clk),
      .src_in({wrong, tested, status}),
      .dest_clk(clk),
      .dest_out(told)
  );

  assign write   = awvalid && wvalid && !bvalid;
  assign read    = arvalid && !rvalid;
  assign awready = write;
  assign wready  = write;
  assign arready = read;
  assign bresp   = 0;
  assign rresp   = 0;

  always_ff @(posedge clk) begin
    bvalid <= write || (bvalid && !bready);
    rvalid <= read || (rvalid && !rready);
    if (write && awaddr[5:2] == 0 && wstrb[0]) test <= wdata[0];
    if (read)
      case (araddr[5:2])
        0: rdata <= {31'd0, test};
        1: rdata <= {28'd0, told[3:0]};
        2: rdata <= told[35:4];
        3: rdata <= told[67:36];
        default: rdata <= 0;
      endcase
    if (!rst_n) begin
      bvalid <= 0;
      rvalid <= 0;
      test   <= 0;
    end
  end
endmodule

`default_nettype wire
