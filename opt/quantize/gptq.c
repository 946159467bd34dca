/* Rounding of a layer's weights with error feedback: GPTQ (Frantar, Ashkboos, Hoefler, Alistarh,
 * 2022). Weights of an output channel are rounded one input after the other, and what a rounding
 * changes in the layer's outputs is made up for by the weights that are not yet rounded, as far as
 * the second moments of the inputs allow it. Inputs come in their own order, for all channels; the
 * scales are those of the weights as they were. In doubles: it is preparation. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/blocks.h"
#include "graph/memory.h"
#include "opt/profile/moments.h"
#include "opt/quantize/plan.h"

#define DAMPING 0.01 /* of the mean of the diagonal, added to it: the paper's */

/* The damped matrix: h is symmetric and given on and above the diagonal. An input that was always 0
 * counts as 1: nothing follows from it. */
static void damp(double *h, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        h[i * n + i] = h[i * n + i] != 0 ? h[i * n + i] : 1;
        sum += h[i * n + i];
    }
    for (int64_t i = 0; i < n; i++)
        h[i * n + i] += DAMPING * sum / (double)n;
}

/* R, upper triangular, with R R^T = h, in h's place: Cholesky's method from the last row upwards.
 * False: h is not positive definite, or not finite. */
static bool factorize(double *h, int64_t n)
{
    for (int64_t j = n - 1; j >= 0; j--) {
        const double *above = h + j * n;
        for (int64_t i = 0; i <= j; i++) {
            double *row = h + i * n, sum = row[j];
            for (int64_t k = j + 1; k < n; k++)
                sum -= row[k] * above[k];
            row[j] = sum;
        }
        const double pivot = sqrt(h[j * n + j]);
        if (!(pivot > 0 && isfinite(pivot)))
            return false;
        for (int64_t i = 0; i < j; i++)
            h[i * n + j] /= pivot;
        h[j * n + j] = pivot;
    }
    return true;
}

/* The inverse of upper triangular r, in its place; `row` has room for n numbers. */
static void invert(double *r, int64_t n, double *row)
{
    for (int64_t i = n - 1; i >= 0; i--) {
        double *u = r + i * n;
        memcpy(row, u, (size_t)n * sizeof *row);
        memset(u, 0, (size_t)n * sizeof *u);
        u[i] = 1;
        for (int64_t k = i + 1; k < n; k++)
            for (int64_t j = k; j < n; j++)
                u[j] -= row[k] * r[k * n + j];
        for (int64_t j = i; j < n; j++)
            u[j] /= row[i];
    }
}

/* Moments of value v, in whose place smoothing may have put the value's quotients. */
static const double *find_moments(const assay_quantizer *q, int v, int64_t *width,
                                  const int **exponent)
{
    const char *name = q->g->value[v].name;
    *exponent = NULL;
    for (int i = 0; i < q->smoothing->n; i++) {
        const assay_smoothed *s = &q->smoothing->value[i];
        const size_t length = strlen(s->value);
        if (strncmp(name, s->value, length) == 0 && strcmp(name + length, ":smoothed") == 0) {
            *exponent = s->exponent;
            name = s->value;
        }
    }
    return profile_moments_find(q->options->moments, name, width);
}

/* U, upper triangular, with U^T U the inverse of the damped moments of value v; kept in the plan.
 * *u is NULL where no layer was seen to read v, or its moments are of no use. */
static assay_status factor_of(const assay_quantizer *q, int v, int64_t inputs, const double **u,
                              assay_error *err)
{
    int64_t n;
    const int *exponent;
    const double *h = find_moments(q, v, &n, &exponent);
    assay_plan_value *p = &q->value[v];
    *u = p->gptq_factor;
    if (*u || p->gptq_useless || !h || n != inputs)
        return ASSAY_OK;
    double *made = assay_arena_array(q->arena, (size_t)(n * n), sizeof *made);
    double *row = assay_arena_array(q->arena, (size_t)n, sizeof *row);
    if (!made || !row)
        return assay_out_of_memory(err);
    for (int64_t i = 0; i < n * n; i++)
        made[i] = exponent ? ldexp(h[i], -exponent[i / n] - exponent[i % n]) : h[i];
    damp(made, n);
    p->gptq_useless = !factorize(made, n);
    if (p->gptq_useless)
        return ASSAY_OK;
    invert(made, n, row);
    *u = p->gptq_factor = made;
    return ASSAY_OK;
}

/* Where the scale of input k of an output channel is. */
static size_t scale_at(const assay_type *type, const assay_blocks *b, int64_t channel, int64_t k)
{
    if (b->count > 0)
        return (size_t)assay_block_scale(b, channel, assay_block_number(b, k));
    return type->q.count == 1 ? 0 : (size_t)channel;
}

/* The codes of one output channel, whose weights w are used up. */
static void round_channel(const assay_quantizer *q, const double *u, int64_t n,
                          const assay_type *type, const assay_blocks *b, int64_t channel, double *w,
                          void *codes)
{
    int64_t lo, hi;
    calibrate_choice_codes(&q->weight, &lo, &hi);
    for (int64_t k = 0; k < n; k++) {
        const size_t at = scale_at(type, b, channel, k);
        const double scale = (double)type->q.scale[at];
        const int32_t zero = type->q.zero_point[at];
        const int64_t code =
            calibrate_quantize_real(w[k], scale, zero, lo, hi, q->caps.constant_round);
        const double off = (w[k] - scale * (double)(code - zero)) / u[k * n + k];
        assay_elem_set(type->elem, codes, (size_t)(channel * n + k), code);
        for (int64_t j = k + 1; j < n; j++)
            w[j] -= off * u[k * n + j];
    }
}

assay_status quantize_gptq(const assay_quantizer *q, const assay_node *n, const assay_type *type,
                           void *codes, bool *done, assay_error *err)
{
    const float *x = q->g->value[n->in[1]].data;
    const double *u = NULL;
    assay_blocks b;
    *done = false;
    if (!q->options->moments || n->op != ASSAY_OP_FC)
        return ASSAY_OK;
    const int64_t channels = type->dim[0], inputs = type->dim[1];
    assay_status status = factor_of(q, n->in[0], inputs, &u, err);
    double *w = assay_arena_array(q->arena, (size_t)inputs + 1, sizeof *w);
    if (!status && !w)
        status = assay_out_of_memory(err);
    if (status || !u || !assay_blocks_of(n->op, false, type, &b))
        return status;
    for (int64_t c = 0; c < channels; c++) {
        for (int64_t k = 0; k < inputs; k++)
            w[k] = (double)x[c * inputs + k];
        round_channel(q, u, inputs, type, &b, c, w, codes);
    }
    *done = true;
    return ASSAY_OK;
}
