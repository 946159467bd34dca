/* int16 activations by table: see fixedpoint.h. */
#include <assert.h>

#include "schemes/apply/fixedpoint.h"

/* min(65535, 65536 * sigmoid(i / 24) rounded half up), and one more at 44 places, which is how
 * the targets' table came out of their own generator (sigmoid_table_uint16). */
const uint16_t apply_sigmoid_table[256] = {
    32768, 33451, 34133, 34813, 35493, 36169, 36843, 37513, 38180, 38841, 39498, 40149, 40794,
    41432, 42064, 42688, 43304, 43912, 44511, 45102, 45683, 46255, 46817, 47369, 47911, 48443,
    48964, 49475, 49975, 50464, 50942, 51409, 51865, 52311, 52745, 53169, 53581, 53983, 54374,
    54755, 55125, 55485, 55834, 56174, 56503, 56823, 57133, 57433, 57724, 58007, 58280, 58544,
    58800, 59048, 59288, 59519, 59743, 59959, 60168, 60370, 60565, 60753, 60935, 61110, 61279,
    61441, 61599, 61750, 61896, 62036, 62172, 62302, 62428, 62549, 62666, 62778, 62886, 62990,
    63090, 63186, 63279, 63368, 63454, 63536, 63615, 63691, 63765, 63835, 63903, 63968, 64030,
    64090, 64148, 64204, 64257, 64308, 64357, 64405, 64450, 64494, 64536, 64576, 64614, 64652,
    64687, 64721, 64754, 64786, 64816, 64845, 64873, 64900, 64926, 64950, 64974, 64997, 65019,
    65039, 65060, 65079, 65097, 65115, 65132, 65149, 65164, 65179, 65194, 65208, 65221, 65234,
    65246, 65258, 65269, 65280, 65291, 65301, 65310, 65319, 65328, 65337, 65345, 65352, 65360,
    65367, 65374, 65381, 65387, 65393, 65399, 65404, 65410, 65415, 65420, 65425, 65429, 65433,
    65438, 65442, 65445, 65449, 65453, 65456, 65459, 65462, 65465, 65468, 65471, 65474, 65476,
    65479, 65481, 65483, 65485, 65488, 65489, 65491, 65493, 65495, 65497, 65498, 65500, 65501,
    65503, 65504, 65505, 65507, 65508, 65509, 65510, 65511, 65512, 65513, 65514, 65515, 65516,
    65517, 65517, 65518, 65519, 65520, 65520, 65521, 65522, 65522, 65523, 65523, 65524, 65524,
    65525, 65525, 65526, 65526, 65526, 65527, 65527, 65528, 65528, 65528, 65529, 65529, 65529,
    65529, 65530, 65530, 65530, 65530, 65531, 65531, 65531, 65531, 65531, 65532, 65532, 65532,
    65532, 65532, 65532, 65533, 65533, 65533, 65533, 65533, 65533, 65533, 65533, 65534, 65534,
    65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534, 65535,
};

/* The argument times 3 * 4096, rounded half up. */
static int32_t table_argument(int16_t x, int32_t m, unsigned shift, const assay_teller *t)
{
    apply_tell_product(t, "product", x, m);
    return apply_wrap32(
        apply_tell_shift(t, "argument", (int64_t)x * m, shift, ASSAY_ROUND_HALF_UP));
}

/* Interpolates between entries 2^bits apart; the result carries `bits` more fraction bits. Past the
 * table it is `limit`. */
static int64_t interpolate(int64_t magnitude, unsigned bits, int64_t limit, const assay_teller *t)
{
    assert(magnitude >= 0 && bits <= 16);
    int64_t i = magnitude >> bits, o = magnitude & ((1 << bits) - 1);
    apply_tell(t, "number of the entry", i);
    if (i >= 255) {
        apply_tell(t, "beyond the table", limit);
        return limit * ((int64_t)1 << bits);
    }
    apply_tell(t, "table entry", apply_sigmoid_table[i]);
    apply_tell_fixed(t, "from it to the next", o, bits);
    apply_tell(t, "next entry", apply_sigmoid_table[i + 1]);
    return apply_sigmoid_table[i] * ((int64_t)1 << bits) +
           o * (apply_sigmoid_table[i + 1] - apply_sigmoid_table[i]);
}

/* sigmoid in Q16.9 to Q0.15: 10 bits dropped. sigmoid(-x) = 1 - sigmoid(x); the tie goes down
 * there. */
int16_t apply_table_logistic16(int16_t x, int32_t m, unsigned shift, const assay_teller *t)
{
    int64_t d = table_argument(x, m, shift, t);
    int64_t r = interpolate(d < 0 ? -d : d, 9, 0x7fff << 1, t);
    return (int16_t)(d < 0 ? apply_tell_shift(t, "1 minus that, rounded", (1 << 25) - r, 10,
                                              ASSAY_ROUND_HALF_ZERO)
                           : apply_tell_shift(t, "rounded", r, 10, ASSAY_ROUND_HALF_UP));
}

/* tanh(x) = 2 sigmoid(2x) - 1, in Q16.8 to Q0.15: 8 bits dropped. Odd, so ties go away from zero.
 */
int16_t apply_table_tanh16(int16_t x, int32_t m, unsigned shift, const assay_teller *t)
{
    int64_t d = table_argument(x, m, shift, t);
    int64_t r = interpolate(d < 0 ? -d : d, 8, 0xffff, t) - (1 << 23);
    return (int16_t)apply_tell_shift(t, "minus 1, rounded", d < 0 ? -r : r, 8,
                                     ASSAY_ROUND_HALF_AWAY);
}

int16_t apply_table_lookup16(int16_t x, const int16_t lut[513])
{
    int64_t i = 256 + apply_shift_right(x, 7), o = x & 127;
    int64_t slope = (int16_t)apply_wrap(lut[i + 1] - lut[i], 16);
    return (int16_t)(lut[i] + assay_round_shift(slope * o, 7, ASSAY_ROUND_HALF_UP));
}
