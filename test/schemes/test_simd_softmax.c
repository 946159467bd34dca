/* Rows of softmax in vectors against the row of the same unit, where a form meets what it does not
 * reach and leaves the row to it: sums and quotients beyond its registers, scales far from the
 * usual, outputs of either sign, fused bounds; by every instruction set that the machine has. */
#include <stdlib.h>

#include "interp/fast/isa.h"
#include "schemes/apply/apply.h"
#include "test/support/scheme_unit.h"

enum { LONGEST = 2100000 };

typedef struct row {
    const char *record;
    float s_in, s_out;
    int32_t zero;
    bool is_signed; /* the output */
    int64_t depth;
    size_t n;
    double act_lo, act_hi; /* both 0: no bounds */
} row;

static bool has(enum assay_isa isa)
{
    static const char *const names[] = {"portable", "avx2", "vnni"};
    const assay_isa_kernels *k;
    return fast_isa_choose(names[isa], &k, NULL) == ASSAY_OK;
}

static void check(const row *w, test_rng *r)
{
    static int32_t x[LONGEST], want[LONGEST], scratch[LONGEST];
    static uint8_t got[LONGEST];
    const int32_t none = 0;
    const assay_type in = code_type(8, true, &w->s_in, &none);
    const assay_type out = code_type(8, w->is_signed, &w->s_out, &w->zero);
    assay_unit_spec spec = unit_spec("softmax", &in, 1, &out);
    spec.depth = w->depth;
    if (w->act_hi > 0) {
        spec.act_lo = w->act_lo;
        spec.act_hi = w->act_hi;
    }
    assay_scheme *s = unit_scheme(w->record);
    assay_unit *u = unit_prepare(s, &spec);
    for (int spread = 0; spread < 3; spread++) { /* all equal; near the greatest; anything */
        const int64_t below = spread == 0 ? 0 : spread == 1 ? 20 : 255;
        for (size_t i = 0; i < w->n; i++)
            x[i] = (int32_t)(127 - test_between(r, 0, below));
        s->vt->row(u, x, w->n, want);
        for (enum assay_isa isa = ASSAY_ISA_PORTABLE; isa <= ASSAY_ISA_VNNI; isa++) {
            if (!has(isa))
                continue;
            const assay_row_fn bytes = s->vt->simd->bytes(u, isa);
            assert_non_null(bytes);
            bytes(u, x, w->n, scratch, got);
            for (size_t i = 0; i < w->n; i++)
                if (got[i] != (uint8_t)want[i])
                    fail_msg("%s, scale %g, zero point %d, %zu codes: x[%zu] = %d: row %d, vector "
                             "form %d",
                             w->record, (double)w->s_out, w->zero, w->n, i, x[i], (uint8_t)want[i],
                             got[i]);
        }
    }
    s->vt->release(u);
    assay_scheme_free(s);
}

#define FIXED   "softmax: {kind: fixed-point}\n"
#define TABLE   "softmax: {kind: float-table}\n"
#define SUM     "softmax: {kind: float-sum}\n"
#define INTEGER "softmax: {kind: integer-table}\n"
#define Q31     "softmax: {kind: q31-table}\n"

static void rows(void **state)
{
    static const row list[] = {
        {FIXED, 0.125f, 0x1p-8f, -128, true, 40, 40, 0, 0},
        {FIXED, 0.125f, 0x1p-8f, 0, false, 4096, 4096, 0, 0}, /* the sum of 4096 wraps below 0 */
        {TABLE, 0.125f, 0x1p-8f, -128, true, 40, 40, 0, 0},
        {TABLE, 0.125f, 1e-35f, 3, true, 40, 40, 0, 0}, /* a reciprocal beyond 2^100 */
        {TABLE, 0.125f, 0x1p-8f, 0, false, 40, 40, 0.03, 0.25},
        {SUM, 0.125f, 0x1p-8f, 5, true, 1, 1, 0, 0}, /* quotients overflow: int-min, wrapped */
        {SUM, 0.125f, 0x1p-8f, -5, true, 1, 1, 0, 0},
        {SUM, 0.125f, 0x1p-8f, 5, false, 1, 1, 0, 0},
        {SUM, 0.125f, 0x1p-8f, 0, false, 40, 40, 0.03, 0.25},
        {SUM, 0.125f, 0x1p-8f, 0, false, 0, 300, 0, 0}, /* of no known length: a sum near 2^128 */
        {INTEGER, 0.125f, 0x1p-8f, -128, true, 40, 40, 0, 0},
        {INTEGER, 0.125f, 0x1p-8f, 0, false, 0, LONGEST, 0, 0}, /* likewise: beyond 2^44 */
        {Q31, 0.125f, 0x1p-8f, -128, true, 40, 40, 0, 0},
        {Q31, 0.125f, 0x1p-8f, 0, false, 40, 40, 0.03, 0.25},
        {Q31, 0.125f, 0x1p-15f, 0, false, 40, 40, 0, 0},          /* a share of 2^15 codes */
        {Q31, 0.125f, 0x1p-8f, 0, false, LONGEST, LONGEST, 0, 0}, /* a sum beyond 2^51 */
    };
    test_rng r = test_seed("softmax rows in vectors", 61);
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        check(&list[i], &r);
}

/* What has no vector form says so. */
static void others_have_none(void **state)
{
    static const char *const records[] = {
        "rescale: {encoding: float32, round: [half-even]}\nsoftmax: {kind: i-bert}\n",
        "softmax: {l2_norm: newton-inverse-sqrt}\n"};
    static const char *const ops[] = {"softmax", "l2_norm"};
    const float s_in = 0.125f, s_out = 1.0f / 127;
    const int32_t none = 0;
    const assay_type in = code_type(8, true, &s_in, &none);
    const assay_type out = code_type(8, false, &s_out, &none);
    (void)state;
    for (int i = 0; i < (int)(sizeof ops / sizeof *ops); i++) {
        const assay_unit_spec spec = unit_spec(ops[i], &in, 1, &out);
        assay_scheme *s = unit_scheme(records[i]);
        assay_unit *u = unit_prepare(s, &spec);
        assert_null(s->vt->simd->bytes(u, ASSAY_ISA_PORTABLE));
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows), cmocka_unit_test(others_have_none)};
    return cmocka_run_group_tests_name("simd_softmax", tests, NULL, NULL);
}
