/* The contract of a run, in words and as JSON. */
#include "interp/golden/contract.h"

#include <string.h>

enum class { EXACT, NOT_EXACT, FLOAT_EXACT, FLOAT, CLASSES };
static const char *const class_key[CLASSES] = {"exact", "not_exact", "float_exact", "float"};
static const char *const class_words[CLASSES] = {
    "bit-exact", "not claimed bit-exact", "in float, bit-exact", "in float, not claimed bit-exact"};

typedef struct tally {
    int count[CLASSES][ASSAY_OP_COUNT];
    int total[CLASSES];
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

static enum class float_class(const assay_program *p, const assay_node *n) {
    const assay_graph *g = p->graph;
    const bool product = n->op == ASSAY_OP_MATMUL || n->op == ASSAY_OP_FC ||
                         n->op == ASSAY_OP_CONV || n->op == ASSAY_OP_CONV_TRANSPOSE;

    if (!assay_scheme_is_exact_float(p->scheme, assay_op_get(n->op)->name) ||
        (product && !has_plain_weights(g, n)) || !stands_alone(g, n)) return FLOAT;
    return FLOAT_EXACT;
}

/* Of the program and the bodies of its control flow. */
static void count_nodes(const assay_program *p, tally *t)
{
    for (int i = 0; i < p->graph->n_subgraphs; i++)
        count_nodes(p->body[i], t);
    for (int i = 0; i < p->graph->n_nodes; i++) {
        const assay_node *n = &p->graph->node[i];
        const bool moves = assay_op_get(n->op)->traits & ASSAY_T_MOVE;
        if (assay_op_get(n->op)->traits & ASSAY_T_FLOW)
            continue;
        enum class c = float_class(p, n);
        if (assay_node_is_quantized(p->graph, n))
            c = assay_scheme_is_exact(p->scheme, assay_op_get(n->op)->name) ? EXACT : NOT_EXACT;
        if (moves && c >= FLOAT_EXACT)
            continue; /* copies: nothing is computed */
        t->count[c][n->op]++;
        t->total[c]++;
    }
}

void assay_contract_print(const assay_program *p, FILE *f)
{
    static const enum assay_contract others[] = {ASSAY_CONTRACT_APPROXIMATE,
                                                 ASSAY_CONTRACT_UNMODELLED};
    tally t = {0};

    if (!p->scheme)
        return;
    count_nodes(p, &t);
    fprintf(f, "contract of %s:", p->scheme->name);
    for (int c = 0; c < CLASSES; c++) {
        if (!t.total[c])
            continue;
        fprintf(f, "%s %s", c ? ";" : "", class_words[c]);
        for (int op = 0; op < ASSAY_OP_COUNT; op++)
            if (t.count[c][op])
                fprintf(f, " %s %d", assay_op_get((assay_op)op)->name, t.count[c][op]);
    }
    fputc('\n', f);
    for (int k = 0; k < 2 && t.total[NOT_EXACT]; k++) {
        const char *words = assay_scheme_contract(p->scheme, others[k]);
        while (words && *words) {
            const size_t n = strcspn(words, "\n");
            fprintf(f, "  %s: %.*s\n", k ? "not modelled" : "approximate", (int)n, words);
            words += n + (words[n] == '\n');
        }
    }
}

json_t *assay_contract_json(const assay_program *p)
{
    static const char *const words_key[] = {"exact", "approximate", "not_modelled"};
    json_t *o, *words;
    tally t = {0};

    if (!p->scheme)
        return NULL;
    count_nodes(p, &t);
    o = json_object();
    for (int c = 0; c < CLASSES; c++) {
        json_t *ops = json_object();
        for (int op = 0; op < ASSAY_OP_COUNT; op++)
            if (t.count[c][op])
                json_object_set_new(ops, assay_op_get((assay_op)op)->name,
                                    json_integer(t.count[c][op]));
        json_object_set_new(o, class_key[c], ops);
    }
    words = json_object();
    for (int k = 0; k < 3; k++) {
        const char *text = assay_scheme_contract(p->scheme, (enum assay_contract)k);
        if (text)
            json_object_set_new(words, words_key[k], json_string(text));
    }
    json_object_set_new(o, "words", words);
    return o;
}
