/* The certificate's checker. It shares nothing with the passes or the prover but the certificate:
 * it reads the fragments as text, prepares their nodes from the scheme's text, and runs the
 * scheme's row functions over domains that it enumerates itself.
 *
 * Accumulators: the codes at all of a narrow interval; of a wide one at PROBES accumulators and,
 * where two neighbours' codes differ, by halving between them. The interval itself is the
 * optimizer's word, because weights are no part of a certificate; the digest holds it. */
#include <stdlib.h>
#include <string.h>

#include "graph/text.h"
#include "opt/certificate.h"
#include "schemes/spec.h"

#define MOST_VALUES 40
#define MOST_BITS   16
#define PROBES      1024
#define NARROW      4096

typedef struct checker {
    const char *file;
    int step;
    const assay_scheme *scheme;
    assay_graph *before, *after;
    assay_error *err;
} checker;

static assay_status reject(const checker *c, const char *what)
{
    return assay_fail(c->err, ASSAY_ERR_INPUT, "%s: step %d: %s", c->file, c->step, what);
}

static assay_status out_of_memory(const checker *c)
{
    return assay_fail(c->err, ASSAY_ERR_MEMORY, "%s: step %d: out of memory", c->file, c->step);
}

static uint32_t traits(const assay_node *n)
{
    return assay_op_get(n->op)->traits;
}

static assay_status prepare(const checker *c, const assay_graph *g, const assay_node *n,
                            assay_unit **unit)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(g, n, in, &spec);
    return c->scheme->vt->prepare(c->scheme, &spec, unit, c->err);
}

/* ---- element-wise fragments ---- */

static bool is_code(const assay_type *t)
{
    return assay_is_quantized(t) && t->q.granularity == ASSAY_Q_TENSOR;
}

/* One node on n elements; floats travel as bits. */
static assay_status run_node(const checker *c, const assay_graph *g, const assay_node *n,
                             int32_t *const row[MOST_VALUES], size_t count)
{
    const assay_scheme_vtable *vt = c->scheme->vt;
    const assay_type *x = &g->value[n->in[0]].type, *y = &g->value[n->out[0]].type;
    assay_unit *u = NULL;
    if (n->n_out != 1 || n->n_in > 2 ||
        (n->n_in > 1 && (n->in[1] < 0 || !is_code(&g->value[n->in[1]].type))))
        return reject(c, "a node that is not element-wise");
    const int32_t *a = row[n->in[0]], *b = n->n_in > 1 ? row[n->in[1]] : NULL;
    int32_t *out = row[n->out[0]];
    assay_status s = prepare(c, g, n, &u);
    if (s)
        return s;
    if (traits(n) & ASSAY_T_UNARY && is_code(x) && is_code(y))
        vt->unary(u, a, count, out);
    else if (traits(n) & ASSAY_T_BINARY && b && is_code(x) && is_code(y))
        vt->binary(u, a, b, count, out);
    else if (n->op == ASSAY_OP_DEQUANTIZE && is_code(x))
        vt->dequantize(u, a, count, 0, (uint32_t *)out);
    else if (n->op == ASSAY_OP_QUANTIZE && is_code(y))
        vt->quantize(u, (const uint32_t *)a, count, 0, out);
    else
        s = reject(c, "a node that is not element-wise");
    vt->release(u);
    return s;
}

/* Every value is an input or computed: nothing comes from elsewhere. */
static bool is_closed(const assay_graph *g)
{
    for (int v = 0; v < g->n_values; v++) {
        bool known = g->value[v].producer >= 0;
        for (int i = 0; i < g->n_inputs; i++)
            known |= g->input[i] == v;
        if (!known)
            return false;
    }
    return true;
}

