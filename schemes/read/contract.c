/* The contract of a scheme file: what it claims to be bit-exact, and of which nodes. */
#include <stdlib.h>
#include <string.h>

#include "schemes/read/read.h"

static const char *const contract_keys[] = {"exact", "approximate", "not_modelled"};
#define CONTRACT_KEYS                                                                              \
    "exact_ops, exact_narrow_ops, exact_per_tensor_ops, exact_one_type_ops, exact_ratios, "        \
    "exact_float_ops, exact, approximate, not_modelled"

/* A list of sentences, or one, joined by newlines. */
static assay_status set_lines(const assay_reading *c, const assay_tree *t, char **out)
{
    if (t->kind == ASSAY_TREE_SCALAR)
        return assay_read_text(c, t, out);
    size_t size = 1;
    for (const assay_tree *i = t->child; i; i = i->next) {
        if (t->kind != ASSAY_TREE_LIST || i->kind != ASSAY_TREE_SCALAR)
            return assay_read_fail(c, i, "expected a list of texts");
        size += strlen(i->text) + 1;
    }
    char *text = calloc(1, size);
    if (!text)
        return assay_read_no_memory(c);
    for (const assay_tree *i = t->child; i; i = i->next) {
        strcat(text, i->text);
        if (i->next)
            strcat(text, "\n");
    }
    free(*out);
    *out = text;
    return ASSAY_OK;
}

/* The set of ops that a key of the contract names, or NULL. */
static bool *claimed_ops(const assay_reading *c, const char *key)
{
    return strcmp(key, "exact_ops") == 0              ? c->data->exact_op
           : strcmp(key, "exact_float_ops") == 0      ? c->data->exact_float
           : strcmp(key, "exact_narrow_ops") == 0     ? c->data->exact_narrow
           : strcmp(key, "exact_per_tensor_ops") == 0 ? c->data->exact_per_tensor
           : strcmp(key, "exact_one_type_ops") == 0   ? c->data->exact_one_type
                                                      : NULL;
}

/* `exact_ratios: {OP: [FROM, TO]}`: powers of two. */
static assay_status read_ratios(const assay_reading *c, const assay_tree *t)
{
    enum { MOST = 126 };
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t, "exact_ratios: expected ops, each with [FROM, TO]");
    memset(c->data->exact_ratio, 0, sizeof c->data->exact_ratio);
    for (const assay_tree *i = t->child; i; i = i->next) {
        int64_t *v = NULL;
        size_t n = 0;
        assay_status s = assay_read_op(c, i, i->key, false);
        if (!s)
            s = assay_read_numbers(c, i, &v, &n);
        if (!s && (n != 2 || v[0] < -MOST || v[0] >= v[1] || v[1] > MOST))
            s = assay_read_fail(c, i, "expected two powers of two, from -126 to 126");
        if (!s)
            c->data->exact_ratio[assay_op_find(i->key)] =
                (assay_ratios){true, (int)v[0], (int)v[1]};
        free(v);
        if (s)
            return s;
    }
    return ASSAY_OK;
}

assay_status assay_read_contract(assay_reading *c, const assay_tree *t)
{
    bool narrow = false, per_tensor = false, one_type = false, ratios = false;
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t, "contract: expected " CONTRACT_KEYS);
    for (const assay_tree *i = t->child; i; i = i->next) {
        int which = 0;
        while (which < ASSAY_CONTRACTS && strcmp(i->key, contract_keys[which]) != 0)
            which++;
        if (strcmp(i->key, "exact_ratios") == 0) {
            ratios = true;
            assay_status s = read_ratios(c, i);
            if (s)
                return s;
            continue;
        }
        bool *ops = claimed_ops(c, i->key);
        c->states_ops = c->states_ops || ops == c->data->exact_op;
        c->states_exact = c->states_exact || which == ASSAY_CONTRACT_EXACT;
        c->states_floats = c->states_floats || ops == c->data->exact_float;
        narrow = narrow || ops == c->data->exact_narrow;
        per_tensor = per_tensor || ops == c->data->exact_per_tensor;
        one_type = one_type || ops == c->data->exact_one_type;
        if (which == ASSAY_CONTRACTS && !ops)
            return assay_read_fail(c, i, "unknown key; contract holds " CONTRACT_KEYS);
        assay_status s =
            ops ? assay_read_op_set(c, i, i->key, ops) : set_lines(c, i, &c->data->contract[which]);
        if (s)
            return s;
    }
    if (c->states_ops && !narrow) /* its own claims are of every width */
        memset(c->data->exact_narrow, 0, sizeof c->data->exact_narrow);
    if (c->states_ops && !per_tensor) /* ... and every granularity */
        memset(c->data->exact_per_tensor, 0, sizeof c->data->exact_per_tensor);
    if (c->states_ops && !one_type)
        memset(c->data->exact_one_type, 0, sizeof c->data->exact_one_type);
    if (c->states_ops && !ratios)
        memset(c->data->exact_ratio, 0, sizeof c->data->exact_ratio);
    return ASSAY_OK;
}
