/* Pairs of schemes on nodes of one op; see apart.h. */
#include "interp/probe/apart.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "schemes/derive/derive.h"

/* Types of numbers that codes of an element kind may be multiplied by, by name; and without zero
 * points, for targets that have none, their scales then powers of two. */
static const probe_types plain[] = {
    {"s8s8",
     {ASSAY_KIND_INT, 8, true},
     {ASSAY_KIND_INT, 8, true},
     {ASSAY_KIND_INT, 32, true},
     0,
     "tflite"},
    {"u8s8",
     {ASSAY_KIND_INT, 8, false},
     {ASSAY_KIND_INT, 8, true},
     {ASSAY_KIND_INT, 32, true},
     0,
     "onnxruntime"},
};
static const char *const families[] = {"s8s8", "u8s8", "u8u8", "s16s8"};

void probe_apart_open(probe_apart *x, const assay_scheme *const *scheme, enum assay_op op,
                      bool wide, assay_elem type, uint64_t seed)
{
    const char *name = assay_op_get(op)->name;
    *x = (probe_apart){.op = op,
                       .variant = assay_variant_of_codes(wide, type),
                       .type = type,
                       .seed = seed,
                       .scheme = scheme};
    x->network = probe_networks;
    while (x->network->name && strcmp(x->network->name, name) != 0)
        x->network++;
    if (!x->network->name)
        x->network = NULL;
}

void probe_apart_close(probe_apart *x)
{
    for (int i = 0; i < x->n; i++)
        probe_questions_free(&x->found[i]);
    free(x->found);
}

/* ---- nodes that are there ---- */

assay_status probe_apart_run(const probe_apart *x, size_t s, int node, void **out, assay_error *err)
{
    blame_case c = x->found[node].item[0].node;
    c.scheme = x->scheme[s];
    c.has_record = false;
    return probe_case_run(&c, out, err);
}

static assay_status is_told_by(const probe_apart *x, size_t a, size_t b, int node, bool *told,
                               assay_error *err)
{
    void *of_a, *of_b = NULL;
    assay_status status = probe_apart_run(x, a, node, &of_a, err);
    if (!status)
        status = probe_apart_run(x, b, node, &of_b, err);
    *told = probe_case_differ(&x->found[node].item[0].node.out, of_a, of_b);
    free(of_a);
    free(of_b);
    return status;
}

/* ---- new ones ---- */

static assay_status keep(probe_apart *x, const probe_questions *q, assay_error *err)
{
    if (x->n == x->room) {
        const int room = 2 * x->room + 8;
        probe_questions *more = realloc(x->found, (size_t)room * sizeof *more);
        if (!more)
            return assay_out_of_memory(err);
        x->found = more;
        x->room = room;
    }
    x->found[x->n++] = *q;
    return ASSAY_OK;
}

static assay_status search_types(probe_apart *x, size_t a, const probe_types *types, bool powers,
                                 const assay_record *record, probe_apart_pair *out,
                                 assay_error *err)
{
    const probe_left left = {x->op, record, 2, powers, true};
    probe_questions q;
    assay_status status =
        probe_find_questions(x->scheme[a], &left, x->network, types, x->seed, &q, err);
    out->compared += q.compared;
    if (q.refused[0])
        snprintf(out->why, sizeof out->why, "%s", q.refused);
    if (!status && q.n > 0)
        status = probe_fewer_channels(record, &q.item[0].node, err);
    if (!status && q.n > 0)
        status = keep(x, &q, err);
    if (status || q.n == 0) {
        probe_questions_free(&q);
        return status;
    }
    out->verdict = PROBE_APART_TOLD;
    out->node = x->n - 1;
    x->types = types;
    return ASSAY_OK;
}

static bool is_of(const probe_apart *x, const probe_types *t)
{
    return t->activation.bits == x->type.bits && t->activation.is_signed == x->type.is_signed;
}

/* All types in turn; powers of two, and then no zero points, where some of the others are
 * refused. */
static assay_status search(probe_apart *x, size_t a, const assay_record *record,
                           probe_apart_pair *out, assay_error *err)
{
    const size_t n = sizeof families / sizeof *families, n_plain = sizeof plain / sizeof *plain;
    assay_status status = ASSAY_OK;
    out->verdict = PROBE_APART_ALIKE;
    for (size_t i = 0; i < 2 * n + n_plain && out->verdict == PROBE_APART_ALIKE && !status; i++) {
        const probe_types *t = i < 2 * n ? probe_types_find(families[i % n]) : &plain[i - 2 * n];
        if (is_of(x, t) && (i < n || out->compared == 0 || out->why[0]))
            status = search_types(x, a, t, i >= n, record, out, err);
    }
    if (!status && out->verdict == PROBE_APART_ALIKE && out->compared == 0)
        out->verdict = PROBE_APART_NONE;
    return status;
}

/* ---- pairs ---- */

/* Whether a scheme computes the op in integers. */
static bool has_integers(const probe_apart *x, size_t s, const assay_record *r, char *why,
                         size_t size)
{
    const assay_scheme_data *d = assay_data(x->scheme[s]);
    const char *name = assay_op_get(x->op)->name, *lacks = derive_lacks(r, x->op);
    if (!d->in_float[x->op] &&
        !d->unfused[x->variant & ASSAY_VARIANT_WIDE ? ASSAY_UNFUSED_WIDE : ASSAY_UNFUSED][x->op] &&
        !lacks)
        return true;
    snprintf(why, size, "%s computes %s in floats%s%s", x->scheme[s]->name, name,
             lacks ? ": it has no integer form of " : "", lacks ? lacks : "");
    return false;
}

assay_status probe_apart_try(probe_apart *x, size_t a, size_t b, probe_apart_pair *out,
                             assay_error *err)
{
    const char *name = assay_op_get(x->op)->name;
    assay_record record[2];
    assay_status status = ASSAY_OK;
    *out = (probe_apart_pair){.verdict = PROBE_APART_NONE};
    for (int i = 0; i < 2; i++) {
        const size_t s = i ? b : a;
        assay_effective_record(assay_data(x->scheme[s]), name, "", x->variant, &record[i]);
        if (!has_integers(x, s, &record[i], out->why, sizeof out->why))
            return ASSAY_OK;
    }
    out->n_fields = probe_changes(x->op, &record[0], &record[1], out->field, PROBE_APART_FIELDS);
    if (out->n_fields == 0) {
        out->verdict = PROBE_APART_SAME;
        return ASSAY_OK;
    }
    if (!x->network) {
        snprintf(out->why, sizeof out->why, "there is no probe network of %s", name);
        return ASSAY_OK;
    }
    for (int i = 0; i < x->n && out->verdict == PROBE_APART_NONE && !status; i++) {
        bool told;
        status = is_told_by(x, a, b, i, &told, err);
        if (!status && told) {
            out->verdict = PROBE_APART_TOLD;
            out->node = i;
        }
    }
    if (!status && out->verdict == PROBE_APART_NONE)
        status = search(x, a, record, out, err);
    if (!status && out->verdict == PROBE_APART_NONE && !out->why[0])
        snprintf(out->why, sizeof out->why, "there are no probe networks of codes of %u bits",
                 (unsigned)x->type.bits);
    return status;
}