/* The fragment's output for all codes of its inputs, first input slowest; *result is malloc'd. */
static assay_status tabulate(const checker *c, const assay_graph *g, int32_t **result, size_t *n)
{
    int32_t *row[MOST_VALUES] = {NULL};
    assay_status s = ASSAY_OK;
    unsigned bits = 0;
    *result = NULL;
    if (g->n_values > MOST_VALUES || g->n_inputs < 1 || g->n_inputs > 2 || g->n_outputs != 1 ||
        !is_closed(g))
        return reject(c, "a fragment of another form");
    for (int i = 0; i < g->n_inputs; i++) {
        if (!is_code(&g->value[g->input[i]].type))
            return reject(c, "an input that holds no codes");
        bits += g->value[g->input[i]].type.elem.bits;
    }
    if (bits > MOST_BITS)
        return reject(c, "a domain that is too wide");
    *n = (size_t)1 << bits;
    for (int v = 0; v < g->n_values && !s; v++)
        if (!(row[v] = calloc(*n, sizeof **row)))
            s = out_of_memory(c);
    for (int i = g->n_inputs - 1, below = 0; i >= 0 && !s; i--) {
        assay_elem e = g->value[g->input[i]].type.elem;
        for (size_t k = 0; k < *n; k++)
            row[g->input[i]][k] =
                (int32_t)(assay_elem_min(e) + (int64_t)(k >> below & (((size_t)1 << e.bits) - 1)));
        below = e.bits;
    }
    for (int i = 0; i < g->n_nodes && !s; i++)
        s = run_node(c, g, &g->node[i], row, *n);
    for (int v = 0; v < g->n_values; v++)
        if (v == g->output[0] && !s)
            *result = row[v];
        else
            free(row[v]);
    return s;
}

static bool same_type(const assay_type *a, const assay_type *b)
{
    return assay_elem_equal(a->elem, b->elem) && assay_qparams_equal(&a->q, &b->q);
}

/* The same inputs by name and type, and outputs of one type. */
static bool same_border(const assay_graph *a, const assay_graph *b)
{
    if (a->n_inputs != b->n_inputs || a->n_outputs != 1 || b->n_outputs != 1)
        return false;
    for (int i = 0; i < a->n_inputs; i++)
        if (strcmp(a->value[a->input[i]].name, b->value[b->input[i]].name) != 0 ||
            !same_type(&a->value[a->input[i]].type, &b->value[b->input[i]].type))
            return false;
    return same_type(&a->value[a->output[0]].type, &b->value[b->output[0]].type);
}

/* *worst: greatest difference of codes; where floats differ it is INT64_MAX. */
static assay_status check_codes(const checker *c, int64_t *worst)
{
    int32_t *a = NULL, *b = NULL;
    size_t n, m;
    bool codes = is_code(&c->before->value[c->before->output[0]].type);
    assay_status s = tabulate(c, c->before, &a, &n);
    if (!s)
        s = tabulate(c, c->after, &b, &m);
    *worst = 0;
    for (size_t i = 0; i < n && !s; i++) {
        int64_t d = (int64_t)a[i] - b[i];
        d = d < 0 ? -d : d;
        d = d && !codes ? INT64_MAX : d;
        *worst = d > *worst ? d : *worst;
    }
    free(a);
    free(b);
    return s;
}

/* ---- accumulators ---- */

typedef struct ladder {
    const assay_scheme_vtable *vt;
    const assay_unit *a, *b;
    const int32_t *table; /* behind a, by code - least; or NULL */
    int64_t least;
    size_t channel;
    int64_t worst;
} ladder;

typedef struct rung {
    int64_t x;
    int32_t a, b;
} rung;

static rung probe(ladder *l, int64_t x)
{
    rung r = {.x = x};
    l->vt->requantize(l->a, &x, 1, l->channel, &r.a);
    l->vt->requantize(l->b, &x, 1, l->channel, &r.b);
    if (l->table)
        r.a = l->table[r.a - l->least];
    int64_t d = (int64_t)r.a - r.b;
    d = d < 0 ? -d : d;
    l->worst = d > l->worst ? d : l->worst;
    return r;
}

static void halve(ladder *l, rung p, rung q)
{
    if (q.x - p.x < 2 || (p.a == q.a && p.b == q.b))
        return;
    rung m = probe(l, p.x + (q.x - p.x) / 2);
    halve(l, p, m);
    halve(l, m, q);
}

static void climb(ladder *l, int64_t lo, int64_t hi)
{
    int64_t stride = hi - lo < NARROW ? 1 : (hi - lo) / PROBES;
    rung last = probe(l, lo);
    for (int64_t x = lo; x < hi;) {
        x = hi - x < stride ? hi : x + stride;
        rung next = probe(l, x);
        halve(l, last, next);
        last = next;
    }
}

static const assay_node *find(const assay_graph *g, bool weighted)
{
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        if (weighted == (traits(n) & ASSAY_T_WEIGHTED || n->op == ASSAY_OP_MATMUL))
            return n;
    }
    return NULL;
}

