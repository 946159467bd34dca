/* Constant folding: what depends on constants only is computed once. */
#include <stdlib.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/lower/pass.h"

/* Folding may blow a network up (a broadcast of one number): beyond this many bytes a node is
 * folded only when its result is no larger than its inputs. */
#define ALWAYS_FOLDED (1 << 20)

static bool decodes(assay_op op)
{
    return op == ASSAY_OP_DEQUANTIZE || op == ASSAY_OP_FLOAT_DECODE;
}

/* Codes and patterns stay what they are, as something may take them as they stand; but where
 * `codes` numbers may be made of them. */
static bool is_foldable(const assay_graph *g, const assay_node *n, bool codes)
{
    size_t in_bytes = 0, out_bytes = 0;
    const bool decoding = decodes(n->op);
    if (assay_op_get(n->op)->traits & ASSAY_T_STATE ||
        (decoding ? !codes : (assay_op_get(n->op)->traits & ASSAY_T_CONVERT) != 0))
        return false;
    for (int i = 0; i < n->n_in; i++) {
        if (n->in[i] < 0)
            continue;
        if (!lower_is_constant(g, n->in[i]) ||
            (!decoding && assay_is_quantized(&g->value[n->in[i]].type)))
            return false;
        in_bytes += assay_type_bytes(&g->value[n->in[i]].type);
    }
    for (int i = 0; i < n->n_out; i++) {
        if (assay_is_quantized(&g->value[n->out[i]].type))
            return false;
        out_bytes += assay_type_bytes(&g->value[n->out[i]].type);
    }
    return n->n_in > 0 && (decoding || out_bytes <= ALWAYS_FOLDED || out_bytes <= in_bytes);
}

/* Computes the node and turns its outputs into constants; *folded is false when it cannot be. */
static assay_status fold_node(assay_graph *g, const assay_node *n, assay_evaluate_fn evaluate,
                              bool *folded, assay_error *err)
{
    void **out = assay_arena_array(g->arena, (size_t)n->n_out, sizeof *out);
    if (!out)
        return assay_out_of_memory(err);
    for (int i = 0; i < n->n_out; i++) {
        out[i] = assay_arena_alloc(g->arena, assay_type_bytes(&g->value[n->out[i]].type));
        if (!out[i])
            return assay_out_of_memory(err);
    }
    assay_error ignored;
    assay_status status = evaluate(g, n, out, err ? err : &ignored);
    *folded = !status;
    if (status == ASSAY_ERR_UNSUPPORTED)
        return ASSAY_OK;
    for (int i = 0; i < n->n_out && *folded; i++) {
        g->value[n->out[i]].data = out[i];
        g->value[n->out[i]].producer = -1;
    }
    return status;
}

static assay_status fold(assay_graph *g, assay_evaluate_fn evaluate, bool codes, int *changed,
                         assay_error *err)
{
    bool *dead = lower_rewrite_dead(g, 0);
    assay_status status = dead ? ASSAY_OK : assay_out_of_memory(err);
    *changed = 0;
    for (int i = 0; i < g->n_nodes && !status; i++) { /* topological: one sweep folds chains */
        if (!is_foldable(g, &g->node[i], codes))
            continue;
        status = fold_node(g, &g->node[i], evaluate, &dead[i], err);
        *changed += dead[i];
    }
    if (!status && *changed > 0)
        status = assay_graph_compact(g, dead, err);
    free(dead);
    return status;
}

assay_status lower_fold_constants(assay_graph *g, assay_evaluate_fn evaluate, int *changed,
                                  assay_error *err)
{
    return fold(g, evaluate, false, changed, err);
}

assay_status lower_fold_codes(assay_graph *g, assay_evaluate_fn evaluate, int *changed,
                              assay_error *err)
{
    return fold(g, evaluate, true, changed, err);
}
