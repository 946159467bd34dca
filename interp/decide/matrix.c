/* The share of disagreement of each pair of arithmetics, decided from threshold forms: over a range
 * of scales, or node by node over a network (domain.h: by trying all operands). Schemes that never
 * disagree are one row. See matrix.h. */
#include "interp/decide/matrix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/decide/walk.h"
#include "interp/page/json.h"
#include "schemes/node/admit.h"
#include "schemes/record/data.h"
#include "schemes/rescale/single.h"

#define MAX DECIDE_MATRIX_SCHEMES

typedef struct field {
    int n;
    const assay_scheme *const *scheme;
    bool in[MAX]; /* can compute what is asked */
    bool as_is;
    bool outside[MAX];        /* its types do not admit the node */
    bool wraps[MAX];          /* its accumulator may overflow, so that rescales decide nothing */
    uint64_t count[MAX][MAX]; /* accumulators on which a pair disagrees */
    uint64_t considered;
    FILE *to;       /* the tables */
    json_t *tables; /* the same for programs */
} field;

static assay_status check(const field *f, assay_error *err)
{
    if (f->n < 1 || f->n > MAX)
        return assay_fail(err, f->n < 1 ? ASSAY_ERR_INPUT : ASSAY_ERR_LIMIT,
                          "a matrix takes 1 to %d schemes, not %d", MAX, f->n);
    return ASSAY_OK;
}

static void start(field *f)
{
    memset(f->count, 0, sizeof f->count);
    f->considered = 0;
    for (int i = 0; i < f->n; i++) {
        f->in[i] = true;
        f->outside[i] = false;
        f->wraps[i] = false;
    }
}

/* The same for a node of a network: schemes whose types do not admit it are not asked. */
static void start_node(field *f, const assay_graph *g, const assay_node *n)
{
    char why[ASSAY_ADMIT_WHY];
    start(f);
    for (int i = 0; i < f->n && !f->as_is; i++)
        f->outside[i] = !assay_scheme_admits(f->scheme[i], g, n, why, sizeof why);
}

/* Adds the disagreements of one rescale; a NULL leaves its scheme out from now on.
 * ASSAY_ERR_MEMORY alone. */
static assay_status add_rescales(field *f, const assay_rescale *const *r, size_t channel,
                                 int64_t lo, int64_t hi, assay_error *err)
{
    assay_threshold_form form[MAX];
    assay_status status = ASSAY_OK;
    memset(form, 0, sizeof form);
    for (int i = 0; i < f->n && status != ASSAY_ERR_MEMORY; i++)
        if (f->in[i]) {
            status = r[i] ? assay_threshold_form_make(r[i], channel, lo, hi, &form[i], err)
                          : ASSAY_ERR_UNSUPPORTED;
            f->in[i] = !status;
        }
    for (int i = 0; i < f->n; i++)
        for (int j = 0; j < i; j++)
            if (f->in[i] && f->in[j]) {
                assay_disagreements d;
                assay_threshold_form_compare(&form[i], &form[j], &d);
                f->count[i][j] += d.count;
                f->count[j][i] += d.count;
            }
    f->considered += (uint64_t)(hi - lo) + 1;
    for (int i = 0; i < f->n; i++)
        assay_threshold_form_free(&form[i]);
    return status == ASSAY_ERR_MEMORY ? status : ASSAY_OK;
}

static const char *left_out(const field *f, int i)
{
    return f->wraps[i]     ? "is not decided: sums can leave its accumulator"
           : f->outside[i] ? "does not have these types; compared only as is"
                           : "cannot compute this";
}

