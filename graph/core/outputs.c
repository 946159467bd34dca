/* Names of outputs here and in files; see outputs.h. */
#include "graph/core/outputs.h"
#include "graph/core/names.h"
#include "graph/memory.h"

#include <string.h>

static bool is_listed(const int *list, int n, int value)
{
    for (int i = 0; i < n; ++i)
        if (list[i] == value)
            return true;
    return false;
}

static const assay_node *producer_of(const assay_graph *g, int value)
{
    const int at = g->value[value].producer;
    return at >= 0 ? &g->node[at] : NULL;
}

/* The codes whose floats a value is, in whichever layout, or -1: none, or codes that have a name of
 * their own. */
static int codes_of(const assay_graph *g, int value)
{
    const assay_node *n = producer_of(g, value);
    while (n && n->op == ASSAY_OP_TRANSPOSE)
        n = producer_of(g, n->in[0]);
    if (!n || n->op != ASSAY_OP_DEQUANTIZE)
        return -1;
    const assay_value *codes = &g->value[n->in[0]];
    const bool own = codes->producer < 0 || is_listed(g->input, g->n_inputs, n->in[0]) ||
                     is_listed(g->output, g->n_outputs, n->in[0]);
    return own ? -1 : n->in[0];
}

/* Whether a name is another one with a suffix, once or repeatedly. */
static bool extends(const char *name, const char *other, const char *suffix)
{
    const size_t n = strlen(other), m = strlen(suffix);
    if (strncmp(name, other, n) != 0 || !name[n])
        return false;
    for (name += n; strncmp(name, suffix, m) == 0;)
        name += m;
    return !*name;
}

/* name + suffix in the graph's arena; NULL: out of memory. */
static char *extended(assay_graph *g, const char *name, const char *suffix)
{
    const size_t n = strlen(name), m = strlen(suffix) + 1;
    char *text = assay_arena_alloc(g->arena, n + m);
    if (text) {
        memcpy(text, name, n);
        memcpy(text + n, suffix, m);
    }
    return text;
}

/* The same with the suffix as often as it takes to be no value's name. */
static char *free_name(assay_graph *g, const char *name, const char *suffix)
{
    char *text = extended(g, name, suffix);
    while (text && assay_graph_find_value(g, text) >= 0)
        text = extended(g, text, suffix);
    return text;
}

bool assay_outputs_differ(const assay_graph *g)
{
    for (int i = 0; i < g->n_outputs; ++i) {
        const int codes = codes_of(g, g->output[i]);
        if (codes >= 0 &&
            extends(g->value[g->output[i]].name, g->value[codes].name, ASSAY_OUTPUT_FLOATS))
            return true;
    }
    return false;
}

/* Names a value, and the node that makes it where that was called the same. */
static void rename_value(assay_graph *g, int value, const char *name)
{
    assay_node *n = &g->node[g->value[value].producer];
    if (strcmp(n->name, g->value[value].name) == 0)
        n->name = name;
    g->value[value].name = name;
}

/* The name of `shorter` goes to `longer`; `shorter` is called so with the suffix `to`. */
static assay_status exchange(assay_graph *g, int shorter, int longer, const char *to,
                             assay_error *err)
{
    const char *name = g->value[shorter].name;
    const char *other = free_name(g, name, to);
    if (!other)
        return assay_out_of_memory(err);
    rename_value(g, longer, name);
    rename_value(g, shorter, other);
    return assay_names_rebuild(g, err);
}

/* Gives each output and its codes the names of files, or those that they have here. */
static assay_status exchange_all(assay_graph *g, bool for_file, assay_error *err)
{
    const char *from = for_file ? ASSAY_OUTPUT_FLOATS : ASSAY_OUTPUT_CODES,
               *to = for_file ? ASSAY_OUTPUT_CODES : ASSAY_OUTPUT_FLOATS;
    assay_status s = ASSAY_OK;
    for (int i = 0; i < g->n_outputs && !s; ++i) {
        const int out = g->output[i], codes = codes_of(g, out);
        const int shorter = for_file ? codes : out, longer = for_file ? out : codes;
        if (codes >= 0 && extends(g->value[longer].name, g->value[shorter].name, from))
            s = exchange(g, shorter, longer, to, err);
    }
    return s;
}

assay_status assay_outputs_for_file(assay_graph *g, assay_error *err)
{
    return exchange_all(g, true, err);
}

assay_status assay_outputs_from_file(assay_graph *g, assay_error *err)
{
    return exchange_all(g, false, err);
}
