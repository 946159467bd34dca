/* Target files: from a tree to rules, with every complaint at its line and column. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/slurp.h"
#include "graph/memory.h"
#include "opt/target/target.h"
#include "schemes/record/guess.h"
#include "schemes/record/tree.h"

typedef struct context {
    const char *file;
    assay_target *target;
    assay_error *err;
} context;

static assay_status fail_at(const context *c, const assay_tree *t, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static assay_status fail_at(const context *c, const assay_tree *t, const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return assay_fail(c->err, ASSAY_ERR_INPUT, "%.200s:%u:%u: %s", c->file, t->line, t->column,
                      text);
}

/* A scalar that is one of two words: false or true. */
static assay_status read_word(const context *c, const assay_tree *t, const char *no,
                              const char *yes, bool *out)
{
    if (t->kind != ASSAY_TREE_SCALAR || (strcmp(t->text, no) != 0 && strcmp(t->text, yes) != 0))
        return fail_at(c, t, "%s: expected %s or %s", t->key, no, yes);
    *out = strcmp(t->text, yes) == 0;
    return ASSAY_OK;
}

/* types: [i8, i16, f32]; floats are always possible and may be listed. */
static assay_status read_types(const context *c, const assay_tree *t, assay_target_rule *r)
{
    bool has_float = false;
    assay_error ignored;
    if (t->kind != ASSAY_TREE_LIST || !t->child)
        return fail_at(c, t, "types: expected a list such as [i8, i16] or [f32]");
    for (const assay_tree *i = t->child; i; i = i->next) {
        assay_elem elem;
        if (i->kind != ASSAY_TREE_SCALAR || assay_elem_parse(i->text, &elem, &ignored))
            return fail_at(c, i, "types: expected f32 or an integer kind such as i8, found '%.40s'",
                           i->kind == ASSAY_TREE_SCALAR ? i->text : "a list or map");
        bool is_float = elem.kind == ASSAY_KIND_F32;
        if (!is_float && (elem.kind != ASSAY_KIND_INT || elem.bits < 2 || elem.bits > 16))
            return fail_at(c, i, "types: an activation has 2 to 16 bits or is f32, not '%.40s'",
                           i->text);
        if (is_float ? has_float : target_has_type(r, elem))
            return fail_at(c, i, "types: '%.40s' occurs twice", i->text);
        if (!is_float && r->n_types == ASSAY_TARGET_TYPES)
            return fail_at(c, i, "types: more than %d entries", ASSAY_TARGET_TYPES);
        has_float |= is_float;
        if (!is_float)
            r->type[r->n_types++] = elem;
    }
    return ASSAY_OK;
}

static assay_status read_weights(const context *c, const assay_tree *t, assay_target_rule *r)
{
    const char *text = t->kind == ASSAY_TREE_SCALAR ? t->text : "";
    r->per_tensor = strcmp(text, "per-tensor") == 0;
    r->per_channel = strcmp(text, "per-channel") == 0;
    if (!r->per_tensor && !r->per_channel && strcmp(text, "any") != 0)
        return fail_at(c, t, "weights: expected per-tensor, per-channel or any");
    return ASSAY_OK;
}

static assay_status read_key(const context *c, const assay_tree *t, assay_target_rule *r)
{
    if (strcmp(t->key, "types") == 0)
        return read_types(c, t, r);
    if (strcmp(t->key, "weights") == 0)
        return read_weights(c, t, r);
    if (strcmp(t->key, "parameters") == 0)
        return read_word(c, t, "any", "same", &r->same_params);
    if (strcmp(t->key, "scales") == 0)
        return read_word(c, t, "any", "power-of-two", &r->power_of_two);
    if (strcmp(t->key, "zero_point") == 0)
        return read_word(c, t, "any", "none", &r->zero_offset);
    return fail_at(c, t,
                   "unknown key '%.40s'; an op has types, weights, parameters, scales, zero_point",
                   t->key);
}

/* What cannot be meant together. traits: of the op, all for `others`. */
static assay_status check_rule(const context *c, const assay_tree *t, const assay_target_rule *r,
                               uint32_t traits)
{
    const assay_tree *weights = assay_tree_get(t, "weights");
    const assay_tree *same = assay_tree_get(t, "parameters"),
                     *zero = assay_tree_get(t, "zero_point");
    char elem[8];
    if (!assay_tree_get(t, "types"))
        return fail_at(c, t, "the key \"types\" is missing");
    for (const assay_tree *i = t->child; i && r->n_types == 0; i = i->next)
        if (strcmp(i->key, "types") != 0)
            return fail_at(c, i, "%s: contradicts types, which holds no integer kind", i->key);
    if (weights && !(traits & ASSAY_T_WEIGHTED))
        return fail_at(c, weights, "weights: the op has none");
    if (r->same_params && (traits & ASSAY_T_CONVERT) && !(traits & ASSAY_T_WEIGHTED))
        return fail_at(c, same, "parameters: same contradicts the op, which exists to change them");
    for (int i = 0; i < r->n_types; i++)
        if (r->zero_offset && !r->type[i].is_signed)
            return fail_at(
                c, zero,
                "zero_point: none contradicts %s in types: without a zero point it has no "
                "code for a negative value",
                assay_elem_print(r->type[i], elem));
    return ASSAY_OK;
}

static assay_status read_rule(const context *c, const assay_tree *t, uint32_t traits,
                              assay_target_rule *r)
{
    assay_status status = ASSAY_OK;
    if (t->kind != ASSAY_TREE_MAP)
        return fail_at(c, t, "expected a map such as {types: [i8]}");
    for (const assay_tree *i = t->child; i && !status; i = i->next)
        status = read_key(c, i, r);
    return status ? status : check_rule(c, t, r, traits);
}