/* Of a node, or (NULL) of a range of scales: fractions on which two schemes disagree, by pair. */
static void note_matrix(field *f, const assay_node *n, const char *what)
{
    json_t *o = json_object(), *schemes = json_array(), *without = json_object(),
           *rows = json_array();
    for (int i = 0; i < f->n; i++) {
        json_t *row = json_array();
        for (int j = 0; j < f->n && f->in[i]; j++)
            if (f->in[j])
                page_json_add(&row,
                              page_json_number((double)f->count[i][j] / (double)f->considered));
        if (f->in[i]) {
            page_json_add(&schemes, page_json_text(f->scheme[i]->name));
            page_json_add(&rows, row);
        } else {
            page_json_set(&without, f->scheme[i]->name, json_string(left_out(f, i)));
            json_decref(row);
        }
    }
    page_json_set(&o, "node", n ? page_json_text(n->name) : json_null());
    page_json_set(&o, "op", n ? json_string(assay_op_get(n->op)->name) : json_null());
    page_json_set(&o, "of", json_string(what));
    page_json_set(&o, "considered", json_integer((json_int_t)f->considered));
    page_json_set(&o, "schemes", schemes);
    page_json_set(&o, "disagree", rows);
    page_json_set(&o, "left_out", without);
    page_json_add(&f->tables, o);
}

static void print_matrix(field *f, const assay_node *of, const char *what)
{
    int row[MAX], n = 0; /* the first of each class */
    bool taken[MAX] = {false};
    note_matrix(f, of, what);
    fprintf(f->to, "  (%% of %" PRIu64 " %s on which row and column disagree; 0 means none)\n",
            f->considered, what);
    for (int i = 0; i < f->n; i++) {
        if (taken[i] || !f->in[i])
            continue;
        fprintf(f->to, "  %2d %s", n + 1, f->scheme[i]->name);
        for (int j = i + 1; j < f->n; j++)
            if (f->in[j] && !taken[j] && f->count[i][j] == 0) {
                fprintf(f->to, " = %s", f->scheme[j]->name);
                taken[j] = true;
            }
        fprintf(f->to, "\n");
        row[n++] = i;
    }
    for (int i = 0; i < f->n; i++)
        if (!f->in[i])
            fprintf(f->to, "   - %s %s\n", f->scheme[i]->name, left_out(f, i));
    if (n < 2)
        return;
    fprintf(f->to, "      ");
    for (int j = 0; j + 1 < n; j++)
        fprintf(f->to, "%9d", j + 1);
    fprintf(f->to, "\n");
    for (int i = 1; i < n; i++) {
        fprintf(f->to, "  %4d", i + 1);
        for (int j = 0; j < i; j++)
            fprintf(f->to, "%9.3g",
                    100.0 * (double)f->count[row[i]][row[j]] / (double)f->considered);
        fprintf(f->to, "\n");
    }
}

/* ---- over a range of scales ---- */

/* One scale. */
static assay_status over_scale(field *f, const decide_question *q, assay_single *single,
                               double real, assay_error *err)
{
    const assay_batch b = {.n = 1, .type = q->type, .scale = &real, .zero_point = &q->zero};
    const assay_rescale *r[MAX] = {NULL};
    char why[256];
    for (int k = 0; k < f->n; k++) {
        if (!assay_single_start(&single[k], f->scheme[k], q->op, decide_form(q, f->scheme[k]),
                                err) &&
            assay_single_set(&single[k], &b, 0, why, sizeof why)) {
            f->wraps[k] = !assay_single_holds(&single[k], q->lo, q->hi);
            r[k] = f->wraps[k] ? NULL : &single[k].r;
        }
    }
    return add_rescales(f, r, 0, q->lo, q->hi, err);
}

static assay_status over_scales(field *f, const decide_question *q, assay_error *err)
{
    assay_single *single = calloc((size_t)f->n, sizeof *single);
    if (!single)
        return assay_out_of_memory(err);
    start(f);
    assay_status status = ASSAY_OK;
    for (int i = 0; i < q->scales && !status; i++)
        status = over_scale(f, q, single, decide_scale(q, i), err);
    free(single);
    if (status)
        return status;
    fprintf(f->to, "%d scales from %.6g to %.6g, accumulators %" PRId64 "..%" PRId64 ":\n",
            q->scales, q->scale[0], q->scale[1], q->lo, q->hi);
    print_matrix(f, NULL, "accumulators");
    return ASSAY_OK;
}

/* ---- layer by layer ---- */

static void undecided(field *f, const assay_node *n, const char *why)
{
    json_t *o = json_object();
    page_json_set(&o, "node", page_json_text(n->name));
    page_json_set(&o, "op", json_string(assay_op_get(n->op)->name));
    page_json_set(&o, "not_decided", page_json_text(why));
    page_json_add(&f->tables, o);
    fprintf(f->to, "%s (%s):\n  not decided: %s\n", n->name, assay_op_get(n->op)->name, why);
}

