// Sends words into a chain of FIFOs and takes them out, in phases with other odds of valid and ready, each from reset.
module stream_test #(
    parameter int BITS = 8,
    parameter int DEPTH = 2,  // words that the chain has to hold
    parameter NAME = ""
) (
    input logic clk,
    output logic rst_n,
    output logic [BITS-1:0] idat,
    output logic ivld,
    input logic irdy,
    input logic [BITS-1:0] odat,
    input logic ovld,
    output logic ordy,
    output logic done
);
  // Full rate; both at random; a slow sink; a slow source; the sink stops until the chain is full; a reset with words
  // inside; and what comes after it.
  localparam int PHASES = 7, STOP = 4, CUT = 5, WORDS = 2 * DEPTH + 500;
  localparam int IN[PHASES] = '{16, 8, 16, 3, 16, 16, 8};  // of 16
  localparam int OUT[PHASES] = '{16, 8, 3, 16, 16, 8, 8};

  function automatic logic [BITS-1:0] word(int phase, int n);
    logic [BITS+31:0] value;
    for (int i = 0; i < BITS; i += 32) value[i+:32] = (phase * 65536 + n + 1) * 32'h9E3779B1 ^ i * 32'h85EBCA6B;
    return value[BITS-1:0];
  endfunction

  int phase = 0, sent = 0, got = 0, age = 0, first = 0, errors = 0, stored = 0, gaps = 0;
  logic held = 0;
  logic [BITS-1:0] held_word;
  wire stopped = phase == STOP && age < 4 * DEPTH + 100;
  assign idat = ivld ? word(phase, sent) : 'x;
  assign done = phase == PHASES;

  always_ff @(posedge clk) begin
    age <= age + 1;
    rst_n <= age >= 4;
    if (!rst_n || done) begin
      ivld <= 0;
      ordy <= 0;
      held <= 0;
    end else begin
      if (ivld && irdy) sent <= sent + 1;
      if (!ivld || irdy)
        ivld <= sent + 32'(ivld && irdy) < WORDS && $urandom_range(15) < IN[phase];
      ordy <= !stopped && $urandom_range(15) < OUT[phase];
      if (stopped) stored <= sent + 32'(ivld && irdy);
      if (ovld && odat !== word(phase, got)) errors <= errors + 1;
      if (held && (!ovld || odat !== held_word)) errors <= errors + 1;  // what is offered stays
      held <= ovld && !ordy;
      held_word <= odat;
      if (ovld && ordy) begin
        got <= got + 1;
        if (got == 0) first <= age;
        if (phase == 0 && got != 0 && age != first + got) gaps <= gaps + 1;
      end
      if (got == WORDS && age > 0 && !ovld && sent == WORDS || phase == CUT && got == WORDS / 2) begin
        phase <= phase + 1;
        sent <= 0;
        got <= 0;
        age <= 0;
        rst_n <= 0;
        ivld <= 0;
      end else if (got > WORDS || age > 40 * WORDS + 4000) begin  // too many, or none for long
        errors <= errors + 1;
        phase <= PHASES;
      end
    end
  end
  final $display("stream %s errors %0d stored %0d gaps %0d", NAME, errors, stored, gaps);
endmodule
