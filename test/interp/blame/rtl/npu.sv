// A small accelerator: LANES multipliers work on as many output channels at once, one pixel after the
// other; each channel's sum then goes through one rescaler. Weights of a tile of channels are copied
// into the lanes before it begins; rows of the output go in tiles of TILE. Bytes in, bytes out.
module npu
    import npu_pkg::*;
#(
    parameter int LANES = 8,
    parameter int TILE  = 8,
    parameter int BYTES = 1 << 20,
    parameter int TAPS  = 1 << 12 // weights a lane can hold
) (
    input  logic    clk,
    input  logic    start,
    input  layer_t  layer,
    input  round_t  round,
    input  broken_t [1:0] broken,
    output logic    done
);
    // filled and read by whoever drives it
    logic [7:0]         sram[BYTES];
    logic [7:0]         weights[1 << 18];
    logic signed [31:0] bias[1 << 12], multiplier[1 << 12], shift[1 << 12];
    logic signed [31:0] sums[1 << 17]; // each sum before its rescale

    typedef enum { IDLE, LOAD, CLEAR, MAC, DRAIN, ELEMENT, WINDOW, STORE, DONE } state_t;
    state_t state = IDLE;

    logic [7:0]         held[LANES][TAPS];
    logic signed [31:0] acc[LANES];
    int channel, y, x, lane, tap, ci, ky, kx; // channel: the first of the tile
    int taps, per, filters;

    // ---- what is broken ----

    function automatic logic is_broken(quirk_t kind);
        return broken[0].kind == kind || broken[1].kind == kind;
    endfunction
    function automatic int value_of(quirk_t kind, int otherwise);
        return broken[0].kind == kind ? broken[0].value : broken[1].kind == kind ? broken[1].value : otherwise;
    endfunction

    // ---- reading ----

    function automatic int byte_at(int address);
        return is_broken(INPUT_UNSIGNED) ? int'({24'd0, sram[address]}) : int'(signed'(sram[address]));
    endfunction

    function automatic int row_of(int out_row);
        return out_row * layer.sy - layer.py - (is_broken(PAD_PLACE) ? 1 : 0);
    endfunction
    function automatic int column_of(int out_column);
        return out_column * layer.sx - layer.px - (is_broken(PAD_PLACE) ? 1 : 0);
    endfunction

    function automatic logic is_inside(int row, int column);
        return row >= 0 && row < layer.h && column >= 0 && column < layer.w &&
               !(is_broken(HALO) && row / (TILE * layer.sy) != y / TILE);
    endfunction

    function automatic int operand(int l);
        int in_channel, row, column;
        in_channel = layer.op == CONV ? (channel + l) / filters * per + ci : channel;
        row        = row_of(y) + ky;
        column     = column_of(x) + kx;
        return is_inside(row, column) ? byte_at(layer.in + (in_channel * layer.h + row) * layer.w + column)
                                      : value_of(PAD_CODE, value_of(INPUT_ZERO_POINT, layer.zx));
    endfunction

    function automatic int weight(int l);
        return is_broken(WEIGHTS_UNSIGNED) ? int'({24'd0, held[l][tap]}) : int'(signed'(held[l][tap]));
    endfunction

    function automatic int product(int l);
        return (operand(l) - value_of(INPUT_ZERO_POINT, layer.zx)) * weight(l);
    endfunction

    function automatic int narrowed(longint sum);
        int     bits;
        longint top;
        bits = value_of(ACC_WRAP, value_of(ACC_SATURATE, 32));
        top  = longint'(1) << (bits - 1);
        if (is_broken(ACC_SATURATE)) return int'(sum >= top ? top - 1 : sum < -top ? -top : sum);
        return int'(((sum + top) & (2 * top - 1)) - top);
    endfunction

    // ---- the rescaler, and what an addition needs of it beforehand ----

    int                 of;       // the channel that is drained
    logic signed [31:0] m, s, sum, code;
    round_t             mode;

    function automatic int parameter_of(int wanted);
        return is_broken(SCALE_FIRST) ? 0 : wanted;
    endfunction
    assign mode = round_t'(value_of(ROUND, int'(round)));
    assign of   = layer.op == CONV ? parameter_of(channel + lane) : 0;
    assign m    = multiplier[of] & ~((32'sd1 <<< (31 - value_of(MULTIPLIER_BITS, 31))) - 1);
    assign s    = shift[of] + value_of(SHIFT_MORE, 0);
    requant rescale (.round(mode), .sum, .multiplier(m), .shift(s), .code);

    logic signed [31:0] a, b, code_a, code_b;
    logic               swap;
    assign swap = is_broken(OPERANDS_SWAPPED);
    assign a    = (byte_at(layer.in + x) - value_of(INPUT_ZERO_POINT, layer.zx)) <<< layer.left;
    assign b    = (byte_at(layer.in_b + x) - layer.zb) <<< layer.left;
    requant rescale_a (.round(mode), .sum(a), .multiplier(swap ? layer.m2 : layer.m1), .shift(swap ? layer.s2 : layer.s1), .code(code_a));
    requant rescale_b (.round(mode), .sum(b), .multiplier(swap ? layer.m1 : layer.m2), .shift(swap ? layer.s1 : layer.s2), .code(code_b));
    assign sum = layer.op == ADD ? code_a + code_b : acc[lane];

    function automatic int first_of(int c); // what a sum begins with
        int of_bias;
        of_bias = is_broken(BIAS_PREVIOUS) && c > 0 ? c - 1 : c;
        return is_broken(BIAS_NONE) ? 0 : bias[of_bias];
    endfunction

    function automatic int pooled(int so_far, int v);
        return layer.op == AVERAGE ? so_far + v : v > so_far ? v : so_far;
    endfunction

    // ---- writing ----

    task automatic put(int c, int row, int column, int value);
        int v, place;
        v = value;
        if (!is_broken(SATURATION_NONE)) begin
            if (v < layer.lo) v = layer.lo;
            if (v > layer.hi) v = layer.hi;
        end
        if (is_broken(RELU) && v < layer.zy) v = layer.zy;
        if (is_broken(LANE_DEAD) && c % LANES == value_of(LANE_DEAD, 0)) v = 0;
        if (is_broken(STUCK_0)) v &= ~(1 << value_of(STUCK_0, 0));
        if (is_broken(STUCK_1)) v |= 1 << value_of(STUCK_1, 0);
        place = is_broken(TRANSPOSED) ? column * layer.oh + row : row * layer.ow + column;
        if (!(is_broken(LAST_ROW) && row == layer.oh - 1)) sram[layer.out + c * layer.oh * layer.ow + place] <= 8'(v);
    endtask

    function automatic int average(int total, int count);
        int magnitude;
        if (is_broken(POOL_FLOOR)) return total >= 0 ? total / count : -((-total + count - 1) / count);
        magnitude = ((total < 0 ? -total : total) + count / 2) / count;
        return total < 0 ? -magnitude : magnitude;
    endfunction

    // The next pixel, the next tile of channels, or the end.
    task automatic advance(state_t again, state_t next_tile, int tile);
        state <= again;
        tap   <= 0;
        x     <= x + 1;
        if (x == layer.ow - 1) begin
            x <= 0;
            y <= y + 1;
            if (y == layer.oh - 1) begin
                y       <= 0;
                channel <= channel + tile;
                state   <= channel + tile < layer.cout ? next_tile : DONE;
            end
        end
    endtask

    always_ff @(posedge clk) begin
        case (state)
            IDLE: if (start) begin
                {channel, y, x, lane, tap} <= '0;
                per     <= layer.cin / layer.group;
                filters <= layer.cout / layer.group;
                taps    <= layer.cin / layer.group * layer.kh * layer.kw;
                state   <= layer.op == CONV ? LOAD : layer.op == ADD ? ELEMENT : CLEAR;
            end
            LOAD: begin
                for (int l = 0; l < LANES; l++)
                    if (!(is_broken(WEIGHTS_STALE) && channel > 0 && channel + LANES >= layer.cout))
                        held[l][tap] <= weights[(channel + l) * taps + tap];
                tap <= tap + 1;
                if (tap == taps - 1) begin
                    tap   <= 0;
                    state <= CLEAR;
                end
            end
            CLEAR: begin
                for (int l = 0; l < LANES; l++)
                    if (layer.op != CONV) acc[l] <= layer.op == MAX_POOL ? -128 : 0;
                    else if (!(is_broken(ACC_KEPT) && x > 0)) acc[l] <= first_of(channel + l);
                {lane, tap, ci, ky, kx} <= '0;
                state <= layer.op == CONV ? MAC : WINDOW;
            end
            MAC: begin
                for (int l = 0; l < LANES; l++)
                    acc[l] <= narrowed(longint'(acc[l]) + longint'(product(l)));
                tap <= tap + 1;
                kx  <= kx + 1;
                if (kx == layer.kw - 1) begin
                    kx <= 0;
                    ky <= ky + 1;
                    if (ky == layer.kh - 1) begin
                        ky <= 0;
                        ci <= ci + 1;
                        if (ci == per - 1) state <= DRAIN;
                    end
                end
            end
            DRAIN: begin // one lane after the other
                sums[((channel + lane) * layer.oh + y) * layer.ow + x] <= acc[lane];
                put(channel + lane, y, x, code + value_of(ZERO_POINT, layer.zy));
                lane <= lane + 1;
                if (lane == LANES - 1 || channel + lane == layer.cout - 1) advance(CLEAR, LOAD, LANES);
            end
            ELEMENT: begin // one byte a cycle: x counts them all
                put(x / (layer.oh * layer.ow), x / layer.ow % layer.oh, x % layer.ow, code + value_of(ZERO_POINT, layer.zy));
                x <= x + 1;
                if (x == layer.cout * layer.oh * layer.ow - 1) state <= DONE;
            end
            WINDOW: begin // a pool's, of channel `channel`
                if (is_inside(row_of(y) + ky, column_of(x) + kx)) acc[0] <= pooled(acc[0], operand(0));
                kx <= kx + 1;
                if (kx == layer.kw - 1) begin
                    kx <= 0;
                    ky <= ky + 1;
                    if (ky == layer.kh - 1) state <= STORE;
                end
            end
            STORE: begin
                put(channel, y, x, layer.op == AVERAGE ? average(acc[0], layer.kh * layer.kw) : acc[0]);
                advance(CLEAR, CLEAR, 1);
            end
            default: state <= IDLE;
        endcase
    end
    assign done = state == DONE;
endmodule
