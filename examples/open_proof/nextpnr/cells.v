// The two cells of nextpnr-generic's slices.
(* blackbox *)
module LUT #(
    parameter K = 6,
    parameter [63:0] INIT = 0
) (
    input [5:0] I,
    output Q
);
endmodule

(* blackbox *)
module DFF (
    input CLK, D,
    output Q
);
endmodule
