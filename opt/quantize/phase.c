/* Phases: arguments of sine and cosine that span many turns (a time step times frequencies, a
 * position). One step of an 8-bit code is then a large part of a turn, and one of a 16-bit code far
 * coarser than the result needs; so sine, cosine and the arithmetic that computes the phase stay in
 * float. */
#include "opt/quantize/plan.h"

/* Sine and cosine have a range of 2 and slopes up to 1, so that a phase in [-8, 8] loses at most 3
 * bits to its codes, whatever their width. */
#define WIDEST_PHASE 16

static bool is_wide(const assay_quantizer *q, int v)
{
    const assay_profile_entry *e =
        lower_is_constant(q->g, v) ? NULL : profile_entry_of(q->profile, q->g, v);
    return e && e->seen.finite > 0 && (double)e->seen.max - (double)e->seen.min > WIDEST_PHASE;
}

static bool makes_phases(const assay_node *n)
{
    return assay_op_get(n->op)->traits & (ASSAY_T_BINARY | ASSAY_T_UNARY | ASSAY_T_MOVE);
}

void quantize_plan_phases(assay_quantizer *q)
{
    /* Users come after producers, so one sweep backwards meets every node after its users. */
    for (int i = q->g->n_nodes - 1; i >= 0; i--) {
        const assay_node *n = &q->g->node[i];
        assay_plan_node *p = &q->node[i];
        if ((n->op == ASSAY_OP_SIN || n->op == ASSAY_OP_COS) && p->state == ASSAY_PLAN_INTEGER &&
            is_wide(q, n->in[0])) {
            p->state = ASSAY_PLAN_FLOAT;
            p->reason = "its input, a phase, spans so many turns that codes are too coarse";
            p->phased = true;
        }
        for (int j = 0; j < n->n_in && p->phased; j++) {
            int made_by = n->in[j] < 0 ? -1 : q->g->value[n->in[j]].producer;
            assay_plan_node *before = made_by < 0 ? NULL : &q->node[made_by];
            if (!before || before->state != ASSAY_PLAN_INTEGER ||
                !makes_phases(&q->g->node[made_by]))
                continue;
            before->state = ASSAY_PLAN_FLOAT;
            before->reason = "it computes a phase, for which codes are too coarse";
            before->phased = true;
        }
    }
}
