/* Enumeration: the fragment before and after on every code, or every pair of codes. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/lower/pass.h"
#include "opt/prove/fragment.h"
#include "opt/prove/prove.h"

#define MAX_BITS 16   /* of the whole domain */
#define SAMPLES  4096 /* of a domain that is too wide, or of floats */

/* The codes (or floats) that the fragment's one or two inputs run through, and results. */
typedef struct domain {
    int n_inputs;
    size_t n;      /* elements */
    bool complete; /* the whole domain, else samples */
    void *in[2];   /* native storage; owned */
    void *before;  /* results of the fragment as it was; owned */
} domain;

static void domain_free(domain *d)
{
    free(d->in[0]);
    free(d->in[1]);
    free(d->before);
}

static const assay_type *type_of_input(const assay_graph *f, int i)
{
    return &f->value[f->input[i]].type;
}

/* How many elements; the fragment tells its inputs' types. */
static void size_domain(const assay_graph *f, domain *d)
{
    unsigned bits = 0;
    d->n_inputs = f->n_inputs;
    for (int i = 0; i < f->n_inputs; i++)
        bits +=
            type_of_input(f, i)->elem.kind == ASSAY_KIND_INT ? type_of_input(f, i)->elem.bits : 64;
    d->complete = bits <= MAX_BITS;
    d->n = d->complete ? (size_t)1 << bits : SAMPLES;
}

static uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Element i of input k: all codes, or samples with the extremes among them. */
static int64_t code_at(const assay_graph *f, const domain *d, int k, size_t i)
{
    assay_elem e = type_of_input(f, k)->elem;
    assert(e.bits <= 32 && type_of_input(f, d->n_inputs - 1)->elem.bits <= 32);
    int64_t least = assay_elem_min(e), count = assay_elem_max(e) - least + 1;
    if (!d->complete)
        return i < 4 ? (i >> k & 1 ? least : least + count - 1)
                     : least + (int64_t)(scramble(i * 2 + (size_t)k) % (uint64_t)count);
    if (k == 0 && d->n_inputs == 2)
        i >>= type_of_input(f, 1)->elem.bits;
    return least + (int64_t)(i % (size_t)count);
}

/* Floats around every code of a quantize node and far beyond. */
static float float_at(float scale, size_t i)
{
    const float far[] = {1e30f, -1e30f, INFINITY, -INFINITY, NAN, 0.0f, -0.0f};
    if (i < sizeof far / sizeof *far)
        return far[i];
    return scale * ((float)((int64_t)i - SAMPLES / 2) / 4.0f + 0.1f);
}

static float scale_of(const assay_graph *f)
{
    for (int v = 0; v < f->n_values; v++)
        if (f->value[v].type.q.granularity == ASSAY_Q_TENSOR)
            return f->value[v].type.q.scale[0];
    return 1;
}

static assay_status fill_domain(const assay_graph *f, domain *d, assay_error *err)
{
    for (int k = 0; k < d->n_inputs; k++) {
        assay_elem e = type_of_input(f, k)->elem;
        if (!(d->in[k] = calloc(d->n, assay_elem_size(e))))
            return assay_out_of_memory(err);
        for (size_t i = 0; i < d->n; i++)
            if (e.kind == ASSAY_KIND_F32)
                ((float *)d->in[k])[i] = float_at(scale_of(f), i);
            else
                assay_elem_set(e, d->in[k], i, code_at(f, d, k, i));
    }
    return ASSAY_OK;
}

static const assay_type *result_type(const assay_graph *f)
{
    return &f->value[f->output[0]].type;
}

static assay_status run_fragment(const assay_graph *f, const assay_scheme *s, assay_run_fn run,
                                 const domain *d, void **result, assay_error *err)
{
    const void *in[2] = {d->in[0], d->in[1]};
    if (!(*result = calloc(d->n, assay_elem_size(result_type(f)->elem))))
        return assay_out_of_memory(err);
    return run(f, s, in, result, err);
}

/* Result i as a number that two results can be compared by: codes, or float bits. */
static int64_t result_at(const assay_type *t, const void *result, size_t i)
{
    uint32_t bits;
    if (t->elem.kind == ASSAY_KIND_INT)
        return assay_elem_get(t->elem, result, i);
    memcpy(&bits, (const char *)result + i * sizeof bits, sizeof bits);
    return bits;
}

static void print_element(char *buf, size_t size, const assay_type *t, const void *data, size_t i)
{
    if (t->elem.kind == ASSAY_KIND_F32)
        snprintf(buf, size, "%.9g", (double)((const float *)data)[i]);
    else
        snprintf(buf, size, "%lld", (long long)assay_elem_get(t->elem, data, i));
}

static void tell_difference(const assay_graph *f, const domain *d, const void *after, size_t i,
                            assay_verdict *v)
{
    char in[2][24] = {"", ""}, was[24], is[24];
    for (int k = 0; k < d->n_inputs; k++)
        print_element(in[k], sizeof in[k], type_of_input(f, k), d->in[k], i);
    print_element(was, sizeof was, result_type(f), d->before, i);
    print_element(is, sizeof is, result_type(f), after, i);
    snprintf(v->counterexample, sizeof v->counterexample, "input %s%s%s: %s became %s", in[0],
             d->n_inputs > 1 ? ", " : "", in[1], was, is);
}

