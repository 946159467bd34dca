/* Attention masks: a huge negative number (-100, -1e4, the least float, -infinity) is added or
 * selected in front of a softmax. Codes that reach from there to the scores would give all that is
 * not masked one and the same code. What lies so far below that its exponentials together are less
 * than half a step of the probabilities' codes, softmax does not see: there the values' range ends,
 * at their floor, and codes saturate. Where no floor is found, and the range is too wide for codes,
 * the softmax and the nodes that bring the mask in stay in float. */
#include <math.h>

#include "graph/memory.h"
#include "opt/quantize/runs.h"

/* Neighbouring codes whose exponentials differ by a factor of e^4: one of them takes all. */
#define COARSEST_STEP 4
/* Between what is masked and what is not; e^-64 is nothing beside 1 in any type, so that masks
 * reach further, and scores that a network learnt do not. */
#define LEAST_GAP 64

static bool is_coarse(const assay_quantizer *q, int v, assay_elem elem)
{
    const assay_profile_entry *e =
        v < 0 || lower_is_constant(q->g, v) ? NULL : profile_entry_of(q->profile, q->g, v);
    double codes = (double)(assay_elem_max(elem) - assay_elem_min(elem));
    return e && e->seen.finite > 0 &&
           ((double)e->seen.max - fmax((double)e->seen.min, q->value[v].floor)) / codes >
               COARSEST_STEP;
}

static bool is_softmax(const assay_node *n)
{
    return n->op == ASSAY_OP_SOFTMAX || n->op == ASSAY_OP_LOG_SOFTMAX;
}

/* ---- floors ---- */

typedef struct floors {
    assay_quantizer *q;
    const quantize_runs *runs;
    int *agree; /* by value: how many of its uses have a floor for it */
} floors;

/* One use of v does not distinguish values below `floor`. Where no mask lies below it, that says
 * nothing. */
static void agree(const floors *f, int v, double floor)
{
    const quantize_runs *r = &f->runs[v];
    if (r->n == 0 || r->lo[0] >= floor || !isfinite(floor))
        return;
    assay_plan_value *p = &f->q->value[v];
    p->floor = f->agree[v]++ ? fmin(p->floor, floor) : floor;
}

/* A floor that some use of the value does not share is no floor. */
static double agreed_floor(const floors *f, int v)
{
    assay_plan_value *p = &f->q->value[v];
    if (f->agree[v] < f->q->uses[v])
        p->floor = -INFINITY;
    return p->floor;
}

/* The greatest width of any node's codes, in bits. */
static unsigned widest(const assay_quantizer *q)
{
    unsigned bits = q->activation.elem.bits;
    for (int i = 0; i < q->options->n_precision; i++)
        if (q->options->precision[i].elem.kind == ASSAY_KIND_INT &&
            q->options->precision[i].elem.bits > bits)
            bits = q->options->precision[i].elem.bits;
    return bits;
}

/* A row of elements that are all masked but one adds less than half a code. */
static void at_softmax(const floors *f, const assay_node *n)
{
    const quantize_runs *r = &f->runs[n->in[0]];
    const assay_type *x = &f->q->g->value[n->in[0]].type;
    const double beta = (double)n->attr.softmax.beta;
    const double row = (double)x->dim[n->attr.softmax.axis];
    int k = r->n - 1;
    if (n->op != ASSAY_OP_SOFTMAX || !(beta > 0))
        return;
    while (k > 0 && beta * (r->lo[k] - r->hi[k - 1]) < LEAST_GAP)
        k--;
    if (k > 0)
        agree(f, n->in[0], r->lo[k] - ((widest(f->q) + 1) * M_LN2 + log(row)) / beta);
}

/* A factor that makes the mask of zeros and positive numbers: c * x <= floor where x is not 0. */
static void at_factor(const floors *f, const assay_node *n, int factor, double floor)
{
    const quantize_runs *c = &f->runs[n->in[factor]], *x = &f->runs[n->in[1 - factor]];
    int k = 0;
    while (k < x->n && x->lo[k] == 0 && x->hi[k] == 0)
        k++;
    if (c->n > 0 && c->hi[c->n - 1] < 0 && k < x->n && x->lo[k] > 0)
        agree(f, n->in[factor], floor / x->lo[k]);
}

static void at_operands(const floors *f, const assay_node *n, double floor)
{
    for (int j = 0; j < 2; j++) {
        const quantize_runs *other = &f->runs[n->in[1 - j]];
        if (other->n == 0)
            continue;
        if (n->op == ASSAY_OP_ADD)
            agree(f, n->in[j], floor - other->hi[other->n - 1]);
        else if (n->op == ASSAY_OP_SUB && j == 0)
            agree(f, n->in[j], floor + other->lo[0]);
        else if (n->op == ASSAY_OP_MAX)
            agree(f, n->in[j], floor);
        else if (n->op == ASSAY_OP_MUL)
            at_factor(f, n, j, floor);
    }
}

/* A node that computes a softmax's input. */
static void at_node(const floors *f, const assay_node *n, double floor)
{
    if (quantize_runs_combines(n))
        at_operands(f, n, floor);
    for (int j = 0; j < n->n_in && quantize_runs_chooses(n); j++)
        if (n->in[j] >= 0)
            agree(f, n->in[j], floor);
}

