/* A rescale that sinks below a linear resize. An interpolated value is the sum of four codes,
 * weighted by fractions that add up to one, divided and rounded once; it depends on its codes
 * through that sum alone, and steps only where the sum is whole or half a code. A rescale that adds
 * one number k to every code adds k to every such sum, so that values between neighbouring codes on
 * both sides of each such place, over the whole range, decide for all. Any other rescale would be
 * rounded before the interpolation instead of behind it: then a pair of codes is looked for that
 * tells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/lower/nodes.h"
#include "opt/prove/fragment.h"
#include "opt/prove/prove.h"
#include "schemes/node/spec.h"
#include "schemes/prepare/prepare.h"

#define FRACTIONS 6

typedef struct interpolation {
    const assay_scheme_vtable *vt;
    assay_unit *before, *after;
    const assay_type *x, *y;
    int64_t *table; /* of the rescale, by code - least of x */
    size_t size;
} interpolation;

static assay_status prepare(const assay_graph *f, const assay_scheme *s, assay_unit **unit,
                            assay_error *err)
{
    for (int i = 0; i < f->n_nodes; i++) {
        assay_type in[ASSAY_SPEC_IN];
        assay_unit_spec spec;
        if (!lower_interpolates(&f->node[i]))
            continue;
        assay_unit_spec_fill(f, &f->node[i], in, &spec);
        return s->vt->prepare(s, &spec, unit, err);
    }
    return assay_fail(err, ASSAY_ERR_INTERNAL, "the resize is gone");
}

/* The value interpolated between a and b, both twice, at a fraction of the way from a to b. */
static int64_t interpolate(const interpolation *b, const assay_unit *u, int64_t from, int64_t to,
                           int32_t at)
{
    const int32_t c[4] = {(int32_t)from, (int32_t)to, (int32_t)from, (int32_t)to}, none = 0;
    int32_t out;
    b->vt->interpolate(u, c, &none, &at, 1, &out);
    return out;
}

/* On both sides of every place at which the value between two neighbours may step. */
static void list_fractions(const interpolation *b, int32_t at[FRACTIONS])
{
    int32_t bits = 10;
    b->vt->interpolate(b->after, NULL, NULL, NULL, 0, &bits);
    const int32_t one = (int32_t)(INT32_C(1) << bits), half = one / 2;
    const int32_t all[FRACTIONS] = {0, 1, half - 1, half, half + 1, one - 1};
    memcpy(at, all, sizeof all);
}

/* Codes i and k of the input, at a fraction: false when the rescale in front and the one behind
 * tell. */
static bool agrees(const interpolation *b, size_t i, size_t k, int32_t at, assay_verdict *v)
{
    const int64_t least = assay_elem_min(b->x->elem);
    int64_t was = interpolate(b, b->before, b->table[i], b->table[k], at);
    int64_t code = interpolate(b, b->after, least + (int64_t)i, least + (int64_t)k, at);
    int64_t is = b->table[code - least];
    if (was == is)
        return true;
    snprintf(v->counterexample, sizeof v->counterexample,
             "codes %lld and %lld, fraction %d: %lld became %lld", (long long)least + (long long)i,
             (long long)least + (long long)k, (int)at, (long long)was, (long long)is);
    return false;
}

/* The number that the rescale adds to every code; false when it does anything else. */
static bool adds(const interpolation *b)
{
    for (size_t i = 1; i < b->size; i++)
        if (b->table[i] != b->table[0] + (int64_t)i)
            return false;
    return true;
}

static void judge(const interpolation *b, assay_verdict *v)
{
    int32_t at[FRACTIONS];
    size_t looked_at = 0;
    bool same = true;
    list_fractions(b, at);
    const size_t max_apart = adds(b) ? 1 : b->size - 1, step = adds(b) ? 1 : b->size / 16;
    for (size_t i = 0; i < b->size && same; i++)
        for (size_t apart = 1; apart <= max_apart && i + apart < b->size && same; apart += step)
            for (int f = 0; f < FRACTIONS && same; f++, looked_at++)
                same = agrees(b, i, i + apart, at[f], v);
    if (same && adds(b)) {
        v->kind = ASSAY_EXACT;
        snprintf(v->evidence, sizeof v->evidence,
                 "every code moves by %lld, %zu values about each step equal",
                 (long long)(b->table[0] - assay_elem_min(b->x->elem)), looked_at);
    } else {
        snprintf(v->evidence, sizeof v->evidence,
                 same ? "the rescale does more than add a number"
                      : "rounding before the interpolation differs from rounding after it");
    }
}

assay_status prove_interpolation(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                                 const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                                 assay_error *err)
{
    const assay_node *rescale = &g->node[m->upper[0]];
    interpolation b = {
        .vt = s->vt, .x = &g->value[rescale->in[0]].type, .y = &g->value[rescale->out[0]].type};
    proof->verdict.kind = ASSAY_UNPROVED;
    assay_status status =
        s->vt == &assay_family_vtable && lower_interpolates(&g->node[m->lower])
            ? ASSAY_OK
            : assay_fail(err, ASSAY_ERR_UNSUPPORTED, "it is not known how %s interpolates codes",
                         assay_op_get(g->node[m->lower].op)->name);
    if (!status)
        status = prove_fragment_cut(g, m, 0, &proof->before, err);
    if (!status)
        status = prove_rewrite(m, rule, NULL, proof, err);
    if (!status && proof->possible)
        status = prove_target(s, proof, err);
    if (!status && proof->possible)
        status = prove_samples(s, run, ASSAY_SAMPLES, proof, err);
    if (!status && proof->possible && !proof->verdict.counterexample[0]) {
        status = prove_tabulate(g, m->upper[0], s, run, &b.table, &b.size, err);
        if (!status)
            status = prepare(proof->before, s, &b.before, err);
        if (!status)
            status = prepare(proof->after, s, &b.after, err);
        if (!status)
            judge(&b, &proof->verdict);
    }
    if (b.before)
        s->vt->release(b.before);
    if (b.after)
        s->vt->release(b.after);
    free(b.table);
    return prove_impossible(proof, status, err);
}
