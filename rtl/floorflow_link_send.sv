// Sends packets of several streams over one link, each stream as far as the other side has room for it.
//
// A packet is a header and up to MOST words of one stream, in turn; it ends where the stream has no more, is out of room,
// or a word is not full (tkeep). A header alone is sent where none was for BEAT cycles. Header, from bit 0:
// 8 bits F7, 8 bits stream (FE: test pattern, FF: nothing follows), 1 bit ready, 31 bits of the test pattern's state,
// then 16 bits for each stream that comes the other way: how many of its words were read here.
`default_nettype none

module floorflow_link_send #(
    parameter int WORD = 512,
    parameter int STREAMS = 1,
    parameter int PEERS = 1,                       // streams that come the other way
    parameter logic [16*STREAMS-1:0] ROOM = 56,    // words of each stream that may be under way or unread
    parameter int MOST = 63,
    parameter int BEAT = 64,
    parameter int LAST = $clog2(WORD / 8)
) (
    input  wire                           clk,
    input  wire                           rst_n,
    input  wire                           testing,
    input  wire  [STREAMS*(LAST+WORD)-1:0] in_data,     // a word, and above it the number of its last byte
    input  wire  [STREAMS-1:0]            in_valid,
    output logic [STREAMS-1:0]            in_ready,
    input  wire                           there_ready,
    input  wire  [16*STREAMS-1:0]         there_read,
    input  wire                           here_ready,
    input  wire  [16*PEERS-1:0]           here_read,
    output logic                          astray,      // the other side read more than was sent: one was reset alone
    output logic [WORD-1:0]               tx_tdata,
    output logic [WORD/8-1:0]             tx_tkeep,
    output logic                          tx_tlast,
    output logic                          tx_tvalid,
    input  wire                           tx_tready
);
  localparam logic [7:0] MAGIC = 8'hF7, TEST = 8'hFE, NOTHING = 8'hFF;
  localparam logic [1:0] IDLE = 0, HEAD = 1, BODY = 2;
  localparam logic [15:0] SPARE = 8;  // words of a FIFO there beside ROOM
  localparam int LEFT = $clog2(MOST + 1);
  localparam int QUIET = $clog2(BEAT + 1);
  localparam int TURN = STREAMS > 1 ? $clog2(STREAMS) : 1;

  logic [1:0] state;
  logic [7:0] kind;
  logic [TURN-1:0] stream, chosen;
  logic [LEFT-1:0] left;
  logic [QUIET-1:0] quiet;
  logic [LAST-1:0] word_last;
  logic [WORD-1:0] word, pattern;
  logic [30:0] seed, following;
  logic [16*STREAMS-1:0] sent;
  logic [STREAMS-1:0] open;
  logic [16*PEERS-1:0] told;
  logic told_ready, found, moves, free, fresh, ends, ended, more;
  logic [LAST+WORD-1:0] item;

  floorflow_link_prbs #(WORD) prbs (
      .state(seed),
      .following(following),
      .pattern(pattern)
  );

  // The next stream in turn that has a word, and room for it.
  integer i;
  always_comb begin
    found  = 0;
    chosen = stream;
    for (i = 0; i < STREAMS; i = i + 1)
      if (TURN'(i) <= stream && in_valid[i] && open[i] && !found) begin
        found  = 1;
        chosen = TURN'(i);
      end
    // Those behind the last one come before the others.
    for (i = STREAMS - 1; i >= 0; i = i - 1)
      if (TURN'(i) > stream && in_valid[i] && open[i]) begin
        found  = 1;
        chosen = TURN'(i);
      end
  end

  // What is told beside a word may not change before it is taken.
  assign ends = kind == TEST ? left == 1 : !fresh ? ended :
      left == 1 || word_last != {LAST{1'b1}} || !more;
  assign tx_tvalid = state != IDLE;
  assign tx_tlast = state == HEAD ? kind == NOTHING : ends;
  assign tx_tkeep = {(WORD / 8) {1'b1}} >> (state == BODY && kind != TEST ? ~word_last : {LAST{1'b0}});
  always_comb begin
    if (state == HEAD) begin
      tx_tdata = 0;
      tx_tdata[47:0] = {seed, told_ready, kind, MAGIC};
      tx_tdata[48+:16*PEERS] = told;
    end else tx_tdata = kind == TEST ? pattern : word;
  end
  assign moves = tx_tvalid && tx_tready;
  assign free  = state == IDLE || (moves && tx_tlast);

  always_comb begin
    in_ready = 0;
    item = in_data[LAST+WORD-1:0];
    more = 0;
    for (i = 0; i < STREAMS; i = i + 1) begin
      if ((free ? chosen : stream) == TURN'(i)) begin
        in_ready[i] = free ? found && !testing : state == BODY && kind != TEST && moves && !ends;
        item = in_data[(LAST+WORD)*i+:LAST+WORD];
      end
      if (stream == TURN'(i)) more = in_valid[i] && open[i];
    end
  end

  always_ff @(posedge clk) begin
    fresh <= moves;
    ended <= ends;
    if (free) begin
      stream <= chosen;
      kind   <= testing ? TEST : found ? 8'(chosen) : NOTHING;
      left   <= LEFT'(MOST);
      told   <= here_read;
      told_ready <= here_ready;
      state  <= testing || found || quiet == QUIET'(BEAT) ? HEAD : IDLE;
    end else if (moves) begin
      state <= BODY;
      if (state == BODY) left <= left - 1;
    end
    if (moves && state == BODY && kind == TEST) seed <= following;
    if (|in_ready) {word_last, word} <= item;
    quiet <= moves && state == HEAD ? 0 : quiet != QUIET'(BEAT) ? quiet + 1 : quiet;
    for (i = 0; i < STREAMS; i = i + 1) begin
      sent[16*i+:16] <= sent[16*i+:16] + 16'(in_ready[i]);
      open[i] <= there_ready && sent[16*i+:16] - there_read[16*i+:16] < ROOM[16*i+:16];
      // No FIFO there is deeper than that, however late its count is.
      if (there_ready && sent[16*i+:16] - there_read[16*i+:16] > ROOM[16*i+:16] + SPARE) astray <= 1;
    end
    if (!rst_n) begin
      state  <= IDLE;
      stream <= 0;
      quiet  <= 0;
      seed   <= {31{1'b1}};
      sent   <= 0;
      open   <= 0;
      astray <= 0;
    end
  end
endmodule

`default_nettype wire
