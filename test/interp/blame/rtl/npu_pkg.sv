// What the accelerator is told: a layer, and which of its parts are broken.
package npu_pkg;
    typedef enum int { CONV, ADD, MAX_POOL, AVERAGE } op_t;

    // How a product of a sum and a multiplier is shifted to a code.
    typedef enum int { DOUBLE, HALF_UP, FLOOR, HALF_AWAY, HALF_EVEN } round_t;

    // A layer; a fully connected one is a convolution of one pixel. Addresses are of bytes in sram.
    typedef struct packed {
        op_t op;
        int  in, in_b, out;               // addresses
        int  cin, h, w, cout, oh, ow;
        int  kh, kw, sy, sx, py, px;      // window, stride, rows and columns of padding before the image
        int  group;
        int  zx, zb, zy, lo, hi;          // zero points of the inputs and of the output, bounds
        int  m1, s1, m2, s2, left;        // ADD: of the operands; bits that they are shifted to the left by
    } layer_t;

    typedef enum int {
        NONE,
        BIAS_PREVIOUS,    // of the channel before
        BIAS_NONE,
        WEIGHTS_STALE,    // the last tile of channels computes with those of the tile before
        WEIGHTS_UNSIGNED,
        INPUT_UNSIGNED,
        INPUT_ZERO_POINT, // value: instead of the layer's
        PAD_CODE,         // value: the code of the padding
        PAD_PLACE,        // one row and one column more before the image
        HALO,             // rows of another tile of output rows are read as padding
        ACC_WRAP,         // value: bits of the accumulator
        ACC_SATURATE,     // value: bits, at each step
        ACC_KEPT,         // not cleared from one pixel of a row to the next
        SCALE_FIRST,      // every channel is rescaled as channel 0
        SHIFT_MORE,       // value: added to every shift
        MULTIPLIER_BITS,  // value: bits of the multiplier that are kept
        ROUND,            // value: a round_t
        ZERO_POINT,       // value: instead of the output's
        SATURATION_NONE,  // the low byte is stored
        RELU,             // nothing below the zero point
        LANE_DEAD,        // value: the lane, which gives 0
        STUCK_0, STUCK_1, // value: the bit of the output code
        TRANSPOSED,       // rows and columns of the output exchanged
        OPERANDS_SWAPPED, // ADD: each with the other's rescale
        POOL_FLOOR,
        LAST_ROW          // never written: what was in memory stays
    } quirk_t;

    typedef struct packed {
        quirk_t kind;
        int     value;
    } broken_t;
endpackage
