/* The contract of a run, in words and as JSON. */
#include "interp/golden/contract.h"

#include <string.h>

#include "interp/page/json.h"
#include "schemes/node/admit.h"

enum class { EXACT, NOT_EXACT, OUTSIDE, STEPPED, FLOAT_EXACT, FLOAT, CLASSES };
static const char *const class_key[CLASSES] = {"exact",   "not_exact",   "outside",
                                               "stepped", "float_exact", "float"};
static const char *const class_words[CLASSES] = {"bit-exact",
                                                 "not claimed bit-exact",
                                                 "outside the scheme's types, nothing claimed",
                                                 "floats in stated steps",
                                                 "in float, bit-exact",
                                                 "in float, not claimed bit-exact"};

enum { MAX_REASONS = 3 }; /* why nodes are outside, that are told */

typedef struct tally {
    int count[CLASSES][ASSAY_OP_COUNT];
    int total[CLASSES];
    char why[MAX_REASONS + 1][ASSAY_ADMIT_WHY]; /* the last one takes those that are not told */
    int n_why;
} tally;

/* Weights that are a float constant as they stand: of codes made floats a runtime may have another
 * kernel (blocks of 4 bits), and of computed ones another order. */
static bool has_plain_weights(const assay_graph *g, const assay_node *n)
{
    const assay_value *w = n->n_in > 1 ? assay_node_in(g, n, 1) : NULL;
    return w && w->data;
}

static bool converts(const assay_graph *g, int node)
{
    return node < 0 || assay_op_get(g->node[node].op)->traits & ASSAY_T_CONVERT;
}

/* Nothing but conversions, inputs and outputs of the graph around it: a neighbour that computes
 * could be fused with it by the runtime, and the two be other bits than one after the other. */
static bool stands_alone(const assay_graph *g, const assay_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && !converts(g, g->value[n->in[i]].producer))
            return false;
    for (int k = 0; k < g->n_nodes; k++)
        for (int i = 0; i < g->node[k].n_in; i++)
            for (int o = 0; o < n->n_out; o++)
                if (g->node[k].in[i] == n->out[o] && !converts(g, k))
                    return false;
    return true;
}

/* Reads what was codes and makes codes: there a runtime may round weights and a bias that are
 * floats to codes, too (ONNX Runtime's Gemm, Conv and ConvTranspose). */
static bool stands_between_codes(const assay_graph *g, const assay_node *n)
{
    const int from = assay_node_in(g, n, 0)->producer;
    if (from < 0 || g->node[from].op != ASSAY_OP_DEQUANTIZE)
        return false;
    for (int k = 0; k < g->n_nodes; k++)
        if (g->node[k].op == ASSAY_OP_QUANTIZE && g->node[k].in[0] == n->out[0])
            return true;
    return false;
}

/* Computed in integers, step by step, under a scheme of matrix units; or compared or chosen there.
 */
static bool is_stepped(const assay_program *p, const assay_node *n)
{
    return p->scheme->mac && (run_kernel_under(p->graph, n, true).needs_unit ||
                              assay_op_get(n->op)->traits & (ASSAY_T_SELECTS | ASSAY_T_COMPARE));
}

static enum class float_class(const assay_program *p, const assay_node *n) {
    const assay_graph *g = p->graph;
    const bool product = n->op == ASSAY_OP_MATMUL || n->op == ASSAY_OP_FC ||
                         n->op == ASSAY_OP_CONV || n->op == ASSAY_OP_CONV_TRANSPOSE;

    if (is_stepped(p, n)) return STEPPED;
    const assay_elem to = g->value[n->out[0]].type.elem;
    const bool to_u32 = n->op == ASSAY_OP_CAST && to.kind == ASSAY_KIND_INT && to.bits == 32 &&
                        !to.is_signed; /* beyond 32 bits it hangs on the machine */

    if (!assay_scheme_is_exact_float(p->scheme, assay_op_get(n->op)->name) || to_u32 ||
        (product && (!has_plain_weights(g, n) || stands_between_codes(g, n))) ||
        !stands_alone(g, n)) return FLOAT;
    return FLOAT_EXACT;
}

/* The bits of a node's widest activations: its first input's or its results' codes. */
static unsigned widest(const assay_graph *g, const assay_node *n)
{
    const assay_type *in = n->n_in > 0 ? &assay_node_in(g, n, 0)->type : NULL;
    unsigned bits = in && assay_is_quantized(in) ? in->elem.bits : 0;
    for (int i = 0; i < n->n_out; i++) {
        const assay_type *out = &g->value[n->out[i]].type;
        if (assay_is_quantized(out) && out->elem.bits > bits)
            bits = out->elem.bits;
    }
    return bits;
}