static assay_status unknown_op(const context *c, const assay_tree *t)
{
    assay_guess g = ASSAY_GUESS(t->key);
    char words[ASSAY_GUESS_WORDS];
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        assay_guess_consider(&g, assay_op_get((assay_op)op)->name);
    return fail_at(c, t, "unknown op '%.40s'%s", t->key, assay_guess_words(&g, words));
}

static assay_status read_ops(const context *c, const assay_tree *t)
{
    assay_status status = ASSAY_OK;
    if (t->kind != ASSAY_TREE_MAP)
        return fail_at(c, t, "ops: expected op names with a map under each");
    for (const assay_tree *i = t->child; i && !status; i = i->next) {
        assay_op op = assay_op_find(i->key);
        if (op == ASSAY_OP_COUNT)
            return unknown_op(c, i);
        c->target->op[op].stated = true;
        status = read_rule(c, i, assay_op_get(op)->traits, &c->target->op[op]);
    }
    return status;
}

/* What one word of `prefer` asks for. */
static assay_status read_preference(const context *c, const assay_tree *t)
{
    static const struct {
        const char *key, *word;
        uint32_t preference;
    } words[] = {
        {"products", "conv", ASSAY_PREFER_CONV},     {"products", "fc", ASSAY_PREFER_FC},
        {"products", "matmul", ASSAY_PREFER_MATMUL}, {"layout", "nhwc", ASSAY_PREFER_NHWC},
        {"layout", "nchw", ASSAY_PREFER_NCHW},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(t->key, words[i].key) == 0 && t->kind == ASSAY_TREE_SCALAR &&
            strcmp(t->text, words[i].word) == 0) {
            c->target->preference |= words[i].preference;
            return ASSAY_OK;
        }
    if (strcmp(t->key, "products") == 0)
        return fail_at(c, t, "products: expected conv, fc or matmul");
    if (strcmp(t->key, "layout") == 0)
        return fail_at(c, t, "layout: expected nhwc or nchw");
    return fail_at(c, t, "unknown key '%.40s'; prefer has products, layout", t->key);
}

static assay_status read_preferences(const context *c, const assay_tree *t)
{
    assay_status status = ASSAY_OK;
    if (t->kind != ASSAY_TREE_MAP)
        return fail_at(c, t, "prefer: expected a map such as {products: conv, layout: nhwc}");
    for (const assay_tree *i = t->child; i && !status; i = i->next)
        status = read_preference(c, i);
    return status;
}

/* What is preferred must be offered in integers. */
static assay_status check_preference(const context *c, const assay_tree *t)
{
    static const struct {
        uint32_t preference;
        assay_op op;
    } needs[] = {{ASSAY_PREFER_CONV, ASSAY_OP_CONV},
                 {ASSAY_PREFER_FC, ASSAY_OP_FC},
                 {ASSAY_PREFER_MATMUL, ASSAY_OP_MATMUL}};
    const assay_tree *prefer = assay_tree_get(t, "prefer");
    for (size_t i = 0; prefer && i < sizeof needs / sizeof *needs; i++)
        if (c->target->preference & needs[i].preference &&
            target_rule_of(c->target, needs[i].op)->n_types == 0)
            return fail_at(c, prefer, "prefer: products: %s contradicts ops, where it is in float",
                           assay_op_get(needs[i].op)->name);
    return ASSAY_OK;
}

static assay_status read_name(const context *c, const assay_tree *t)
{
    if (t->kind != ASSAY_TREE_SCALAR || !*t->text || strlen(t->text) > 63 ||
        strpbrk(t->text, "\n\r\t'\""))
        return fail_at(c, t, "target: expected a name of 1 to 63 characters");
    c->target->name = strdup(t->text);
    return c->target->name ? ASSAY_OK : assay_out_of_memory(c->err);
}

static assay_status read_target(const context *c, const assay_tree *t)
{
    assay_status status = ASSAY_OK;
    if (t->kind != ASSAY_TREE_MAP)
        return fail_at(c, t, "a target file is a map of keys");
    for (const assay_tree *i = t->child; i && !status; i = i->next) {
        if (strcmp(i->key, "target") == 0)
            status = read_name(c, i);
        else if (strcmp(i->key, "ops") == 0)
            status = read_ops(c, i);
        else if (strcmp(i->key, "others") == 0)
            status = read_rule(c, i, UINT32_MAX, &c->target->others);
        else if (strcmp(i->key, "prefer") == 0)
            status = read_preferences(c, i);
        else
            status = fail_at(
                c, i, "unknown key '%.40s'; a target file has target, ops, others, prefer", i->key);
    }
    if (!status && !c->target->name)
        status = fail_at(c, t, "the key \"target\" (its name) is missing");
    if (!status && !assay_tree_get(t, "ops") && !assay_tree_get(t, "others"))
        status = fail_at(c, t, "no ops: nothing would run on this target");
    return status ? status : check_preference(c, t);
}

assay_status target_parse(const char *file, const char *text, size_t length, assay_target **out,
                          assay_error *err)
{
    assay_tree *tree;
    assay_status status = assay_tree_parse(file, text, length, &tree, err);
    *out = NULL;
    if (status)
        return status;
    context c = {file, calloc(1, sizeof *c.target), err};
    status = c.target ? read_target(&c, tree) : assay_out_of_memory(err);
    assay_tree_free(tree);
    if (status)
        target_free(c.target);
    else
        *out = c.target;
    return status;
}

assay_status target_read(const char *path, assay_target **out, assay_error *err)
{
    unsigned char *text;
    size_t length;
    *out = NULL;
    assay_status status = assay_slurp(path, &text, &length, err);
    if (status)
        return status;
    status = target_parse(path, (const char *)text, length, out, err);
    free(text);
    return status;
}
