// Takes the packets of floorflow_link_send apart: words of each stream, what the other side tells, and test patterns.
//
// It always takes a word: the other side sends no more of a stream than its FIFO here has room for.
`default_nettype none

module floorflow_link_receive #(
    parameter int WORD = 512,
    parameter int STREAMS = 1,
    parameter int PEERS = 1,  // streams that go the other way
    parameter int LAST = $clog2(WORD / 8)
) (
    input  wire                    clk,
    input  wire                    rst_n,
    input  wire  [WORD-1:0]        rx_tdata,
    input  wire  [WORD/8-1:0]      rx_tkeep,
    input  wire                    rx_tlast,
    input  wire                    rx_tvalid,
    output logic [LAST+WORD-1:0]   out_data,     // a word, and above it the number of its last byte
    output logic [STREAMS-1:0]     out_valid,
    input  wire  [STREAMS-1:0]     out_ready,
    input  wire  [16*STREAMS-1:0]  used,         // words in each FIFO
    output logic [16*STREAMS-1:0]  here_read,
    output logic                   there_ready,
    output logic [16*PEERS-1:0]    there_read,
    output logic                   garbled,      // a header that is none came, or words of no stream
    output logic                   overflown,
    output logic [31:0]            tested,       // words of the test pattern, and how many were wrong
    output logic [31:0]            wrong
);
  localparam logic [7:0] MAGIC = 8'hF7, TEST = 8'hFE, NOTHING = 8'hFF;

  logic body;
  logic [7:0] kind;
  logic [30:0] state, following;
  logic [WORD-1:0] pattern;
  logic [16*STREAMS-1:0] written;
  logic [LAST-1:0] last;

  floorflow_link_prbs #(WORD) prbs (
      .state(state),
      .following(following),
      .pattern(pattern)
  );

  integer i;
  always_comb begin
    last = 0;
    for (i = 1; i < WORD / 8; i = i + 1) if (rx_tkeep[i]) last = LAST'(i);
    if (!rx_tlast) last = {LAST{1'b1}};
  end
  assign out_data = {last, rx_tdata};
  always_comb for (i = 0; i < STREAMS; i = i + 1) out_valid[i] = rx_tvalid && body && kind == 8'(i);

  always_ff @(posedge clk) begin
    if (rx_tvalid) begin
      body <= !rx_tlast;
      if (!body) begin
        kind <= rx_tdata[7:0] == MAGIC ? rx_tdata[15:8] : NOTHING;
        if (rx_tdata[7:0] == MAGIC) begin
          there_ready <= rx_tdata[16];
          state       <= rx_tdata[47:17];
          there_read  <= rx_tdata[48+:16*PEERS];
        end else garbled <= 1;
      end else begin
        if (kind >= 8'(STREAMS) && kind != TEST) garbled <= 1;
        if (kind == TEST) begin
          state  <= following;
          tested <= tested + 1;
          if (rx_tdata != pattern) wrong <= wrong + 1;
        end
      end
    end
    if (|(out_valid & ~out_ready)) overflown <= 1;
    for (i = 0; i < STREAMS; i = i + 1) begin
      written[16*i+:16]   <= written[16*i+:16] + 16'(out_valid[i]);
      here_read[16*i+:16] <= written[16*i+:16] - used[16*i+:16];
    end
    if (!rst_n) begin
      body        <= 0;
      there_ready <= 0;
      there_read  <= 0;
      written     <= 0;
      here_read   <= 0;
      garbled     <= 0;
      overflown   <= 0;
      tested      <= 0;
      wrong       <= 0;
    end
  end
endmodule

`default_nettype wire
