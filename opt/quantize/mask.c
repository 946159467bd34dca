/* Attention masks: a huge negative number (-1e4, -1e9, the least float) is added or selected in
 * front of a softmax. Quantized, everything that is not masked would get one and the same code; so
 * the softmax, and the nodes that bring the mask in, stay in float. */
#include "opt/quantize/plan.h"

/* Neighbouring codes whose exponentials differ by a factor of e^4: one of them takes all. */
#define COARSEST_STEP 4

static bool is_coarse(const assay_quantizer *q, int v, assay_elem elem)
{
    const assay_profile_entry *e =
        v < 0 || lower_is_constant(q->g, v) ? NULL : profile_entry_of(q->profile, q->g, v);
    double codes = (double)(assay_elem_max(elem) - assay_elem_min(elem));
    return e && e->seen.finite > 0 &&
           ((double)e->seen.max - (double)e->seen.min) / codes > COARSEST_STEP;
}

static bool is_softmax(const assay_node *n)
{
    return n->op == ASSAY_OP_SOFTMAX || n->op == ASSAY_OP_LOG_SOFTMAX;
}

/* Element by element, or moving elements: the range of its output comes from its inputs' own. */
static bool passes_range_on(const assay_node *n)
{
    return assay_op_get(n->op)->traits &
           (ASSAY_T_BINARY | ASSAY_T_UNARY | ASSAY_T_MOVE | ASSAY_T_SELECTS);
}

void quantize_plan_masks(assay_quantizer *q)
{
    /* Users come after producers, so one sweep backwards meets every node after its users. */
    for (int i = q->g->n_nodes - 1; i >= 0; i--) {
        const assay_node *n = &q->g->node[i];
        assay_plan_node *p = &q->node[i];
        if (is_softmax(n) && p->state == ASSAY_PLAN_INTEGER && is_coarse(q, n->in[0], p->elem)) {
            p->state = ASSAY_PLAN_FLOAT;
            p->reason = "the range of its input is too wide for codes, as masks make it";
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
