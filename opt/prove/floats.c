/* Functions of a float. A quantization divides, rounds and saturates: it never falls as its input
 * rises. So does an ordered function of its codes. Two such functions are equal when they reach
 * each code at the same float; the 2^32 floats are searched by halving, in the order of their
 * values. Between floats nothing is monotone by nature: there samples can refute, not prove. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/lower/nodes.h"
#include "opt/prove/fragment.h"
#include "opt/prove/prove.h"

/* Keys order floats: -inf ... -0, +0 ... +inf. */
#define KEY_INFINITY INT64_C(0x7f800000)

static float float_of(int64_t key)
{
    uint32_t bits = key >= 0 ? (uint32_t)key : (uint32_t)(-key - 1) | 0x80000000u;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

typedef struct prover {
    const assay_scheme *scheme;
    assay_run_fn run;
    assay_elem elem; /* of the codes */
    size_t n;        /* floats at once: as many as there are codes */
    float *x;
    void *raw;
    assay_error *err;
} prover;

static assay_status evaluate(prover *p, const assay_graph *f, int64_t *code)
{
    assay_status s = p->run(f, p->scheme, (const void *const[]){p->x}, &p->raw, p->err);
    for (size_t i = 0; i < p->n && !s; i++)
        code[i] = assay_elem_get(p->elem, p->raw, i);
    return s;
}

static assay_status at_keys(prover *p, const assay_graph *f, const int64_t *key, int64_t *code)
{
    for (size_t i = 0; i < p->n; i++)
        p->x[i] = float_of(key[i]);
    return evaluate(p, f, code);
}

/* key[i]: the least key at which the function is at least code i of the type; beyond +inf where
 * there is none. */
static assay_status find_thresholds(prover *p, const assay_graph *f, int64_t *key)
{
    int64_t least = assay_elem_min(p->elem);
    int64_t *below = malloc(3 * p->n * sizeof *below), *middle = below ? below + p->n : NULL;
    int64_t *code = below ? below + 2 * p->n : NULL;
    assay_status s = below ? ASSAY_OK : assay_out_of_memory(p->err);
    for (size_t i = 0; i < p->n && !s; i++) {
        below[i] = -KEY_INFINITY - 2;
        key[i] = KEY_INFINITY + 1;
    }
    for (int step = 0; step < 33 && !s; step++) {
        for (size_t i = 0; i < p->n; i++)
            middle[i] = below[i] + (key[i] - below[i]) / 2;
        for (size_t i = 0; i < p->n; i++) /* ends are no floats: any value, not looked at */
            p->x[i] = float_of(middle[i] > -KEY_INFINITY - 2 ? middle[i] : 0);
        s = evaluate(p, f, code);
        for (size_t i = 0; i < p->n && !s; i++)
            if (key[i] - below[i] > 1 && code[i] >= least + (int64_t)i)
                key[i] = middle[i];
            else if (key[i] - below[i] > 1)
                below[i] = middle[i];
    }
    free(below);
    return s;
}

/* Greatest difference at these keys, where they are floats; noted when it is greater than the
 * verdict's bound. */
static assay_status compare_at(prover *p, const assay_proof *proof, const int64_t *key, int64_t *a,
                               int64_t *b, assay_verdict *v)
{
    int64_t *within = malloc((p->n + 1) * sizeof *within);
    assay_status s = within ? ASSAY_OK : assay_out_of_memory(p->err);
    for (size_t i = 0; i < p->n && !s; i++)
        within[i] = key[i] > KEY_INFINITY        ? KEY_INFINITY
                    : key[i] < -KEY_INFINITY - 1 ? -KEY_INFINITY - 1
                                                 : key[i];
    if (!s)
        s = at_keys(p, proof->before, within, a);
    if (!s)
        s = at_keys(p, proof->after, within, b);
    for (size_t i = 0; i < p->n && !s; i++) {
        int64_t d = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
        if (d <= v->bound)
            continue;
        v->bound = d;
        snprintf(v->counterexample, sizeof v->counterexample, "input %.9g: %lld became %lld",
                 (double)float_of(within[i]), (long long)a[i], (long long)b[i]);
    }
    free(within);
    return s;
}

static assay_status compare_nan(prover *p, const assay_proof *proof, int64_t *a, int64_t *b,
                                assay_verdict *v)
{
    for (size_t i = 0; i < p->n; i++)
        p->x[i] = i & 1 ? -NAN : NAN;
    assay_status s = evaluate(p, proof->before, a);
    if (!s)
        s = evaluate(p, proof->after, b);
    if (s || (a[0] == b[0] && a[1] == b[1]))
        return s;
    v->bound = a[0] > b[0] ? a[0] - b[0] : b[0] - a[0];
    snprintf(v->counterexample, sizeof v->counterexample, "input NaN: %lld became %lld",
             (long long)a[0], (long long)b[0]);
    return s;
}

static assay_status judge(prover *p, assay_proof *proof)
{
    int64_t *room = malloc(4 * p->n * sizeof *room);
    assay_verdict *v = &proof->verdict;
    memset(v, 0, sizeof *v);
    if (!room)
        return assay_out_of_memory(p->err);
    int64_t *was = room, *is = room + p->n, *a = room + 2 * p->n, *b = room + 3 * p->n;
    assay_status s = find_thresholds(p, proof->before, was);
    if (!s)
        s = find_thresholds(p, proof->after, is);
    bool equal = !s && memcmp(was, is, p->n * sizeof *was) == 0;
    for (int before = 0; before < 2 && !s && !equal; before++) { /* at and just below each step */
        int64_t *key = before ? was : is;
        s = compare_at(p, proof, key, a, b, v);
        for (size_t i = 0; i < p->n; i++)
            key[i]--;
        if (!s)
            s = compare_at(p, proof, key, a, b, v);
    }
    if (!s)
        s = compare_nan(p, proof, a, b, v);
    v->kind = v->bound ? ASSAY_BOUNDED : ASSAY_EXACT;
    snprintf(v->evidence, sizeof v->evidence, "%s over all floats",
             v->bound ? "thresholds differ" : "thresholds equal");
    free(room);
    return s;
}

static assay_status attempt(prover *p, const assay_match *m, const assay_rule *rule,
                            const assay_rule_image *image, assay_proof *proof)
{
    proof->possible = true;
    proof->uses_image = image != NULL;
    assay_status s = prove_rewrite(m, rule, image, proof, p->err);
    if (!s && proof->possible)
        s = judge(p, proof);
    return prove_impossible(proof, s, p->err);
}

static bool is_ordered(const int64_t *table, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (table[i] < table[i - 1])
            return false;
    return true;
}

/* A quantize node and an ordered function of its codes. */
static assay_status prove_quantize(const assay_graph *g, const assay_match *m,
                                   const assay_rule *rule, prover *p, assay_proof *proof)
{
    const assay_node *f = &g->node[m->lower];
    int64_t *table = NULL;
    size_t n = 0;
    p->elem = assay_node_out(g, f, 0)->type.elem;
    assert(p->elem.bits <= 32);
    p->n = (size_t)1 << p->elem.bits;
    assay_status s = prove_tabulate(g, m->lower, p->scheme, p->run, &table, &n, p->err);
    if (!s && !is_ordered(table, n))
        s = assay_fail(p->err, ASSAY_ERR_UNSUPPORTED, "the function of the code is not monotone");
    if (!s)
        s = prove_fragment_cut(g, m, (int64_t)p->n, &proof->before, p->err);
    p->x = calloc(p->n, sizeof *p->x);
    p->raw = calloc(p->n, assay_elem_size(p->elem));
    if (!s && (!p->x || !p->raw))
        s = assay_out_of_memory(p->err);
    if (!s)
        s = attempt(p, m, rule, NULL, proof);
    if (!s && rule->bounds && !(proof->possible && proof->verdict.kind == ASSAY_EXACT)) {
        proof->image = (assay_rule_image){table[0], table[n - 1]};
        s = attempt(p, m, rule, &proof->image, proof);
    }
    free(p->x);
    free(p->raw);
    free(table);
    return prove_impossible(proof, s, p->err);
}

assay_status prove_floats(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                          const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                          assay_error *err)
{
    prover p = {.scheme = s, .run = run, .err = err};
    const assay_node *n = &g->node[m->lower];
    if (m->n_upper == 1 && lower_is_edge(g, &g->node[m->upper[0]], true) && lower_is_monotone(g, n))
        return prove_quantize(g, m, rule, &p, proof);
    return prove_codes(g, m, rule, s, run, proof, err);
}