static void judge(const assay_graph *f, const domain *d, const void *after, assay_verdict *v)
{
    const assay_type *t = result_type(f);
    bool codes = t->elem.kind == ASSAY_KIND_INT;
    int64_t worst = 0;
    size_t equal = 0, worst_at = 0;
    for (size_t i = 0; i < d->n; i++) {
        int64_t a = result_at(t, d->before, i), b = result_at(t, after, i);
        int64_t difference = a > b ? a - b : b - a;
        equal += difference == 0;
        if (difference > worst) {
            worst = difference;
            worst_at = i;
        }
    }
    memset(v, 0, sizeof *v);
    v->bound = worst;
    v->kind = !d->complete || (worst && !codes) ? ASSAY_UNPROVED
              : worst                           ? ASSAY_BOUNDED
                                                : ASSAY_EXACT;
    snprintf(v->evidence, sizeof v->evidence, "%zu/%zu %s equal%s", equal, d->n,
             !d->complete       ? "samples"
             : d->n_inputs == 2 ? "pairs of codes"
                                : "codes",
             d->complete ? "" : ", too many to try them all");
    if (worst)
        tell_difference(f, d, after, worst_at, v);
}

static assay_status attempt(const assay_match *m, const assay_rule *rule, const assay_scheme *s,
                            assay_run_fn run, const domain *d, const assay_rule_image *image,
                            assay_proof *proof, assay_error *err)
{
    void *after = NULL;
    proof->possible = true;
    proof->uses_image = image != NULL;
    assay_status status = prove_rewrite(m, rule, image, proof, err);
    if (!status && proof->possible) {
        status = prove_impossible(proof, run_fragment(proof->after, s, run, d, &after, err), err);
        if (!status && proof->possible)
            judge(proof->before, d, after, &proof->verdict);
    }
    free(after);
    return status;
}

static assay_rule_image image_of(const assay_graph *f, const domain *d)
{
    assay_rule_image image = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < d->n; i++) {
        int64_t v = result_at(result_type(f), d->before, i);
        image.lo = v < image.lo ? v : image.lo;
        image.hi = v > image.hi ? v : image.hi;
    }
    return image;
}

/* The results are what the rewrite is given. */
static assay_status keep_table(const domain *d, assay_proof *proof, assay_error *err)
{
    size_t bytes = d->n * assay_elem_size(result_type(proof->before)->elem);
    proof->data = malloc(bytes + 1);
    if (!proof->data)
        return assay_out_of_memory(err);
    memcpy(proof->data, d->before, bytes);
    return ASSAY_OK;
}

assay_status prove_codes(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                         const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                         assay_error *err)
{
    assay_graph *small = NULL;
    domain d = {0};
    assay_status status = prove_fragment_cut(g, m, 1, &small, err);
    if (!status && small->n_inputs > 2)
        status = assay_fail(err, ASSAY_ERR_LIMIT, "a fragment of %d inputs", small->n_inputs);
    if (!status) {
        size_domain(small, &d);
        status = prove_fragment_cut(g, m, (int64_t)d.n, &proof->before, err);
    }
    assay_graph_free(small);
    if (!status)
        status = fill_domain(proof->before, &d, err);
    if (!status)
        status = run_fragment(proof->before, s, run, &d, &d.before, err);
    if (!status && rule->obligation == ASSAY_PROVE_TABLE)
        status = keep_table(&d, proof, err);
    if (!status)
        status = attempt(m, rule, s, run, &d, NULL, proof, err);
    bool codes = !status && result_type(proof->before)->elem.kind == ASSAY_KIND_INT;
    if (codes && rule->bounds && d.complete &&
        !(proof->possible && proof->verdict.kind == ASSAY_EXACT)) {
        proof->image = image_of(proof->before, &d);
        status = attempt(m, rule, s, run, &d, &proof->image, proof, err);
    }
    domain_free(&d);
    return proof->possible ? prove_impossible(proof, status, err) : status;
}

/* All results of a node on d->n elements: every code of its inputs, of which it has d->n_inputs. */
static assay_status tabulate(const assay_graph *g, int node, const assay_scheme *s,
                             assay_run_fn run, domain *d, int64_t **table, assay_error *err)
{
    assay_match m = {.lower = node};
    assay_graph *f = NULL;
    assay_status status = prove_fragment_cut(g, &m, (int64_t)d->n, &f, err);
    if (!status && f->n_inputs != d->n_inputs)
        status = assay_fail(err, ASSAY_ERR_INTERNAL, "node '%s' does not have %d computed operands",
                            g->node[node].name, d->n_inputs);
    if (!status)
        status = fill_domain(f, d, err);
    if (!status)
        status = run_fragment(f, s, run, d, &d->before, err);
    *table = status ? NULL : malloc(d->n * sizeof **table);
    if (!status && !*table)
        status = assay_out_of_memory(err);
    for (size_t i = 0; i < d->n && !status; i++)
        (*table)[i] = result_at(result_type(f), d->before, i);
    domain_free(d);
    assay_graph_free(f);
    return status;
}

