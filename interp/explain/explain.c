/* The steps of one element, by the row function that gave it. */
#include "interp/explain/forms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/explain/watching.h"
#include "schemes/apply/apply.h"

/* ---- by row function ---- */

typedef struct work {
    explain_trace *t;
    const assay_program *p;
    int node;
    const assay_unit
        *u;             /* NULL where the scheme is no record: a plugin keeps its steps to itself */
    const char *honest; /* what is said where none were told */
    const explain_seen *s;
} work;

static int64_t zero_of(const work *k, int i)
{
    const assay_value *v = assay_node_in(k->p->graph, &k->p->graph->node[k->node], i);
    return v && v->type.q.zero_point && v->type.q.count > 0 ? v->type.q.zero_point[0] : 0;
}

/* The rescales that were made; whether the last one gives the element's code. */
static bool say_rescales(const work *k)
{
    const explain_seen *s = k->s;
    static const char *const which[] = {"rescale of the first", "rescale of the second",
                                        "rescale of the result"};
    for (int i = 0; i < s->n_rescales; i++) {
        const explain_rescale *r = &s->rescale[i];
        if (s->n_rescales > 1)
            explain_say(k->t, which[r->r - k->u->scale], " ");
        explain_say_rescale(k->t, k->u, r);
    }
    return s->n_rescales > 0 &&
           apply_rescale_one(s->rescale[s->n_rescales - 1].r, s->rescale[s->n_rescales - 1].acc,
                             s->rescale[s->n_rescales - 1].channel) == s->value;
}

/* What the row function told of its own steps, with the rescales among them; false: nothing. */
static bool say_own(const work *k)
{
    const explain_trace *told = &k->s->told;
    if (k->s->n_own == 0)
        return false;
    for (int i = 0; i < told->n; i++)
        explain_add(k->t, strdup(told->step[i].name), strdup(told->step[i].text));
    if (!k->t->is_float)
        explain_say_code(k->t, k->s->value);
    k->t->honest = NULL;
    return true;
}

static bool is_by_table(const work *k)
{
    return k->u && k->u->unary == apply_table;
}

/* What the scheme tells of its making, with the function's formula. */
static void say_entry(const work *k, int64_t entry)
{
    const char *formula = explain_table_formula(k->u);
    if (formula)
        explain_say(k->t, "formula", "%s", formula);
    explain_table_entry(k->t, k->p, k->node, entry);
}

static void say_table(const work *k)
{
    const assay_unit *u = k->u;
    const int64_t x = k->s->in[0];
    say_entry(k, x - u->table_min);
    explain_say(k->t, "table entry", "%" PRId64 " (code %" PRId64 "): %" PRId64, x - u->table_min,
                x, u->table[x - u->table_min]);
}

static void say_unary(const work *k)
{
    explain_say(k->t, "input", "%d, zero point %" PRId64, k->s->in[0], zero_of(k, 0));
    if (is_by_table(k)) {
        say_table(k);
        return;
    }
    if (k->u && k->u->unary == apply_table513)
        say_entry(k, 256 + apply_shift_right(k->s->in[0], 7));
    if (!say_own(k) && !say_rescales(k))
        k->t->honest = k->honest;
}

static void say_binary(const work *k)
{
    explain_say(k->t, "first input", "%d, zero point %" PRId64, k->s->in[0], zero_of(k, 0));
    explain_say(k->t, "second input", "%d, zero point %" PRId64, k->s->in[1], zero_of(k, 1));
    if (!say_own(k) && !say_rescales(k))
        k->t->honest = k->honest;
}

static void say_pool(const work *k)
{
    const explain_seen *s = k->s;
    const int64_t zero = zero_of(k, 0);
    explain_say(k->t, "sum of codes", "%" PRId64 ", of %d cells", s->acc, s->count);
    explain_say(k->t, "minus zero points", "%" PRId64 " - %d * %" PRId64 " = %" PRId64, s->acc,
                s->count, zero, s->acc - s->count * zero);
    if (s->count > 0)
        explain_say(k->t, "their mean", "%.9g; with the zero point in it %.9g",
                    (double)(s->acc - s->count * zero) / s->count, (double)s->acc / s->count);
    if (!say_own(k) && !say_rescales(k))
        k->t->honest = k->honest;
}

