// What nextpnr-generic packs into its slices, of LUTs and flip-flops as yosys has them.
module \$lut (A, Y);
  parameter WIDTH = 0;
  parameter LUT = 0;
  input [WIDTH-1:0] A;
  output Y;
  localparam repeated = 1 << (6 - WIDTH);
  LUT #(.K(6), .INIT({repeated{LUT}})) _TECHMAP_REPLACE_ (.I(A), .Q(Y));
endmodule

module \$_DFF_P_ (input D, C, output Q);
  DFF _TECHMAP_REPLACE_ (.D(D), .Q(Q), .CLK(C));
endmodule
