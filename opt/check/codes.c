/* Checking enumerations: fragments that work element by element, on all codes of their inputs. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/check.h"

#define MAX_VALUES 40

/* The network's own table. */
static assay_status look_up(const check_context *c, const assay_graph *g, const assay_node *n,
                            const int32_t *x, size_t count, int32_t *out)
{
    const assay_value *table = assay_node_in(g, n, 1);
    int64_t least = assay_elem_min(g->value[n->in[0]].type.elem);
    if (!table || !table->data || table->type.rank != 1)
        return check_reject(c, "a table that is not a constant");
    for (size_t i = 0; i < count; i++) {
        int64_t at = x[i] - least;
        if (at < 0 || at >= table->type.dim[0])
            return check_reject(c, "a table that is too short");
        out[i] = (int32_t)assay_elem_get(table->type.elem, table->data, (size_t)at);
    }
    return ASSAY_OK;
}

/* One node on n elements; floats travel as bits. */
static assay_status run_node(const check_context *c, const assay_graph *g, const assay_node *n,
                             int32_t *const row[MAX_VALUES], size_t count)
{
    const assay_scheme_vtable *vt = c->scheme->vt;
    const assay_type *x = &g->value[n->in[0]].type, *y = &g->value[n->out[0]].type;
    bool binary = check_traits(n) & ASSAY_T_BINARY;
    assay_unit *u = NULL;
    if (n->n_out != 1 || n->in[0] < 0 || n->n_in > 2 ||
        (binary && (n->n_in < 2 || n->in[1] < 0 || !check_is_code(&g->value[n->in[1]].type))))
        return check_reject(c, "a node that is not element-wise");
    const int32_t *a = row[n->in[0]], *b = binary ? row[n->in[1]] : NULL;
    assert(a && row[n->out[0]] && (!binary || b));
    int32_t *out = row[n->out[0]];
    if (n->op == ASSAY_OP_LOOKUP)
        return look_up(c, g, n, a, count, out);
    assay_status s = check_prepare(c, g, n, &u);
    if (s)
        return s;
    if (check_traits(n) & ASSAY_T_UNARY && check_is_code(x) && check_is_code(y) && vt->unary)
        vt->unary(u, a, count, out);
    else if (b && check_is_code(x) && check_is_code(y) && vt->binary)
        vt->binary(u, a, b, count, out);
    else if (n->op == ASSAY_OP_DEQUANTIZE && check_is_code(x) && vt->dequantize)
        vt->dequantize(u, a, count, 0, (uint32_t *)out);
    else if (n->op == ASSAY_OP_QUANTIZE && check_is_code(y) && vt->quantize)
        vt->quantize(u, (const uint32_t *)a, count, 0, out);
    else
        s = check_reject(c, "a node that is not element-wise");
    vt->release(u);
    if (!s)
        check_store(y, out, count);
    return s;
}

/* Every value is an input, a constant or computed: nothing comes from elsewhere. */
static bool is_closed(const assay_graph *g)
{
    for (int v = 0; v < g->n_values; v++) {
        bool known = g->value[v].producer >= 0 || g->value[v].data;
        for (int i = 0; i < g->n_inputs; i++)
            known |= g->input[i] == v;
        if (!known)
            return false;
    }
    return true;
}

/* A constant by elements: as many as there are, or one for all. */
static assay_status fill_constant(const check_context *c, const assay_value *v, int32_t *row,
                                  size_t count)
{
    int64_t n = assay_shape_count(&v->type);
    bool same = n > 0;
    if (v->type.elem.kind == ASSAY_KIND_F32) {
        if (n != (int64_t)count)
            return check_reject(c, "a constant with different extents");
        memcpy(row, v->data, count * sizeof *row);
        return ASSAY_OK;
    }
    for (int64_t i = 1; i < n && same; i++)
        same = assay_elem_get(v->type.elem, v->data, (size_t)i) ==
               assay_elem_get(v->type.elem, v->data, 0);
    if (!same && n != (int64_t)count)
        return ASSAY_OK; /* a table, which is read where it is used */
    for (size_t k = 0; k < count; k++)
        row[k] = (int32_t)assay_elem_get(v->type.elem, v->data, n == (int64_t)count ? k : 0);
    return ASSAY_OK;
}

/* The fragment's output on rows of its inputs (borrowed); *result is malloc'd. */
static assay_status run_rows(const check_context *c, const assay_graph *g, int32_t *const *in,
                             size_t count, int32_t **result)
{
    int32_t *row[MAX_VALUES] = {NULL};
    assay_status s = ASSAY_OK;
    *result = NULL;
    if (g->n_values > MAX_VALUES || g->n_outputs != 1 || !is_closed(g))
        return check_reject(c, "a fragment of unexpected form");
    for (int v = 0; v < g->n_values && !s; v++) {
        if (!(row[v] = calloc(count + 1, sizeof **row)))
            s = check_out_of_memory(c);
        else if (g->value[v].data)
            s = fill_constant(c, &g->value[v], row[v], count);
    }
    for (int i = 0; i < g->n_inputs && !s; i++)
        memcpy(row[g->input[i]], in[i], count * sizeof **row);
    for (int i = 0; i < g->n_nodes && !s; i++)
        s = run_node(c, g, &g->node[i], row, count);
    for (int v = 0; v < g->n_values && v < MAX_VALUES; v++)
        if (v == g->output[0] && !s)
            *result = row[v];
        else
            free(row[v]);
    return s;
}

