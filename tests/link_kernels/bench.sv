// What stands round link kernels in a simulation: streams that count, their readers, and a cable.

// Sends words 0 to most-1; each is drawn from its number. It offers one in odds of 256 cycles, and keeps to its offer.
module bench_source #(
    parameter int BITS = 8,
    parameter int SEED = 1
) (
    input  wire clk, rst_n,
    input  wire [31:0] most,
    input  wire [8:0] odds,
    output logic [BITS-1:0] data,
    output logic valid,
    input  wire ready,
    output logic [31:0] sent
);
  logic [31:0] draw;
  bench_word #(BITS, SEED) word (.number(sent), .data(data));
  always_ff @(posedge clk) begin
    draw <= draw * 32'd1664525 + 32'd1013904223;
    if (valid && ready) sent <= sent + 1;
    if (!valid || ready) valid <= sent + 32'(valid) < most && {1'b0, draw[31:24]} < odds;
    if (!rst_n) begin
      draw <= SEED;
      sent <= 0;
      valid <= 0;
    end
  end
endmodule

module bench_word #(
    parameter int BITS = 8,
    parameter int SEED = 1
) (
    input  wire [31:0] number,
    output logic [BITS-1:0] data
);
  logic [31:0] drawn;
  assign drawn = (number + SEED) * 32'd2654435761;
  for (genvar n = 0; n < BITS / 8; n = n + 1) assign data[8*n+:8] = drawn[5*n%24+:8] + 8'(n);
endmodule

// Reads words in odds of 256 cycles and compares them; first and last cycle in which one came.
module bench_sink #(
    parameter int BITS = 8,
    parameter int SEED = 1
) (
    input  wire clk, rst_n,
    input  wire [8:0] odds,
    input  wire [BITS-1:0] data,
    input  wire valid,
    output logic ready,
    output logic [31:0] got, wrong, first, last
);
  logic [31:0] draw, cycle;
  logic [BITS-1:0] expected;
  bench_word #(BITS, SEED) word (.number(got), .data(expected));
  always_ff @(posedge clk) begin
    draw  <= draw * 32'd1664525 + 32'd1013904223;
    cycle <= cycle + 1;
    ready <= {1'b0, draw[31:24]} < odds;
    if (valid && ready) begin
      got  <= got + 1;
      last <= cycle;
      if (got == 0) first <= cycle;
      if (data != expected) wrong <= wrong + 1;
    end
    if (!rst_n) begin
      draw <= SEED + 77;
      cycle <= 0;
      ready <= 0;
      {got, wrong, first, last} <= 0;
    end
  end
endmodule

// One direction of a link: what it takes comes out latency cycles later, whether anybody is ready or not.
// It takes a word in odds of 256 cycles, as a link slower than its kernel's clock; stopped it stands still.
module bench_cable #(
    parameter int WORD = 512,
    parameter int SEED = 1
) (
    input  wire clk, rst_n,
    input  wire [15:0] latency,
    input  wire [8:0] odds,
    input  wire stop, flip,
    input  wire [WORD-1:0] in_data,
    input  wire [WORD/8-1:0] in_keep,
    input  wire in_last, in_valid,
    output logic in_ready,
    output logic [WORD-1:0] out_data,
    output logic [WORD/8-1:0] out_keep,
    output logic out_last, out_valid,
    input  wire out_ready,
    output logic [31:0] lost, unsteady, words
);
  localparam int PLACES = 4096;
  localparam int ITEM = WORD + WORD / 8 + 1;
  logic [ITEM-1:0] under_way[0:PLACES-1];
  logic [PLACES-1:0] there;
  logic [11:0] now;
  logic [31:0] draw;
  logic [ITEM-1:0] offered;
  logic waiting, flipped;

  assign in_ready = !stop && {1'b0, draw[31:24]} < odds;
  assign {out_last, out_keep, out_data} = under_way[now] ^ {{(ITEM-1){1'b0}}, flip && !flipped} << 100;
  assign out_valid = !stop && there[now];
  always_ff @(posedge clk) begin
    draw <= draw * 32'd1664525 + 32'd1013904223;
    // An offer may not change before it is taken.
    waiting <= in_valid && !in_ready;
    offered <= {in_last, in_keep, in_data};
    if (waiting && (!in_valid || offered != {in_last, in_keep, in_data})) unsteady <= unsteady + 1;
    if (out_valid && !out_ready) lost <= lost + 1;
    if (out_valid && flip) flipped <= 1;
    if (!stop) begin
      now <= now + 1;
      there[now] <= 0;
      there[now+12'(latency)] <= in_valid && in_ready;
      under_way[now+12'(latency)] <= {in_last, in_keep, in_data};
      words <= words + 32'(in_valid && in_ready);
    end
    if (!rst_n) begin
      draw <= SEED;
      now <= 0;
      waiting <= 0;
      flipped <= 0;
      {lost, unsteady, words} <= 0;
      there <= 0;
    end
  end
endmodule

// A kernel of the network, which passes on what it gets: two registers.
module bench_pass #(
    parameter int BITS = 8
) (
    input  wire clk, rst_n,
    input  wire [BITS-1:0] in_data,
    input  wire in_valid,
    output logic in_ready,
    output logic [BITS-1:0] out_data,
    output logic out_valid,
    input  wire out_ready
);
  logic [BITS-1:0] spare;
  logic spare_there;
  assign in_ready = rst_n && !spare_there;
  always_ff @(posedge clk) begin
    if (out_ready || !out_valid) begin
      out_data    <= spare_there ? spare : in_data;
      out_valid   <= spare_there || (in_valid && in_ready);
      spare_there <= 0;
    end else if (in_valid && in_ready) begin
      spare       <= in_data;
      spare_there <= 1;
    end
    if (!rst_n) begin
      out_valid <= 0;
      spare_there <= 0;
    end
  end
endmodule

// The host at a link kernel's registers: it writes the control without end, and reads status and counts in turn.
module bench_host (
    input  wire clk, rst_n, test,
    output logic [5:0] awaddr,
    output logic awvalid, wvalid, bready, arvalid, rready,
    output logic [31:0] wdata,
    output logic [3:0] wstrb,
    input  wire awready, wready, bvalid, arready, rvalid,
    output logic [5:0] araddr,
    input  wire [31:0] rdata,
    input  wire [1:0] bresp, rresp,
    output logic [31:0] status, tested, wrong
);
  assign {awaddr, wstrb, bready, rready} = {6'd0, 4'hF, 2'b11};
  assign wdata = {31'd0, test};
  always_ff @(posedge clk) begin
    {awvalid, wvalid} <= awready ? 2'b00 : 2'b11;
    arvalid <= !arready;
    if (rvalid) begin
      if (araddr == 4) status <= rdata;
      if (araddr == 8) tested <= rdata;
      if (araddr == 12) wrong <= rdata;
      araddr <= araddr == 12 ? 4 : araddr + 4;
    end
    if (!rst_n) begin
      {awvalid, wvalid, arvalid} <= 0;
      araddr <= 4;
    end
    if (awready != wready || bresp != 0 || rresp != 0) status <= 32'hBAD;
  end
endmodule