/* A function of one code of a fragment: all its results. */
static assay_status tabulate_node(const checker *c, const assay_graph *g, const assay_node *n,
                                  int32_t **table, size_t *size)
{
    const assay_type *x = &g->value[n->in[0]].type, *y = &g->value[n->out[0]].type;
    assay_unit *u = NULL;
    if (!(traits(n) & ASSAY_T_UNARY) || !is_code(x) || !is_code(y) || x->elem.bits > MOST_BITS)
        return reject(c, "a function that is not of one code");
    assay_status s = prepare(c, g, n, &u);
    if (s)
        return s;
    *size = (size_t)1 << x->elem.bits;
    int32_t *in = calloc(*size, sizeof *in), *out = calloc(*size, sizeof *out);
    for (size_t i = 0; i < *size && in; i++)
        in[i] = (int32_t)(assay_elem_min(x->elem) + (int64_t)i);
    if (in && out)
        c->scheme->vt->unary(u, in, *size, out);
    else
        s = out_of_memory(c);
    c->scheme->vt->release(u);
    free(in);
    if (s)
        free(out);
    else
        *table = out;
    return s;
}

static int64_t channels_of(const assay_graph *g, const assay_node *n)
{
    const assay_type *w = &g->value[n->in[1]].type;
    return w->q.count > 1 ? (int64_t)w->q.count : 1;
}

/* Whether the function adds one number to every code, and the same to the zero point. */
static bool shifts(const assay_graph *g, const assay_node *n, const int32_t *table, size_t size)
{
    const assay_qparams *x = &g->value[n->in[0]].type.q, *y = &g->value[n->out[0]].type.q;
    int64_t least = assay_elem_min(g->value[n->in[0]].type.elem);
    for (size_t i = 0; i < size; i++)
        if (table[i] - y->zero_point[0] != least + (int64_t)i - x->zero_point[0])
            return false;
    return true;
}

/* The function stands behind the weighted node, or in front of its input, and the rewritten node
 * differs from it in nothing else than that input, or its output and bounds. */
static bool same_sums(const checker *c, const assay_node *a, const assay_node *function,
                      const assay_node *b, bool shift)
{
    bool same = a->op == b->op && a->n_in == b->n_in &&
                assay_attrs_equal(assay_op_get(a->op)->attrs, &a->attr, &b->attr) &&
                strcmp(a->name, b->name) == 0 &&
                (shift ? a->in[0] == function->out[0] : function->in[0] == a->out[0]);
    for (int i = shift ? 1 : 0; i < a->n_in && same; i++) {
        int v = a->in[i], w = b->in[i];
        same = (v < 0) == (w < 0);
        if (same && v >= 0)
            same = same_type(&c->before->value[v].type, &c->after->value[w].type) &&
                   assay_shape_equal(&c->before->value[v].type, &c->after->value[w].type);
    }
    return same;
}

static assay_status check_sums(const checker *c, const json_t *step, bool shift, int64_t *worst)
{
    const assay_node *a = find(c->before, true), *b = find(c->after, true);
    const assay_node *function = find(c->before, false);
    json_int_t lo, hi;
    int32_t *table = NULL;
    size_t size = 0;
    ladder l = {.vt = c->scheme->vt};
    if (json_unpack((json_t *)(uintptr_t)step, "{s:[I, I]}", "reachable", &lo, &hi) || lo > hi ||
        lo < -(INT64_C(1) << 52) || hi > INT64_C(1) << 52)
        return reject(c, "no interval of accumulators");
    if (!a || !b || !function || c->before->n_nodes != 2 || c->after->n_nodes != 1 ||
        !same_sums(c, a, function, b, shift))
        return reject(c, "a fragment of another form");
    assay_unit *before = NULL, *after = NULL;
    assay_status s = tabulate_node(c, c->before, function, &table, &size);
    if (!s && shift && !shifts(c->before, function, table, size))
        s = reject(c, "the rescale does not only move the zero point");
    if (!s)
        s = prepare(c, c->before, a, &before);
    if (!s)
        s = prepare(c, c->after, b, &after);
    l.a = before;
    l.b = after;
    l.table = shift ? NULL : table;
    l.least = assay_elem_min(c->before->value[function->in[0]].type.elem);
    int64_t channels = channels_of(c->before, a);
    for (int64_t i = 0; i < channels && !s; i++) {
        l.channel = (size_t)i;
        climb(&l, lo, hi);
    }
    *worst = l.worst;
    if (before)
        l.vt->release(before);
    if (after)
        l.vt->release(after);
    free(table);
    return s;
}