assay_status check_tabulate_all(const check_context *c, const assay_graph *g, int32_t **result,
                                size_t *n)
{
    int32_t *in[2] = {NULL, NULL};
    assay_status s = ASSAY_OK;
    unsigned bits = 0;
    if (g->n_inputs < 1 || g->n_inputs > 2)
        return check_reject(c, "a fragment of unexpected form");
    for (int i = 0; i < g->n_inputs; i++) {
        if (!check_is_code(&g->value[g->input[i]].type))
            return check_reject(c, "an input that holds no codes");
        bits += g->value[g->input[i]].type.elem.bits;
    }
    if (bits > CHECK_MAX_BITS)
        return check_reject(c, "a domain that is too wide");
    *n = (size_t)1 << bits;
    for (int i = g->n_inputs - 1, below = 0; i >= 0 && !s; i--) {
        assay_elem e = g->value[g->input[i]].type.elem;
        if (!(in[i] = malloc(*n * sizeof **in)))
            s = check_out_of_memory(c);
        for (size_t k = 0; k < *n && !s; k++)
            in[i][k] =
                (int32_t)(assay_elem_min(e) + (int64_t)(k >> below & (((size_t)1 << e.bits) - 1)));
        below = e.bits;
    }
    if (!s)
        s = run_rows(c, g, in, *n, result);
    free(in[0]);
    free(in[1]);
    return s;
}

static int64_t worst_of(const int32_t *a, const int32_t *b, size_t n, bool codes)
{
    int64_t worst = 0;
    for (size_t i = 0; i < n; i++) {
        int64_t d = (int64_t)a[i] - b[i];
        d = d < 0 ? -d : d;
        d = d && !codes ? INT64_MAX : d;
        worst = d > worst ? d : worst;
    }
    return worst;
}

assay_status check_codes(check_context *c, const json_t *step, int64_t *worst)
{
    int32_t *a = NULL, *b = NULL;
    size_t n, m;
    (void)step;
    assay_status s = check_tabulate_all(c, c->before, &a, &n);
    if (!s)
        s = check_tabulate_all(c, c->after, &b, &m);
    if (!s)
        *worst = worst_of(a, b, n, check_is_code(&c->before->value[c->before->output[0]].type));
    free(a);
    free(b);
    return s;
}

/* ---- constants ---- */

size_t check_source_of(const assay_graph *g, const assay_node *n, size_t i)
{
    assert(i < (size_t)assay_shape_count(&g->value[n->out[0]].type));
    const assay_type *x = &g->value[n->in[0]].type, *y = &g->value[n->out[0]].type;
    size_t at[ASSAY_MAX_RANK] = {0}, source = 0;
    if (n->op != ASSAY_OP_TRANSPOSE)
        return i;
    for (int k = y->rank - 1; k >= 0; k--) {
        at[n->attr.perm.perm.v[k]] = i % (size_t)y->dim[k];
        i /= (size_t)y->dim[k];
    }
    for (int k = 0; k < x->rank; k++)
        source = source * (size_t)x->dim[k] + at[k];
    return source;
}

assay_status check_constant(check_context *c, const json_t *step, int64_t *worst)
{
    const assay_graph *g = c->before, *h = c->after;
    const assay_value *y = h->n_outputs == 1 ? &h->value[h->output[0]] : NULL;
    const assay_node *n = g->n_nodes == 1 ? &g->node[0] : NULL;
    int32_t *result = NULL;
    (void)step;
    if (!n || n->in[0] < 0 || !g->value[n->in[0]].data || !y || !y->data || h->n_nodes != 0)
        return check_reject(c, "a fragment that computes no constant");
    const assay_value *x = &g->value[n->in[0]];
    size_t size = assay_elem_size(x->type.elem), count = (size_t)assay_shape_count(&y->type);
    *worst = 0;
    if (n->op == ASSAY_OP_TRANSPOSE || n->op == ASSAY_OP_RESHAPE) {
        for (size_t i = 0; i < count; i++)
            if (memcmp((const char *)y->data + i * size,
                       (const char *)x->data + check_source_of(g, n, i) * size, size) != 0)
                *worst = INT64_MAX;
        return ASSAY_OK;
    }
    assay_status s = run_rows(c, g, NULL, count, &result);
    for (size_t i = 0; i < count && !s; i++) {
        int32_t stored;
        if (y->type.elem.kind == ASSAY_KIND_F32)
            memcpy(&stored, (const char *)y->data + i * 4, sizeof stored);
        else
            stored = (int32_t)assay_elem_get(y->type.elem, y->data, i);
        if (stored != result[i])
            *worst = INT64_MAX;
    }
    free(result);
    return s;
}