/* Whether an operand has several scales. */
static bool by_channel(const assay_graph *g, const assay_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && assay_node_in(g, n, i)->type.q.granularity > ASSAY_Q_TENSOR)
            return true;
    return false;
}

static bool is_exact(const assay_program *p, const assay_node *n)
{
    const char *op = assay_op_get(n->op)->name;
    const unsigned bits = widest(p->graph, n);

    if (!assay_scheme_claims_types(p->scheme, p->graph, n))
        return false;
    return by_channel(p->graph, n) ? assay_scheme_is_exact_by_channel(p->scheme, op, bits)
                                   : assay_scheme_is_exact(p->scheme, op, bits);
}

/* Of the program and the bodies of its control flow. */
static void count_nodes(const assay_program *p, tally *t)
{
    for (int i = 0; i < p->graph->n_subgraphs; i++)
        count_nodes(p->body[i], t);
    for (int i = 0; i < p->graph->n_nodes; i++) {
        const assay_node *n = &p->graph->node[i];
        const bool moves = assay_op_get(n->op)->traits & ASSAY_T_MOVE || n->op == ASSAY_OP_PATCHES;
        if (assay_op_get(n->op)->traits & ASSAY_T_FLOW)
            continue;
        enum class c = float_class(p, n);
        if (assay_node_is_quantized(p->graph, n) && c != STEPPED)
            c = is_exact(p, n) ? EXACT : NOT_EXACT;
        if (moves && c >= FLOAT_EXACT)
            continue; /* copies: nothing is computed */
        if (c != FLOAT &&
            !assay_scheme_admits(p->scheme, p->graph, n, t->why[t->n_why], sizeof t->why[0])) {
            c = OUTSIDE;
            t->n_why += t->n_why < MAX_REASONS;
        }
        t->count[c][n->op]++;
        t->total[c]++;
    }
}

void golden_contract_print(const assay_program *p, FILE *f)
{
    static const enum assay_contract others[] = {ASSAY_CONTRACT_APPROXIMATE,
                                                 ASSAY_CONTRACT_UNMODELLED};
    tally t = {0};

    if (!p->scheme)
        return;
    count_nodes(p, &t);
    if (p->graph->quantized_for)
        fprintf(f, "quantized for %s\n", p->graph->quantized_for);
    fprintf(f, "contract of %s:", p->scheme->name);
    for (int c = 0, told = 0; c < CLASSES; c++) {
        if (!t.total[c])
            continue;
        fprintf(f, "%s %s", told++ ? ";" : "", class_words[c]);
        for (int op = 0; op < ASSAY_OP_COUNT; op++)
            if (t.count[c][op])
                fprintf(f, " %s %d", assay_op_get((assay_op)op)->name, t.count[c][op]);
    }
    fputc('\n', f);
    for (int i = 0; i < t.n_why; i++)
        fprintf(f, "  outside: %s\n", t.why[i]);
    if (t.total[OUTSIDE] > t.n_why)
        fprintf(f, "  outside: ... and %d more nodes\n", t.total[OUTSIDE] - t.n_why);
    for (int k = 0; k < 2 && t.total[NOT_EXACT]; k++) {
        const char *words = assay_scheme_contract(p->scheme, others[k]);
        while (words && *words) {
            const size_t n = strcspn(words, "\n");
            fprintf(f, "  %s: %.*s\n", k ? "not modelled" : "approximate", (int)n, words);
            words += n + (words[n] == '\n');
        }
    }
}

json_t *golden_contract_json(const assay_program *p)
{
    static const char *const words_key[] = {"exact", "approximate", "not_modelled"};
    json_t *o, *words;
    tally t = {0};

    if (!p->scheme)
        return NULL;
    count_nodes(p, &t);
    o = json_object();
    for (int c = 0; c < CLASSES; c++) {
        if (c == STEPPED && !p->scheme->mac)
            continue;
        json_t *ops = json_object();
        for (int op = 0; op < ASSAY_OP_COUNT; op++)
            if (t.count[c][op])
                page_json_set(&ops, assay_op_get((assay_op)op)->name, json_integer(t.count[c][op]));
        page_json_set(&o, class_key[c], ops);
    }
    if (p->graph->quantized_for)
        page_json_set(&o, "quantized_for", page_json_text(p->graph->quantized_for));
    words = json_object();
    for (int k = 0; k < 3; k++) {
        const char *text = assay_scheme_contract(p->scheme, (enum assay_contract)k);
        if (text)
            page_json_set(&words, words_key[k], page_json_text(text));
    }
    page_json_set(&o, "words", words);
    if (t.total[OUTSIDE]) {
        json_t *why = json_array();
        for (int i = 0; i < t.n_why; i++)
            page_json_add(&why, page_json_text(t.why[i]));
        page_json_set(&o, "outside_why", why);
    }
    return o;
}
