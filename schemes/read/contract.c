/* The contract of a scheme file: what it claims to be bit-exact, and of which nodes. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/read/read.h"

static const char *const contract_keys[] = {"exact", "approximate", "not_modelled"};
#define CONTRACT_KEYS                                                                              \
    "exact_ops, exact_narrow_ops, exact_per_tensor_ops, exact_one_type_ops, exact_constant_ops, "  \
    "exact_ratios, exact_float_ops, exact, approximate, not_modelled"

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

/* The sets of ops that keys name; those that limit claims are empty where a file states claims of
 * its own without them. */
static const struct claim_key {
    const char *key;
    size_t set; /* in the data */
    bool limits;
} claim_keys[] = {
    {"exact_ops", offsetof(assay_scheme_data, exact_op), false},
    {"exact_float_ops", offsetof(assay_scheme_data, exact_float), false},
    {"exact_narrow_ops", offsetof(assay_scheme_data, exact_narrow), true},
    {"exact_per_tensor_ops", offsetof(assay_scheme_data, exact_per_tensor), true},
    {"exact_one_type_ops", offsetof(assay_scheme_data, exact_one_type), true},
    {"exact_constant_ops", offsetof(assay_scheme_data, exact_constant), true},
};
enum { CLAIM_KEYS = sizeof claim_keys / sizeof *claim_keys };

static bool *claimed_ops(const assay_reading *c, int key)
{
    return (bool *)((char *)c->data + claim_keys[key].set);
}

static int claim_key_find(const char *key)
{
    int k = 0;
    while (k < CLAIM_KEYS && strcmp(key, claim_keys[k].key) != 0)
        k++;
    return k;
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

/* What a file that states its claims does not limit is not limited, whatever it extends. */
static void drop_limits(assay_reading *c, const bool *stated, bool ratios)
{
    for (int k = 0; k < CLAIM_KEYS; k++)
        if (claim_keys[k].limits && !stated[k])
            memset(claimed_ops(c, k), 0, ASSAY_OP_COUNT * sizeof(bool));
    if (!ratios)
        memset(c->data->exact_ratio, 0, sizeof c->data->exact_ratio);
}

assay_status assay_read_contract(assay_reading *c, const assay_tree *t)
{
    bool ratios = false, stated[CLAIM_KEYS] = {false};
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t, "contract: expected " CONTRACT_KEYS);
    for (const assay_tree *i = t->child; i; i = i->next) {
        assay_status s;
        const int key = claim_key_find(i->key);
        int which = 0;
        while (which < ASSAY_CONTRACTS && strcmp(i->key, contract_keys[which]) != 0)
            which++;
        if (key < CLAIM_KEYS) {
            stated[key] = true;
            c->states_ops = c->states_ops || claimed_ops(c, key) == c->data->exact_op;
            c->states_floats = c->states_floats || claimed_ops(c, key) == c->data->exact_float;
            s = assay_read_op_set(c, i, i->key, claimed_ops(c, key));
        } else if (which < ASSAY_CONTRACTS) {
            c->states_exact = c->states_exact || which == ASSAY_CONTRACT_EXACT;
            s = set_lines(c, i, &c->data->contract[which]);
        } else if (strcmp(i->key, "exact_ratios") == 0) {
            ratios = true;
            s = read_ratios(c, i);
        } else {
            s = assay_read_fail(c, i, "unknown key; contract holds " CONTRACT_KEYS);
        }
        if (s)
            return s;
    }
    if (c->states_ops)
        drop_limits(c, stated, ratios);
    return ASSAY_OK;
}