/* ---- floats: quantize, then functions of its codes ---- */

#define KEY_INFINITY INT64_C(0x7f800000)

static uint32_t bits_of(int64_t key)
{
    return key >= 0 ? (uint32_t)key : (uint32_t)(-key - 1) | 0x80000000u;
}

/* least[i]: the least of all floats, in order, at which the fragment gives at least code i. */
static assay_status climb_floats(const check_context *c, const assay_graph *g, size_t n,
                                 int64_t lowest, int64_t *least)
{
    int64_t *floor = malloc(n * sizeof *floor);
    int32_t *x = malloc(n * sizeof *x), *y = NULL;
    assay_status s = floor && x ? ASSAY_OK : check_out_of_memory(c);
    for (size_t i = 0; i < n && !s; i++) {
        floor[i] = -KEY_INFINITY - 1;
        least[i] = KEY_INFINITY + 1;
    }
    for (int round = 0; round < 34 && !s; round++) {
        for (size_t i = 0; i < n; i++)
            x[i] = (int32_t)bits_of(floor[i] + (least[i] - floor[i]) / 2);
        s = run_rows(c, g, &x, n, &y);
        for (size_t i = 0; i < n && !s; i++) { /* the answer lies in floor .. least */
            int64_t middle = floor[i] + (least[i] - floor[i]) / 2;
            if (floor[i] >= least[i])
                continue;
            if (y[i] >= lowest + (int64_t)i)
                least[i] = middle;
            else
                floor[i] = middle + 1;
        }
        free(y);
        y = NULL;
    }
    free(floor);
    free(x);
    return s;
}

static assay_status compare_floats(const check_context *c, const int64_t *key, size_t n,
                                   int64_t down, int64_t *worst)
{
    int32_t *x = malloc((n + 1) * sizeof *x), *a = NULL, *b = NULL;
    assay_status s = x ? ASSAY_OK : check_out_of_memory(c);
    for (size_t i = 0; i < n && !s; i++) {
        int64_t k = key[i] - down;
        k = k > KEY_INFINITY ? KEY_INFINITY : k < -KEY_INFINITY - 1 ? -KEY_INFINITY - 1 : k;
        x[i] = (int32_t)bits_of(k);
    }
    if (!s)
        x[n] = 0x7fc00000; /* a NaN */
    if (!s)
        s = run_rows(c, c->before, &x, n + 1, &a);
    if (!s)
        s = run_rows(c, c->after, &x, n + 1, &b);
    int64_t d = s ? 0 : worst_of(a, b, n + 1, true);
    *worst = d > *worst ? d : *worst;
    free(x);
    free(a);
    free(b);
    return s;
}

/* Quantize nodes are monotone; the functions behind them must be. */
static assay_status functions_are_ordered(const check_context *c, const assay_graph *g)
{
    for (int i = 0; i < g->n_nodes; i++) {
        int32_t *table = NULL;
        size_t n = 0, k = 1;
        if (g->node[i].op == ASSAY_OP_QUANTIZE)
            continue;
        assay_status s = check_tabulate(c, g, &g->node[i], &table, &n);
        if (s)
            return s;
        while (k < n && table[k] >= table[k - 1])
            k++;
        free(table);
        if (k < n)
            return check_reject(c, "a function that is not monotone");
    }
    return ASSAY_OK;
}

assay_status check_floats(check_context *c, const json_t *step, int64_t *worst)
{
    const assay_graph *g = c->before;
    const assay_type *y = &g->value[g->output[0]].type;
    (void)step;
    if (g->n_inputs != 1 || g->value[g->input[0]].type.elem.kind != ASSAY_KIND_F32 ||
        !check_is_code(y) || y->elem.bits > CHECK_MAX_BITS)
        return check_reject(c, "an obligation that cannot be proved");
    size_t n = (size_t)1 << y->elem.bits;
    int64_t *a = malloc(2 * n * sizeof *a), least = assay_elem_min(y->elem);
    assay_status s = a ? ASSAY_OK : check_out_of_memory(c);
    if (!s)
        s = functions_are_ordered(c, c->before);
    if (!s)
        s = functions_are_ordered(c, c->after);
    if (!s)
        s = climb_floats(c, c->before, n, least, a);
    if (!s)
        s = climb_floats(c, c->after, n, least, a + n);
    *worst = 0;
    for (int64_t down = 0; down < 2 && !s; down++) {
        s = compare_floats(c, a, n, down, worst);
        if (!s)
            s = compare_floats(c, a + n, n, down, worst);
    }
    free(a);
    return s;
}