/* ---- sinking: the same nodes, the rescale behind ---- */

static const assay_node *producer(const assay_graph *g, int value)
{
    return value >= 0 && g->value[value].producer >= 0 ? &g->node[g->value[value].producer] : NULL;
}

static bool same_rescale(const assay_graph *g, const assay_node *a, const assay_graph *h,
                         const assay_node *b)
{
    return a->op == b->op && traits(a) & ASSAY_T_CONVERT && a->act_lo == b->act_lo &&
           a->act_hi == b->act_hi && a->has_code_bounds == b->has_code_bounds &&
           a->code_lo == b->code_lo && a->code_hi == b->code_hi &&
           same_type(&g->value[a->in[0]].type, &h->value[b->in[0]].type) &&
           same_type(&g->value[a->out[0]].type, &h->value[b->out[0]].type);
}

/* The node below reads rescales; in its place it reads what they read. */
static bool is_sunk(const assay_graph *g, const assay_node *below, const assay_graph *h,
                    const assay_node *moved, const assay_node *rescale)
{
    int rescaled = below->op == ASSAY_OP_CONCAT ? below->n_in : 1;
    if (below->n_in != moved->n_in || below->op != moved->op ||
        !assay_attrs_equal(assay_op_get(below->op)->attrs, &below->attr, &moved->attr) ||
        !same_type(&g->value[g->output[0]].type, &h->value[h->output[0]].type))
        return false;
    for (int i = 0; i < below->n_in; i++) {
        const assay_node *p = i < rescaled ? producer(g, below->in[i]) : NULL;
        int source = p ? p->in[0] : below->in[i];
        if ((i < rescaled && !p) || (p && !same_rescale(g, p, h, rescale)) || source < 0 ||
            moved->in[i] < 0 || strcmp(g->value[source].name, h->value[moved->in[i]].name) != 0)
            return false;
    }
    return true;
}

static bool may_miss_the_image(const assay_node *n)
{
    const assay_attr_pool *a = &n->attr.pool;
    bool may = false;
    for (int i = 0; assay_op_get(n->op)->attrs == ASSAY_ATTRS_pool && i < a->kernel.n; i++) {
        int64_t pad = a->pad_begin.v[i] > a->pad_end.v[i] ? a->pad_begin.v[i] : a->pad_end.v[i];
        may |= a->ceil_mode || pad >= a->kernel.v[i] || (pad > 0 && a->dilation.v[i] != 1);
    }
    return may;
}

static assay_status check_sink(const checker *c, bool by_order)
{
    const assay_node *below = producer(c->before, c->before->output[0]);
    const assay_node *rescale = producer(c->after, c->after->output[0]);
    const assay_node *moved = rescale ? producer(c->after, rescale->in[0]) : NULL;
    int32_t *table = NULL;
    size_t size = 0;
    if (!below || !moved || !is_sunk(c->before, below, c->after, moved, rescale))
        return reject(c, "the rescale was not only moved");
    uint32_t needed = by_order ? ASSAY_T_SELECTS | ASSAY_T_MONOTONE : ASSAY_T_MOVE;
    if ((traits(below) & needed) != needed)
        return reject(c, "the node computes more than it moves");
    assay_status s = tabulate_node(c, c->after, rescale, &table, &size);
    if (s)
        return s;
    const assay_type *x = &c->after->value[rescale->in[0]].type;
    const assay_type *y = &c->after->value[rescale->out[0]].type;
    bool least_kept = table[0] == assay_elem_min(y->elem);
    int64_t zero = x->q.zero_point[0] - assay_elem_min(x->elem);
    for (size_t i = 1; i < size && by_order && !s; i++)
        if (table[i] < table[i - 1])
            s = reject(c, "the rescale is not monotone");
    if (!s && by_order && may_miss_the_image(below) && !least_kept)
        s = reject(c, "a window may lie in the padding");
    if (!s && below->op == ASSAY_OP_PAD && below->attr.pad.mode == ASSAY_PAD_CONSTANT &&
        !(below->attr.pad.value == 0 ? table[zero] == y->q.zero_point[0] : least_kept))
        s = reject(c, "the padding would be rescaled to another code");
    free(table);
    return s;
}

/* ---- steps ---- */

