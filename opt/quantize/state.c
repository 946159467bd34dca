/* State kept between runs: which of it becomes codes. A variable is codes where all that is
 * assigned to it is made as codes, so that keeping codes loses nothing that keeping their real
 * values would not; it, what is read from it and what is assigned share one scale (group.c). */
#include "opt/quantize/plan.h"

bool quantize_plan_is_state(const assay_node *n)
{
    return n->op == ASSAY_OP_READ || n->op == ASSAY_OP_ASSIGN;
}

static bool uses(const assay_node *n, int value)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] == value)
            return true;
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] == value)
            return true;
    return false;
}

bool quantize_plan_state_is_coded(const assay_quantizer *q, int variable, const bool *made)
{
    bool assigned = false;

    for (int i = 0; i < q->g->n_nodes; i++) {
        const assay_node *n = &q->g->node[i];
        if (!uses(n, variable))
            continue;
        if (!quantize_plan_is_state(n) || n->in[0] != variable ||
            q->node[i].state != ASSAY_PLAN_INTEGER)
            return false;
        if (n->op == ASSAY_OP_ASSIGN && !made[n->in[1]])
            return false;
        assigned |= n->op == ASSAY_OP_ASSIGN;
    }
    return assigned;
}

const assay_node *quantize_plan_first_of_state(const assay_quantizer *q, const assay_node *n)
{
    for (int i = 0; i < q->g->n_nodes && quantize_plan_is_state(n); i++)
        if (quantize_plan_is_state(&q->g->node[i]) && q->g->node[i].in[0] == n->in[0])
            return &q->g->node[i];
    return n;
}
