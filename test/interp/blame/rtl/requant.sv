// The rescale: sum * multiplier * 2^(shift - 31), rounded.
module requant
    import npu_pkg::*;
(
    input  round_t             round,
    input  logic signed [31:0] sum,
    input  logic signed [31:0] multiplier,
    input  logic signed [31:0] shift, // to the left where it is above 0
    output logic signed [31:0] code
);
    logic signed [31:0] left, right, total, wide;
    logic signed [63:0] product, shifted, half, high, low;

    always_comb begin
        left    = shift > 0 ? shift : 0;
        right   = shift > 0 ? 0 : -shift;
        total   = 31 - shift;
        product = 64'(sum) * 64'(multiplier);
        wide    = sum <<< left;
        half    = 64'sd1 <<< (total - 1);
        high    = 0;
        low     = 0;
        case (round)
            DOUBLE: begin // the doubling high multiplication of 32 bits, then a shift that rounds ties away
                product = 64'(wide) * 64'(multiplier);
                high    = (product + (64'sd1 <<< 30)) >>> 31;
                low     = high & ((64'sd1 <<< right) - 1);
                shifted = (high >>> right) + ((low > (((64'sd1 <<< right) - 1) >>> 1) + (high < 0 ? 64'sd1 : 64'sd0)) ? 64'sd1 : 64'sd0);
            end
            HALF_UP:   shifted = (product + half) >>> total;
            FLOOR:     shifted = product >>> total;
            HALF_AWAY: shifted = (product + half - (product < 0 ? 64'sd1 : 64'sd0)) >>> total;
            default: begin // HALF_EVEN
                high    = product >>> total;
                low     = product & ((64'sd1 <<< total) - 1);
                shifted = high + ((low > half || (low == half && high[0])) ? 64'sd1 : 64'sd0);
            end
        endcase
        code = 32'(shifted);
    end
endmodule