assay_status prove_tabulate(const assay_graph *g, int node, const assay_scheme *s, assay_run_fn run,
                            int64_t **table, size_t *size, assay_error *err)
{
    const assay_node *n = &g->node[node];
    int x = n->n_in > 1 && lower_is_constant(g, n->in[0]) ? n->in[1] : n->in[0];
    assert(g->value[x].type.elem.bits <= 32);
    *size = (size_t)1 << g->value[x].type.elem.bits;
    domain d = {.n_inputs = 1, .n = *size, .complete = true};
    return tabulate(g, node, s, run, &d, table, err);
}

assay_status prove_tabulate_pairs(const assay_graph *g, int node, const assay_scheme *s,
                                  assay_run_fn run, int64_t **table, assay_error *err)
{
    const assay_node *n = &g->node[node];
    unsigned bits = assay_node_in(g, n, 0)->type.elem.bits + assay_node_in(g, n, 1)->type.elem.bits;
    assert(bits <= 32);
    domain d = {.n_inputs = 2, .n = (size_t)1 << bits, .complete = true};
    return tabulate(g, node, s, run, &d, table, err);
}

#define LARGEST_BIAS 4096

/* Trial 0 has extremes only, as the bits of the element's index and the input's. */
static void fill_sample(const assay_type *t, void *data, int trial, int input)
{
    const bool truth = t->elem.kind == ASSAY_KIND_BOOL;
    int64_t least = truth ? 0 : assay_elem_min(t->elem), max = truth ? 1 : assay_elem_max(t->elem);
    if (t->elem.bits > MAX_BITS) { /* a bias */
        least = -LARGEST_BIAS;
        max = LARGEST_BIAS;
    }
    size_t n = (size_t)assay_shape_count(t);
    for (size_t i = 0; i < n; i++) {
        uint64_t r = scramble(i * 8192 + (uint64_t)(trial * 32 + input) + 1);
        assay_elem_set(t->elem, data, i,
                       trial == 0 ? (r & 1 ? least : max)
                                  : least + (int64_t)(r % (uint64_t)(max - least + 1)));
    }
}

static void compare_samples(const assay_graph *f, int output, const void *before, const void *after,
                            assay_verdict *v)
{
    const assay_type *t = &f->value[f->output[output]].type;
    size_t n = (size_t)assay_shape_count(t);
    for (size_t i = 0; i < n && !v->counterexample[0]; i++) {
        int64_t a = result_at(t, before, i), b = result_at(t, after, i);
        if (a == b)
            continue;
        snprintf(v->evidence, sizeof v->evidence, "results differ on samples");
        snprintf(v->counterexample, sizeof v->counterexample,
                 "element %zu of sampled inputs: %lld became %lld", i, (long long)a, (long long)b);
    }
}

/* Memory for every output, before and after. */
static assay_status make_room(const assay_graph *f, void **before, void **after, assay_error *err)
{
    for (int i = 0; i < f->n_outputs; i++) {
        size_t bytes = assay_type_bytes(&f->value[f->output[i]].type) + 1;
        before[i] = malloc(bytes);
        after[i] = malloc(bytes);
        if (!before[i] || !after[i])
            return assay_out_of_memory(err);
    }
    return ASSAY_OK;
}

assay_status prove_samples(const assay_scheme *s, assay_run_fn run, int samples, assay_proof *proof,
                           assay_error *err)
{
    const assay_graph *f = proof->before;
    void *in[ASSAY_MATCH_UPPER * 2] = {NULL};
    void *before[ASSAY_MATCH_UPPER] = {NULL}, *after[ASSAY_MATCH_UPPER] = {NULL};
    assay_status status = ASSAY_OK;
    bool codes = true;
    for (int k = 0; k < f->n_inputs && !status && codes; k++) {
        const assay_type *t = type_of_input(f, k);
        codes = t->elem.kind == ASSAY_KIND_BOOL ||
                (t->elem.kind == ASSAY_KIND_INT &&
                 (t->elem.bits <= MAX_BITS || assay_is_quantized(t))); /* no indices */
        if (codes && !(in[k] = malloc(assay_type_bytes(t) + 1)))
            status = assay_out_of_memory(err);
    }
    if (!status)
        status = make_room(f, before, after, err);
    for (int trial = 0; trial < samples && codes && !status && !proof->verdict.counterexample[0];
         trial++) {
        for (int k = 0; k < f->n_inputs; k++)
            fill_sample(type_of_input(f, k), in[k], trial, k);
        status = run(f, s, (const void *const *)in, before, err);
        if (!status)
            status = run(proof->after, s, (const void *const *)in, after, err);
        for (int i = 0; i < f->n_outputs && !status; i++)
            compare_samples(f, i, before[i], after[i], &proof->verdict);
    }
    for (int k = 0; k < f->n_inputs; k++)
        free(in[k]);
    for (int i = 0; i < f->n_outputs; i++) {
        free(before[i]);
        free(after[i]);
    }
    return prove_impossible(proof, status, err);
}