static assay_status check_claim(const checker *c, const json_t *step, const char *obligation,
                                int64_t *worst)
{
    *worst = 0;
    if (strcmp(obligation, "move") == 0 || strcmp(obligation, "order") == 0)
        return check_sink(c, strcmp(obligation, "order") == 0);
    if (!same_border(c->before, c->after))
        return reject(c, "the fragments have other inputs or outputs");
    if (strcmp(obligation, "codes") == 0)
        return check_codes(c, worst);
    if (strcmp(obligation, "accumulators") == 0)
        return check_sums(c, step, false, worst);
    if (strcmp(obligation, "shift") == 0)
        return check_sums(c, step, true, worst);
    return reject(c, "an obligation that cannot be proved");
}

static assay_status check_step(checker *c, const json_t *step, bool *proved)
{
    const char *pass, *obligation, *verdict, *before, *after;
    json_int_t bound;
    int64_t worst;
    if (json_unpack((json_t *)(uintptr_t)step, "{s:s, s:s, s:s, s:I, s:s, s:s}", "pass", &pass,
                    "obligation", &obligation, "verdict", &verdict, "bound", &bound, "before",
                    &before, "after", &after))
        return reject(c, "a key is missing or of another type");
    *proved = strcmp(verdict, "exact") == 0;
    if (strcmp(verdict, "unproved") == 0)
        return ASSAY_OK;
    if (!*proved && strcmp(verdict, "bounded") != 0)
        return reject(c, "verdict is neither exact, bounded nor unproved");
    assay_status s = assay_graph_parse(before, strlen(before), c->file, NULL, &c->before, c->err);
    if (!s)
        s = assay_graph_parse(after, strlen(after), c->file, NULL, &c->after, c->err);
    if (!s)
        s = check_claim(c, step, obligation, &worst);
    if (!s && (*proved ? worst != 0 : worst != bound))
        s = assay_fail(c->err, ASSAY_ERR_INPUT,
                       "%s: step %d (%s): claimed %s, but outputs differ by %lld", c->file, c->step,
                       pass, verdict, (long long)worst);
    assay_graph_free(c->before);
    assay_graph_free(c->after);
    c->before = c->after = NULL;
    return s;
}

static assay_status check_certificate(const json_t *root, checker *c, assay_proof_report *report)
{
    const char *name, *digest, *text, *seal;
    int version;
    json_t *steps;
    char hex[33];
    assay_scheme *scheme = NULL;
    if (json_unpack((json_t *)(uintptr_t)root, "{s:i, s:{s:s, s:s, s:s}, s:s, s:o}", "assay_proof",
                    &version, "scheme", "name", &name, "digest", &digest, "text", &text, "digest",
                    &seal, "steps", &steps) ||
        !json_is_array(steps) || version != ASSAY_CERTIFICATE_VERSION)
        return assay_fail(c->err, ASSAY_ERR_INPUT, "%s: not a certificate of version %d", c->file,
                          ASSAY_CERTIFICATE_VERSION);
    assay_status s = assay_scheme_parse(name, text, strlen(text), &scheme, c->err);
    if (!s && strcmp(scheme->digest, digest) != 0)
        s = assay_fail(c->err, ASSAY_ERR_INPUT, "%s: scheme '%s' was edited: its digest is %s",
                       c->file, name, scheme->digest);
    c->scheme = scheme;
    for (size_t i = 0; i < json_array_size(steps) && !s; i++) {
        bool proved = false;
        c->step = (int)i;
        s = check_step(c, json_array_get(steps, i), &proved);
        report->steps++;
        report->proved += proved;
    }
    if (!s)
        s = assay_certificate_digest(root, hex, c->err);
    if (!s && strcmp(hex, seal) != 0)
        s = assay_fail(c->err, ASSAY_ERR_INPUT, "%s: edited: its digest is %s, not %.32s", c->file,
                       hex, seal);
    assay_scheme_free(scheme);
    return s;
}

assay_status assay_check_proof(const char *json, size_t length, const char *file,
                               assay_proof_report *report, assay_error *err)
{
    json_error_t e;
    checker c = {.file = file, .err = err};
    memset(report, 0, sizeof *report);
    json_t *root = json_loadb(json, length, JSON_REJECT_DUPLICATES, &e);
    if (!root)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s:%d:%d: %s", file, e.line, e.column, e.text);
    assay_status s = check_certificate(root, &c, report);
    json_decref(root);
    return s;
}
