/* A case: one node with everything about it open to change; see case.h. */
#include "interp/blame/case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "schemes/derive/derive.h"
#include "schemes/node/spec.h"

bool blame_case_can(const assay_node *n)
{
    return n->n_in <= BLAME_IN && n->n_out == 1 &&
           !(assay_op_get(n->op)->traits & (ASSAY_T_STATE | ASSAY_T_FLOW));
}

void blame_case_fill(blame_case *c, const assay_graph *g, const assay_node *n,
                     const assay_scheme *scheme, const void *const *in, assay_arena *arena)
{
    *c = (blame_case){.arena = arena,
                      .scheme = scheme,
                      .name = n->name,
                      .op = n->op,
                      .attr = n->attr,
                      .act_lo = n->act_lo,
                      .act_hi = n->act_hi,
                      .has_code_bounds = n->has_code_bounds,
                      .code_lo = n->code_lo,
                      .code_hi = n->code_hi,
                      .n_in = n->n_in,
                      .out = assay_node_out(g, n, 0)->type,
                      .out_name = assay_node_out(g, n, 0)->name};
    for (int i = 0; i < n->n_in; i++) {
        const assay_value *v = assay_node_in(g, n, i);
        if (!v)
            continue;
        c->in[i] = v->type;
        c->in_name[i] = v->name;
        c->constant[i] = v->data != NULL;
        c->data[i] = v->data ? v->data : in[i];
    }
}

/* ---- as a network ---- */

void blame_case_drop(blame_built *b)
{
    assay_program_free(b->program);
    assay_scheme_free(b->scheme);
    assay_graph_free(b->graph);
    *b = (blame_built){0};
}

/* An operand's own name; one that is there already is another's too. */
static const char *name_of(const blame_case *c, const assay_graph *g, int i, char made[16])
{
    snprintf(made, 16, "in%d", i);
    return c->in_name[i] && assay_graph_find_value(g, c->in_name[i]) < 0 ? c->in_name[i] : made;
}

static assay_status add_operands(const blame_case *c, blame_built *b, int *in, assay_error *err)
{
    int inputs[BLAME_IN], n = 0;
    assay_status status = ASSAY_OK;
    for (int i = 0; i < c->n_in && !status; i++) {
        char made[16];
        in[i] = ASSAY_NO_VALUE;
        if (c->in[i].elem.kind == ASSAY_KIND_NONE)
            continue;
        const char *name = name_of(c, b->graph, i, made);
        status = c->constant[i] ? assay_graph_borrow_constant(b->graph, name, &c->in[i], c->data[i],
                                                              &in[i], err)
                                : assay_graph_add_value(b->graph, name, &c->in[i], &in[i], err);
        if (!status && !c->constant[i])
            inputs[n++] = in[i];
    }
    return status ? status : assay_graph_set_inputs(b->graph, inputs, n, err);
}

static assay_status build_graph(const blame_case *c, blame_built *b, assay_error *err)
{
    int in[BLAME_IN], out, node;
    assay_status status = assay_graph_new("case", &b->graph, err);
    if (!status)
        status = add_operands(c, b, in, err);
    if (!status)
        status =
            assay_graph_add_value(b->graph, c->out_name ? c->out_name : "out", &c->out, &out, err);
    if (!status)
        status = assay_graph_add_node(b->graph, c->op, c->name, in, c->n_in, &out, 1, &c->attr,
                                      &node, err);
    if (status)
        return status;
    assay_node *n = &b->graph->node[node];
    n->act_lo = c->act_lo;
    n->act_hi = c->act_hi;
    n->has_code_bounds = c->has_code_bounds;
    n->code_lo = c->code_lo;
    n->code_hi = c->code_hi;
    return assay_graph_set_outputs(b->graph, &out, 1, err);
}

static const assay_precomputed *precomputed_of(const blame_case *c)
{
    const assay_scheme_data *d = assay_data(c->scheme);
    for (size_t i = 0; i < d->n_precomputed; i++)
        if (strcmp(d->precomputed[i].node, c->name) == 0)
            return &d->precomputed[i];
    return NULL;
}

static assay_status build_scheme(const blame_case *c, blame_built *b, assay_error *err)
{
    if (!c->has_record || !c->scheme || !c->scheme->record)
        return ASSAY_OK;
    return assay_scheme_of_record(c->scheme, &c->record, precomputed_of(c), &b->scheme, err);
}

/* One rescale of the unit with roundings of its own, where the unit has it, its numbers written as
 * those roundings take them: an edit before this one may have changed that. */
static assay_status set_single(const blame_case *c, const assay_program *p, assay_error *err)
{
    assay_rescale *r = p->unit[0] ? &p->unit[0]->scale[c->single_scale] : NULL;
    if (!r || !r->rule || (!r->scale && (!r->multiplier || !r->shift)) ||
        r->rule->encoding != c->single.encoding || r->rule->pre_shift != c->single.pre_shift)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node '%s': no such rescale", c->name);
    r->rule = &c->single;
    apply_rescale_choose(r);
    return ASSAY_OK;
}