/* The values from which sums, products, selections and moves compute a softmax's input. */
static void mark(assay_quantizer *q, const assay_node *n)
{
    const bool chooses = quantize_runs_chooses(n), combines = quantize_runs_combines(n);
    if (is_softmax(n))
        q->value[n->in[0]].before_softmax = true;
    if (n->n_out == 0 || !q->value[n->out[0]].before_softmax)
        return;
    for (int j = 0; j < n->n_in && (chooses || combines); j++) {
        if (n->in[j] < 0)
            continue;
        assay_plan_value *p = &q->value[n->in[j]];
        p->before_softmax = true;
        const assay_plan_value *y = &q->value[n->out[0]];
        const bool scales = combines && lower_is_f32_constant(q->g, n->in[1 - j]);
        const bool adds = n->op == ASSAY_OP_ADD || (n->op == ASSAY_OP_SUB && j == 0);
        p->scaled_first |= combines ? scales : y->scaled_first;
        p->added_first |= combines ? adds && !scales : y->added_first;
    }
}

static void mark_all(assay_quantizer *q)
{
    for (int v = 0; v < q->g->n_values; v++) {
        q->value[v].floor = -INFINITY;
        q->value[v].before_softmax = false;
        q->value[v].scaled_first = q->value[v].added_first = false;
    }
    for (int i = q->g->n_nodes - 1; i >= 0; i--)
        mark(q, &q->g->node[i]);
}

/* The values that masks are computed from have both values, although the samples may lack one. */
static void set_reach(const floors *f, int v)
{
    const quantize_runs *r = &f->runs[v];
    double *reach = f->q->value[v].reach;
    const bool known = f->q->value[v].before_softmax && r->of_types && r->n > 0;
    reach[0] = known ? r->lo[0] : INFINITY;
    reach[1] = known ? r->hi[r->n - 1] : -INFINITY;
}

assay_status quantize_find_masks(assay_quantizer *q, assay_error *err)
{
    const size_t n_values = (size_t)q->g->n_values + 1;
    mark_all(q);
    const floors f = {q, quantize_runs_of_values(q),
                      assay_arena_array(q->arena, n_values, sizeof *f.agree)};
    if (!f.runs || !f.agree)
        return assay_out_of_memory(err);
    /* Users come after producers, so one sweep backwards meets every node after its users. */
    for (int i = q->g->n_nodes - 1; i >= 0; i--) {
        const assay_node *n = &q->g->node[i];
        const double floor = n->n_out > 0 ? agreed_floor(&f, n->out[0]) : -INFINITY;
        if (is_softmax(n))
            at_softmax(&f, n);
        if (floor > -INFINITY && q->value[n->out[0]].before_softmax)
            at_node(&f, n, floor);
    }
    for (int v = 0; v < q->g->n_values; v++) {
        agreed_floor(&f, v);
        set_reach(&f, v);
    }
    return ASSAY_OK;
}

/* ---- what stays in float ---- */

/* n casts integers that may be a mask, of which the profile saw only one value. */
static bool casts_one_value(const assay_quantizer *q, const assay_node *n)
{
    const assay_plan_value *p = &q->value[n->out[0]];
    if (n->op != ASSAY_OP_CAST || !p->before_softmax || p->reach[0] <= p->reach[1] ||
        q->g->value[n->in[0]].type.elem.kind != ASSAY_KIND_INT)
        return false;
    const assay_profile_entry *e = profile_entry_of(q->profile, q->g, n->out[0]);
    return e && e->seen.finite > 0 && e->seen.min >= e->seen.max;
}

/* v is an input, moved or not, that is taken for a mask of -infinity and is read by more than a
 * softmax. */
static bool may_be_infinite(const assay_quantizer *q, int v)
{
    if (v < 0 || q->value[v].floor > -INFINITY || q->value[v].reach[0] > -INFINITY)
        return false;
    while (q->g->value[v].producer >= 0) {
        const assay_node *n = &q->g->node[q->g->value[v].producer];
        if (!(assay_op_get(n->op)->traits & ASSAY_T_MOVE))
            return false;
        v = n->in[0];
    }
    return !q->g->value[v].data;
}

const char *quantize_unseen_mask(const assay_quantizer *q, const assay_node *n)
{
    if (casts_one_value(q, n))
        return "it casts integers; if they are a mask, no profiled sample is masked, and the "
               "quantized network ignores the mask";
    for (int j = 0; j < n->n_in; j++)
        if (may_be_infinite(q, n->in[j]))
            return "it reads an input that was 0 in every sample: perhaps a mask of -infinity, "
                   "which codes cannot hold";
    return NULL;
}

/* Element by element, or moving elements: the range of its output comes from its inputs' own. */
static bool passes_range_on(const assay_node *n)
{
    return assay_op_get(n->op)->traits &
           (ASSAY_T_BINARY | ASSAY_T_UNARY | ASSAY_T_MOVE | ASSAY_T_SELECTS);
}

void quantize_plan_masks(assay_quantizer *q)
{
    for (int i = q->g->n_nodes - 1; i >= 0; i--) {
        const assay_node *n = &q->g->node[i];
        assay_plan_node *p = &q->node[i];
        if (is_softmax(n) && p->state == ASSAY_PLAN_INTEGER && is_coarse(q, n->in[0], p->elem)) {
            p->state = ASSAY_PLAN_FLOAT;
            p->reason = "a mask makes the range of its input too wide for codes";
            p->masked = true;
        }
        for (int j = 0; j < n->n_in && p->masked; j++) {
            int made_by = n->in[j] < 0 ? -1 : q->g->value[n->in[j]].producer;
            assay_plan_node *before = made_by < 0 ? NULL : &q->node[made_by];
            if (!before || before->state != ASSAY_PLAN_INTEGER ||
                !passes_range_on(&q->g->node[made_by]) || !is_coarse(q, n->in[j], before->elem))
                continue;
            before->state = ASSAY_PLAN_FLOAT;
            before->reason = "it masks the input of a softmax: its range is too wide for codes";
            before->masked = true;
        }
    }
}
