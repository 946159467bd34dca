/* The contract of a run, in words and as JSON. */
#include "interp/golden/contract.h"

#include <string.h>

enum class { EXACT, NOT_EXACT, FLOAT, CLASSES };
static const char *const class_key[CLASSES] = {"exact", "not_exact", "float"};
static const char *const class_words[CLASSES] = {"bit-exact", "not claimed bit-exact", "in float"};

typedef struct tally {
    int count[CLASSES][ASSAY_OP_COUNT];
    int total[CLASSES];
} tally;

/* Of the program and the bodies of its control flow. */
static void count_nodes(const assay_program *p, tally *t)
{
    for (int i = 0; i < p->graph->n_subgraphs; i++)
        count_nodes(p->body[i], t);
    for (int i = 0; i < p->graph->n_nodes; i++) {
        const assay_node *n = &p->graph->node[i];
        const bool moves = assay_op_get(n->op)->traits & ASSAY_T_MOVE;
        enum class c = FLOAT;
        if (assay_op_get(n->op)->traits & ASSAY_T_FLOW)
            continue;
        if (assay_node_is_quantized(p->graph, n))
            c = assay_scheme_is_exact(p->scheme, assay_op_get(n->op)->name) ? EXACT : NOT_EXACT;
        if (moves && c == FLOAT)
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
