/* Sigmoid and tanh of int16 codes through TFLite's table of 256 (fixedpoint_table.c).
 * k[0] multiplier, k[1] shift to the argument. */
#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"

void apply_logistic16(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        out[i] = apply_tell_store(
            t, &u->scale[ASSAY_OUT],
            apply_table_logistic16((int16_t)x[i], (int32_t)u->k[0], (unsigned)u->k[1], t));
    }
}

void apply_tanh16(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        out[i] = apply_tell_store(
            t, &u->scale[ASSAY_OUT],
            apply_table_tanh16((int16_t)x[i], (int32_t)u->k[0], (unsigned)u->k[1], t));
    }
}
