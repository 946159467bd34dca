/* A rescale that sinks below a node: an argument from what the node is.
 *
 *   MOVE    each output element is one input element, whatever the codes are
 *   ORDER   the node chooses by order among codes, which the rescale keeps
 *
 * What the target makes of a code that was chosen (nothing, where types are equal) is looked at for
 * all codes. That the rewrite did sink, and nothing else, is tried on samples here, and read off
 * the fragments by the certificate's checker. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/lower/nodes.h"
#include "opt/lower/pass.h"
#include "opt/prove/fragment.h"
#include "opt/prove/prove.h"
#include "schemes/node/spec.h"

/* The rescale's codes by code - least of its input. */
typedef struct sunk {
    const assay_type *x, *y;
    int64_t *table;
    size_t size;
} sunk;

static int64_t rescaled(const sunk *r, int64_t code)
{
    return r->table[code - assay_elem_min(r->x->elem)];
}

static const assay_node *node_of(const assay_graph *f, assay_op op)
{
    for (int i = 0; i < f->n_nodes; i++)
        if (f->node[i].op == op)
            return &f->node[i];
    return NULL;
}

/* ---- padding ---- */

/* Which code a sunk pad must fill with; *known is false when no code is rescaled to the old one. */
static void map_fill(const assay_node *pad, const sunk *r, assay_proof *proof, bool *known)
{
    int64_t was, kept, least = assay_elem_min(r->x->elem);
    assay_verdict *v = &proof->verdict;
    *known =
        lower_pad_fill(&pad->attr.pad, r->y, &was) && lower_pad_fill(&pad->attr.pad, r->x, &kept);
    if (!*known || kept < least || kept > assay_elem_max(r->x->elem))
        kept = least;
    if (*known && !pad->attr.pad.has_code && rescaled(r, kept) == was)
        return;
    for (size_t i = 0; *known && i < r->size; i++)
        if (r->table[i] == was) {
            proof->fills = true;
            proof->fill = least + (int64_t)i;
            return;
        }
    *known = false;
    snprintf(v->evidence, sizeof v->evidence, "no code is rescaled to the padding");
    snprintf(v->counterexample, sizeof v->counterexample, "padding: %lld became %lld",
             (long long)was, (long long)rescaled(r, kept));
}

static bool keeps_padding(const assay_node *below, const assay_graph *after, const sunk *r)
{
    const assay_node *pad = node_of(after, below->op);
    int64_t was, is;
    if (below->op != ASSAY_OP_PAD || below->attr.pad.mode != ASSAY_PAD_CONSTANT)
        return true;
    return pad && lower_pad_fill(&below->attr.pad, r->y, &was) &&
           lower_pad_fill(&pad->attr.pad, r->x, &is) && is >= assay_elem_min(r->x->elem) &&
           is <= assay_elem_max(r->x->elem) && rescaled(r, is) == was;
}

/* Every window of a pool holds at least one cell of the image. */
static bool windows_hold_cells(const assay_node *n)
{
    const assay_attr_pool *a = &n->attr.pool;
    if (assay_op_get(n->op)->attrs != ASSAY_ATTRS_pool)
        return true;
    for (int i = 0; i < a->kernel.n; i++) {
        bool padded = a->pad_begin.v[i] > 0 || a->pad_end.v[i] > 0;
        if (a->ceil_mode ||
            (padded && (a->dilation.v[i] != 1 || a->pad_begin.v[i] >= a->kernel.v[i] ||
                        a->pad_end.v[i] >= a->kernel.v[i])))
            return false;
    }
    return true;
}

/* ---- what the target makes of a chosen code ---- */

/* By code - least, of the node of kind `op` in f; malloc'd. */
static assay_status tabulate_choice(const assay_graph *f, assay_op op, const assay_scheme *s,
                                    int32_t **out, assay_error *err)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit *u = NULL;
    const assay_node *n = node_of(f, op);
    if (!n || !s->vt->unary)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "the scheme has no unit that chooses codes");
    const assay_elem e = assay_node_in(f, n, 0)->type.elem;
    assert(e.bits <= 32);
    const size_t size = (size_t)1 << e.bits;
    assay_unit_spec_fill(f, n, in, &spec);
    assay_status status = s->vt->prepare(s, &spec, &u, err);
    int32_t *code = status ? NULL : malloc(size * sizeof *code);
    for (size_t i = 0; code && i < size; i++)
        code[i] = (int32_t)(assay_elem_min(e) + (int64_t)i);
    if (code)
        s->vt->unary(u, code, size, code);
    else if (!status)
        status = assay_out_of_memory(err);
    if (u)
        s->vt->release(u);
    *out = code;
    return status;
}