static assay_status set_factors(const blame_case *c, const assay_program *p, assay_error *err)
{
    assay_rescale *r = p->unit[0] ? &p->unit[0]->scale[ASSAY_OUT] : NULL;
    const size_t n = (size_t)c->n_factors;
    if (!r || !r->rule || !r->multiplier || !r->shift || r->pre || (r->n != 1 && r->n != n))
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node '%s': no multipliers", c->name);
    int64_t *multiplier = assay_arena_array(c->arena, n + 1, sizeof *multiplier);
    int64_t *shift = assay_arena_array(c->arena, n + 1, sizeof *shift);
    if (!multiplier || !shift)
        return assay_out_of_memory(err);
    for (size_t k = 0; k < n; k++) {
        const size_t of = r->n > 1 ? k : 0;
        const double left = floor((double)r->multiplier[of] * c->factor[k]);
        multiplier[k] = left < (double)INT32_MAX ? (int64_t)left : INT32_MAX;
        shift[k] = r->shift[of];
    }
    r->n = n;
    r->multiplier = multiplier;
    r->shift = shift;
    apply_rescale_choose(r);
    return ASSAY_OK;
}

static assay_status set_zero(const blame_case *c, const assay_program *p, assay_error *err)
{
    assay_rescale *r = p->unit[0] ? &p->unit[0]->scale[ASSAY_OUT] : NULL;
    if (!r || !r->rule)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node '%s': no rescale", c->name);
    r->zero_point = c->zero;
    return ASSAY_OK;
}

/* The last step of a row with a rounding of its own, where the unit has one. */
static assay_status set_last(const blame_case *c, const assay_program *p, assay_error *err)
{
    if (!p->unit[0] || !p->unit[0]->row || p->unit[0]->last == c->last)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "node '%s': no such last step", c->name);
    p->unit[0]->last = c->last;
    return ASSAY_OK;
}

assay_status blame_case_build(const blame_case *c, blame_built *b, assay_error *err)
{
    const bool ref = c->has_single || c->has_last || c->has_zero || c->factor || c->plain;
    const assay_program_options o = {.keep_all = c->keep_all,
                                     .engine = ref ? ASSAY_ENGINE_REF : ASSAY_ENGINE_FAST,
                                     .threads = 1};
    *b = (blame_built){0};
    assay_status status = build_graph(c, b, err);
    if (!status)
        status = build_scheme(c, b, err);
    if (!status)
        status = run_program_make_with(b->graph, b->scheme ? b->scheme : c->scheme, &o, &b->program,
                                       err);
    if (!status && c->has_single)
        status = set_single(c, b->program, err);
    if (!status && c->factor)
        status = set_factors(c, b->program, err);
    if (!status && c->has_zero)
        status = set_zero(c, b->program, err);
    if (!status && c->has_last)
        status = set_last(c, b->program, err);
    if (status)
        blame_case_drop(b);
    return status;
}

assay_status blame_case_run(const blame_case *c, void *out, int64_t *sums, assay_error *err)
{
    blame_built b;
    void *const outs[1] = {out};
    assay_status status = blame_case_build(c, &b, err);
    if (status)
        return status;
    status = assay_replay_node(b.program, 0, c->data, outs, sums, err);
    blame_case_drop(&b);
    return status;
}

/* Rows of channels out of, and back into, a tensor whose channels are along `axis`. */
assay_status blame_case_requantize(const blame_case *c, const int64_t *sums, void *out,
                                   assay_error *err)
{
    blame_built b;
    assay_status status = blame_case_build(c, &b, err);
    if (status)
        return status;
    const bool first =
        (assay_op_get(c->op)->traits & ASSAY_T_LAYOUT) && c->attr.conv.layout == ASSAY_LAYOUT_NCHW;
    const int axis = first ? 1 : c->out.rank - 1;
    const int64_t channels = c->out.rank > 0 ? c->out.dim[axis] : 1;
    const int64_t total = assay_shape_count(&c->out);
    int64_t inner = 1;
    for (int i = axis + 1; i < c->out.rank; i++)
        inner *= c->out.dim[i];
    int64_t *row = malloc((size_t)channels * sizeof *row + 64);
    int32_t *codes = malloc((size_t)channels * sizeof *codes + 64);
    const assay_view view = {out, &c->out};
    if (!row || !codes)
        status = assay_out_of_memory(err);
    for (int64_t at = 0; at < total && !status; at += channels * inner)
        for (int64_t p = 0; p < inner; p++) {
            for (int64_t k = 0; k < channels; k++)
                row[k] = sums[at + p + k * inner];
            b.program->scheme->vt->requantize(b.program->unit[0], row, (size_t)channels, 0, codes);
            ref_store_row(&view, at + p, inner, (size_t)channels, codes);
        }
    free(row);
    free(codes);
    blame_case_drop(&b);
    return status;
}

bool blame_case_record(const blame_case *c, assay_record *r)
{
    assay_unit_spec spec = {.op = assay_op_get(c->op)->name,
                            .node = c->name,
                            .in = c->in,
                            .n_in = c->n_in,
                            .out = &c->out};
    if (!c->scheme || !c->scheme->record)
        return false;
    if (c->op == ASSAY_OP_CONV || c->op == ASSAY_OP_CONV_TRANSPOSE || c->op == ASSAY_OP_SVDF_TIME)
        spec.flag = c->attr.conv.group;
    assay_effective_record(assay_data(c->scheme), spec.op, spec.node, derive_variant_of(&spec), r);
    return true;
}
