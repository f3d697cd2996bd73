// Hand-written: what drives and reads the streams of a card in a simulation, from files of words in
// hexadecimal, one a line. Both ends wait at random, for it must not matter when a word comes.
`default_nettype none
`timescale 1ns / 1ps

// Sends the words of a file.
module floorflow_stitch_source #(
    parameter int BITS = 8,
    parameter FILE = ""
) (
    input  wire             clk,
    input  wire             rst_n,
    output reg  [BITS-1:0]  data,
    output reg              valid,
    input  wire             ready,
    output reg  [31:0]      sent
);
  int file;
  reg [BITS-1:0] word;

  initial begin
    file = $fopen(FILE, "r");
    if (file == 0) $fatal(1, "there is no file %s", FILE);
  end

  always @(posedge clk)
    if (!rst_n) begin
      valid <= 1'b0;
      sent  <= 0;
    end else begin
      if (valid && ready) sent <= sent + 1;
      if (!valid || ready) begin
        valid <= 1'b0;
        // Two conditions in one would read a word whatever the first says, in some simulators.
        if ($urandom_range(3) != 0) begin
          if ($fscanf(file, "%h", word) == 1) begin
            data  <= word;
            valid <= 1'b1;
          end
        end
      end
    end
endmodule

// Compares what comes with the words of a file, by the lowest USED bits; done once all have come.
module floorflow_stitch_sink #(
    parameter int BITS = 8,
    parameter int USED = BITS,
    parameter FILE = ""
) (
    input  wire             clk,
    input  wire             rst_n,
    input  wire [BITS-1:0]  data,
    input  wire             valid,
    output reg              ready,
    output reg  [31:0]      got,
    output reg  [31:0]      wrong,
    output reg              done
);
  int file;
  reg [BITS-1:0] word;

  initial begin
    file = $fopen(FILE, "r");
    if (file == 0) $fatal(1, "there is no file %s", FILE);
    done = $fscanf(file, "%h", word) != 1;
  end

  always @(posedge clk)
    if (!rst_n) begin
      ready <= 1'b0;
      got   <= 0;
      wrong <= 0;
    end else begin
      ready <= $urandom_range(3) != 0;
      if (valid && ready) begin
        got <= got + 1;
        if (done || data[USED-1:0] !== word[USED-1:0]) begin
          wrong <= wrong + 1;
          if (wrong == 0) $display("%s: word %0d is %h, expected %h", FILE, got, data, word);
        end
        done <= $fscanf(file, "%h", word) != 1;
      end
    end
endmodule

`default_nettype wire