static assay_status over_layer(void *user, const assay_graph *g, const decide_layer *l,
                               assay_error *err)
{
    field *f = user;
    if (l->why) {
        undecided(f, l->node, l->why);
        return ASSAY_OK;
    }
    assay_unit *unit[MAX] = {NULL};
    const assay_rescale *r[MAX] = {NULL};
    start_node(f, g, l->node);
    assay_status status = ASSAY_OK;
    for (int k = 0; k < f->n && status != ASSAY_ERR_MEMORY; k++) {
        const assay_scheme *s = f->scheme[k];
        status = f->outside[k] ? ASSAY_ERR_SCHEME : s->vt->prepare(s, &l->spec, &unit[k], err);
        if (status)
            continue;
        f->wraps[k] = !decide_layer_is_exact(l, s, unit[k]);
        r[k] = f->wraps[k] ? NULL : &unit[k]->scale[ASSAY_OUT];
    }
    status = status == ASSAY_ERR_MEMORY ? status : ASSAY_OK;
    for (size_t c = 0; c < l->channels && !status; c++)
        status = add_rescales(f, r, c, l->lo[c], l->hi[c], err);
    for (int k = 0; k < f->n; k++)
        if (unit[k])
            f->scheme[k]->vt->release(unit[k]);
    if (status)
        return status;
    fprintf(f->to, "%s (%s, %zu channels):\n", l->node->name, assay_op_get(l->node->op)->name,
            l->channels);
    print_matrix(f, l->node, "accumulators");
    return ASSAY_OK;
}

/* A node with few operands: all of them under every scheme. */
static assay_status over_domain(void *user, const assay_graph *g, const decide_domain *d,
                                assay_error *err)
{
    field *f = user;
    const size_t n = d->n * d->width;
    int32_t *out = malloc((size_t)f->n * n * sizeof *out);
    if (!out)
        return assay_out_of_memory(err);
    start_node(f, g, d->node);
    assay_status status = ASSAY_OK;
    for (int i = 0; i < f->n && status != ASSAY_ERR_MEMORY; i++) {
        int32_t *mine = out + (size_t)i * n;
        status = f->outside[i] ? ASSAY_ERR_SCHEME : decide_domain_run(d, f->scheme[i], mine, err);
        f->in[i] = !status;
        for (int j = 0; j < i && f->in[i]; j++) {
            for (size_t k = 0; k < n && f->in[j]; k += d->width)
                f->count[i][j] +=
                    memcmp(mine + k, out + (size_t)j * n + k, d->width * sizeof *out) != 0;
            f->count[j][i] = f->count[i][j];
        }
    }
    f->considered = d->n;
    free(out);
    if (status == ASSAY_ERR_MEMORY)
        return status;
    fprintf(f->to, "%s (%s):\n", d->node->name, assay_op_get(d->node->op)->name);
    print_matrix(f, d->node, d->what);
    return ASSAY_OK;
}

static assay_status neither(void *user, const decide_domain *d, assay_error *err)
{
    (void)err;
    undecided(user, d->node, d->why);
    return ASSAY_OK;
}

assay_status decide_matrix(const assay_scheme *const *s, int n, const decide_question *q,
                           bool as_is, FILE *to, json_t **tables, assay_error *err)
{
    field *f = calloc(1, sizeof *f);
    const decide_visitor nodes = {
        .user = f, .layer = over_layer, .domain = over_domain, .neither = neither};
    int found = 0;
    *tables = json_array();
    if (!f)
        return assay_out_of_memory(err);
    *f = (field){.n = n, .scheme = s, .as_is = as_is, .to = to, .tables = *tables};
    assay_status status = check(f, err);
    if (!status)
        status = q->graph ? decide_walk(q->graph, &nodes, &found, err) : over_scales(f, q, err);
    if (!status && q->graph && found == 0)
        fprintf(to, "the network has no quantized node that can be decided\n");
    *tables = f->tables;
    free(f);
    return status;
}