/* Rescaled and then chosen is what chosen and then rescaled is, for every code. */
static assay_status compare_choices(const assay_node *below, const sunk *r, const assay_scheme *s,
                                    assay_proof *proof, assay_error *err)
{
    int32_t *before = NULL, *after = NULL;
    assay_verdict *v = &proof->verdict;
    if (!lower_needs_target(below))
        return ASSAY_OK;
    assay_status status = tabulate_choice(proof->before, below->op, s, &before, err);
    if (!status)
        status = tabulate_choice(proof->after, below->op, s, &after, err);
    for (size_t i = 0; i < r->size && !status && !v->counterexample[0]; i++) {
        int64_t was = before[r->table[i] - assay_elem_min(r->y->elem)], is = rescaled(r, after[i]);
        if (was == is)
            continue;
        snprintf(v->evidence, sizeof v->evidence, "the target does arithmetic on the chosen codes");
        snprintf(v->counterexample, sizeof v->counterexample, "input %lld: %lld became %lld",
                 (long long)(assay_elem_min(r->x->elem) + (int64_t)i), (long long)was,
                 (long long)is);
    }
    free(before);
    free(after);
    return status;
}

/* ---- both obligations ---- */

/* The argument of the obligation holds for ops of these traits only. */
static bool may_sink_below(const assay_node *n, enum assay_obligation obligation)
{
    const uint32_t by_order = ASSAY_T_SELECTS | ASSAY_T_MONOTONE;
    return obligation == ASSAY_PROVE_MOVE ? lower_only_moves(n)
                                          : (lower_traits(n) & by_order) == by_order;
}

static void judge(const assay_node *n, const sunk *r, bool by_order, assay_proof *proof)
{
    assay_verdict *v = &proof->verdict;
    size_t ordered = 1;
    while (ordered < r->size && r->table[ordered] >= r->table[ordered - 1])
        ordered++;
    if (!keeps_padding(n, proof->after, r)) {
        snprintf(v->evidence, sizeof v->evidence, "the padding would be rescaled to another code");
        snprintf(v->counterexample, sizeof v->counterexample, "padding: it became another code");
    } else if (by_order && ordered < r->size) {
        int64_t code = assay_elem_min(r->x->elem) + (int64_t)ordered;
        snprintf(v->evidence, sizeof v->evidence, "the rescale is not monotone");
        snprintf(v->counterexample, sizeof v->counterexample, "codes %lld, %lld: %lld, %lld",
                 (long long)code - 1, (long long)code, (long long)r->table[ordered - 1],
                 (long long)r->table[ordered]);
    } else if (by_order && !windows_hold_cells(n) && r->table[0] != assay_elem_min(r->y->elem)) {
        snprintf(v->evidence, sizeof v->evidence, "a window may lie in the padding");
    } else {
        v->kind = ASSAY_EXACT;
        if (by_order)
            snprintf(v->evidence, sizeof v->evidence, "%zu/%zu codes in order", r->size, r->size);
        else if (proof->fills)
            snprintf(v->evidence, sizeof v->evidence,
                     "%s moves codes and computes none; code %lld is rescaled to the padding",
                     assay_op_get(n->op)->name, (long long)proof->fill);
        else
            snprintf(v->evidence, sizeof v->evidence, "%s moves codes and computes none",
                     assay_op_get(n->op)->name);
    }
}

static assay_status rewrite_and_judge(const assay_match *m, const assay_node *n,
                                      const assay_rule *rule, const assay_scheme *s,
                                      assay_run_fn run, const sunk *r, assay_proof *proof,
                                      assay_error *err)
{
    assay_verdict *v = &proof->verdict;
    assay_status status = prove_rewrite(m, rule, NULL, proof, err);
    if (!status && proof->possible)
        status = prove_target(s, proof, err);
    if (!status && proof->possible)
        status = prove_samples(s, run, ASSAY_SAMPLES, proof, err);
    if (status || !proof->possible || v->counterexample[0])
        return status;
    if (!may_sink_below(n, rule->obligation)) {
        status = prove_samples(s, run, ASSAY_MORE_SAMPLES, proof, err);
        snprintf(v->evidence, sizeof v->evidence, "%s does not only move or choose codes",
                 assay_op_get(n->op)->name);
        return status;
    }
    status = compare_choices(n, r, s, proof, err);
    if (!status && !v->counterexample[0])
        judge(n, r, rule->obligation == ASSAY_PROVE_ORDER, proof);
    return status;
}

assay_status prove_sink(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                        const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                        assay_error *err)
{
    const assay_node *n = &g->node[m->lower], *rescale = &g->node[m->upper[0]];
    sunk r = {&g->value[rescale->in[0]].type, &g->value[rescale->out[0]].type, NULL, 0};
    bool known = true;
    proof->verdict.kind = ASSAY_UNPROVED;
    assay_status status = prove_fragment_cut(g, m, 0, &proof->before, err);
    if (!status)
        status = prove_tabulate(g, m->upper[0], s, run, &r.table, &r.size, err);
    if (!status && n->op == ASSAY_OP_PAD && n->attr.pad.mode == ASSAY_PAD_CONSTANT)
        map_fill(n, &r, proof, &known);
    if (!status && known)
        status = rewrite_and_judge(m, n, rule, s, run, &r, proof, err);
    free(r.table);
    return prove_impossible(proof, status, err);
}