/* A row of codes, of a long one what lies around the element. */
static void say_row(const work *k, const char *name)
{
    const explain_seen *s = k->s;
    const size_t first = s->at > 16 ? s->at - 16 : 0;
    char text[400] = "";
    size_t used = 0, i;
    for (i = first; i < s->n_row && i < first + 33 && used + 16 < sizeof text; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%d", used ? " " : "", s->row[i]);
    explain_say(k->t, name, "%s%s%s (%zu codes; number %zu)", first > 0 ? "... " : "", text,
                i < s->n_row ? " ..." : "", s->n_row, s->at);
    if (!say_own(k))
        k->t->honest = k->honest;
}

static void say_sums(const work *k, int64_t element)
{
    const explain_seen *s = k->s;
    const explain_rescale r = {
        .r = k->u ? &k->u->scale[ASSAY_OUT] : NULL, .acc = s->acc, .channel = s->channel};
    explain_sums(k->t, k->p, k->node, element, s);
    if (k->u && s->n_rescales == 1) {
        explain_say_rescale(k->t, k->u, &r);
        return;
    }
    explain_say(k->t, "accumulator", "%" PRId64, s->acc);
    k->t->honest = k->honest;
}

static void say_conversion(const work *k)
{
    const explain_seen *s = k->s;
    float f;
    memcpy(&f, &s->bits, sizeof f);
    if (s->kind == EXPLAIN_QUANTIZE)
        explain_say(k->t, "float", "%.9g (0x%08" PRIx32 ")", (double)f, s->bits);
    else
        explain_say(k->t, "code", "%d", s->in[0]);
    const assay_node *n = &k->p->graph->node[k->node];
    const assay_type *t = s->kind == EXPLAIN_QUANTIZE ? &assay_node_out(k->p->graph, n, 0)->type
                                                      : &assay_node_in(k->p->graph, n, 0)->type;
    const size_t c = t->q.count > 1 && s->channel < t->q.count ? s->channel : 0;
    if (t->q.count > 0)
        explain_say(k->t, "parameters", "scale %.9g, zero point %d", (double)t->q.scale[c],
                    t->q.zero_point[c]);
    if (!say_own(k))
        k->t->honest = k->honest;
}

/* The words for what no function told. */
static const char *silence_of(const assay_scheme *s)
{
    return !s || s->record || s->mac
               ? "the op's own steps are not shown: one row function gives its code"
               : "a plugin keeps the steps of its functions to itself";
}

static void say_moved(const work *k, const void *const *in, int64_t element)
{
    const assay_graph *g = k->p->graph;
    const assay_node *n = &g->node[k->node];
    char place[96];
    int input;
    int64_t at;
    if (say_own(k))
        return;
    if (n->op == ASSAY_OP_MAX_POOL)
        explain_window(k->t, g, n, in[0], element);
    if (explain_source(k->p, k->node, in, element, &input, &at))
        explain_say(k->t, "copied from", "%s%s", assay_node_in(g, n, input)->name,
                    explain_place(&assay_node_in(g, n, input)->type, at, place, sizeof place));
    else if (!k->p->unit[k->node] && explain_float_form(k->t, g, n, in, element))
        return;
    else if (k->p->unit[k->node])
        k->t->honest = k->honest;
    else
        k->t->honest = k->t->is_float ? "computed in floats: there are no integer steps"
                                      : "the op's steps are not shown";
}

/* ---- all of it ---- */

static void say_all(const work *k, const void *const *in, int64_t element)
{
    if (run_vtable_of(k->p, k->node) && run_vtable_of(k->p, k->node)->dot && say_own(k))
        return;
    switch (k->s->kind) {
    case EXPLAIN_REQUANTIZE:
        say_sums(k, element);
        break;
    case EXPLAIN_POOL:
        say_pool(k);
        break;
    case EXPLAIN_WINDOW:
        say_row(k, "codes of the window");
        break;
    case EXPLAIN_ROW:
        say_row(k, "codes of the row");
        break;
    case EXPLAIN_INTERPOLATE:
        explain_say(k->t, "fractions", "%d along y, %d along x", k->s->in[0], k->s->in[1]);
        say_row(k, "corners");
        break;
    case EXPLAIN_BINARY:
        say_binary(k);
        break;
    case EXPLAIN_UNARY:
        if (k->p->graph->node[k->node].op == ASSAY_OP_MAX_POOL)
            explain_window(k->t, k->p->graph, &k->p->graph->node[k->node], in[0], element);
        say_unary(k);
        break;
    case EXPLAIN_QUANTIZE:
    case EXPLAIN_DEQUANTIZE:
        say_conversion(k);
        break;
    default:
        say_moved(k, in, element);
    }
}

assay_status explain_element(const assay_program *p, int node, const void *const *in,
                             int64_t element, explain_trace *t, assay_error *err)
{
    const assay_node *n = &p->graph->node[node];
    const assay_type *type = &assay_node_out(p->graph, n, 0)->type;
    explain_seen seen = {0};
    *t = (explain_trace){.is_float = type->elem.kind == ASSAY_KIND_F32};
    if (element < 0 || element >= assay_shape_count(type))
        return assay_fail(err, ASSAY_ERR_INPUT, "node '%s': element %lld of %lld", n->name,
                          (long long)element, (long long)assay_shape_count(type));
    assay_status status = explain_watch(p, node, in, element, &seen, err);
    if (!status) {
        const assay_scheme *s = run_scheme_of(p, node);
        const work k = {t, p, node, s && s->record ? p->unit[node] : NULL, silence_of(s), &seen};
        if (t->is_float)
            seen.value = (int64_t)(uint32_t)seen.value;
        t->value = seen.value;
        say_all(&k, in, element);
        explain_say_value(t, "element", seen.value);
    }
    explain_seen_free(&seen);
    return !status && t->short_of_memory ? assay_out_of_memory(err) : status;
}
