/* Weights in blocks: constants of codes and scales, and the nodes that decode them.
 *
 *   s = d * scales          d alone where there are none
 *   W = s * (codes - zero)  less d_min * mins where there are such
 *
 * in the shape [rows, blocks, parts, elements], then W's own. Each is one step of binary32. */
#include "opt/quantize/packed.h"

#include <string.h>

#include "graph/core/type.h"
#include "opt/quantize/plan.h"
#include "opt/quantize/units_parts.h"
#include "schemes/mac/weights.h"

typedef struct packer {
    units_maker m; /* prefix: W's name */
    const mac_weights_format *f;
    int64_t rows, blocks, parts; /* blocks of a row, parts of a block */
} packer;

enum { RANK = 4 };

/* "W:ROLE", with ":made" behind it where the network has that name. */
static assay_status free_name(packer *p, const char *role, char name[UNITS_NAME])
{
    for (int again = 0; again < 2; again++) {
        const assay_status s = quantize_units_name(&p->m, p->m.prefix, role, again > 0, name);
        if (s || assay_graph_find_value(p->m.g, name) < 0)
            return s;
    }
    return quantize_units_taken(&p->m, name);
}

/* A constant of the shape [rows, blocks, parts, elements], and a pointer to its data. */
static assay_status constant(packer *p, const char *role, assay_elem elem, int32_t zero,
                             int64_t parts, int64_t elements, int *id, void **data)
{
    static const float one = 1;
    char name[UNITS_NAME];
    assay_type t = {.elem = elem, .rank = RANK, .dim = {p->rows, p->blocks, parts, elements}};
    if (elem.kind == ASSAY_KIND_INT)
        t.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, &one, &zero};
    assay_status s = free_name(p, role, name);
    if (!s)
        s = assay_graph_add_constant(p->m.g, name, &t, NULL, id, p->m.err);
    if (!s)
        *data = (void *)(uintptr_t)p->m.g->value[*id].data; /* zeros, ours to fill */
    return s;
}

static assay_status product(packer *p, int a, int b, const char *role, int *y)
{
    const int in[] = {a, b};
    return quantize_units_add(&p->m, ASSAY_OP_MUL, in, 2, p->m.prefix, role, NULL, y);
}

static assay_status codes_as_numbers(packer *p, int codes, const char *role, int *y)
{
    char name[UNITS_NAME];
    assay_type t = p->m.g->value[codes].type;
    t.elem = assay_f32();
    t.q = (assay_qparams){0};
    assay_status s = free_name(p, role, name);
    if (!s)
        s = assay_graph_add_value(p->m.g, name, &t, y, p->m.err);
    return !s ? assay_graph_add_node(p->m.g, ASSAY_OP_DEQUANTIZE, NULL, &codes, 1, y, 1, NULL, NULL,
                                     p->m.err)
              : s;
}

/* An f16 in float. */
static assay_status pattern_as_number(packer *p, int x, const char *role, int *y)
{
    const assay_attrs a = {.float_decode = {.block = {.n = RANK, .v = {p->rows, p->blocks, 1, 1}}}};
    const assay_type type = p->m.g->value[x].type;
    int in[2] = {x};
    const assay_status s = quantize_units_one(&p->m, &type, p->m.prefix, "one", &in[1]);
    return !s ? quantize_units_add(&p->m, ASSAY_OP_FLOAT_DECODE, in, 2, p->m.prefix, role, &a, y)
              : s;
}

/* The constants, in the order of the formulas; scales, d_min and mins only where the format has
 * them. */
typedef struct packed {
    int codes, d, scales, d_min, mins;
} packed;

typedef struct pieces {
    uint8_t *codes, *scales, *mins;
    uint16_t *d, *d_min;
} pieces;

static assay_status constants(packer *p, packed *v, pieces *at)
{
    const mac_weights_format *f = p->f;
    const assay_elem half = assay_small_float(ASSAY_KIND_F16);
    assay_status s = constant(p, "codes", f->code, f->zero, p->parts, f->part, &v->codes,
                              (void **)(void *)&at->codes);
    if (!s)
        s = constant(p, "d", half, 0, 1, 1, &v->d, (void **)(void *)&at->d);
    if (!s && f->scale.kind != ASSAY_KIND_NONE)
        s = constant(p, "scales", f->scale, 0, p->parts, 1, &v->scales,
                     (void **)(void *)&at->scales);
    if (!s && f->mins)
        s = constant(p, "d_min", half, 0, 1, 1, &v->d_min, (void **)(void *)&at->d_min);
    if (!s && f->mins)
        s = constant(p, "mins", f->scale, 0, p->parts, 1, &v->mins, (void **)(void *)&at->mins);
    return s;
}

/* Block i of the weight, chosen and stored. */
static bool store(const packer *p, int64_t i, const float *x, const pieces *at)
{
    mac_weights_block b;
    int32_t bits[MAC_WEIGHTS_BLOCK];
    const mac_weights_format *f = p->f;
    memcpy(bits, x + i * f->block, (size_t)f->block * sizeof *bits);
    if (!mac_weights_encode(f, bits, &b))
        return false;
    for (int k = 0; k < f->block; k++)
        at->codes[i * f->block + k] = (uint8_t)b.code[k];
    at->d[i] = (uint16_t)b.d;
    for (int64_t j = 0; at->scales && j < p->parts; j++)
        at->scales[i * p->parts + j] = (uint8_t)b.scale[j];
    if (!at->mins)
        return true;
    at->d_min[i] = (uint16_t)b.d_min;
    for (int64_t j = 0; j < p->parts; j++)
        at->mins[i * p->parts + j] = (uint8_t)b.min[j];
    return true;
}

/* The numbers that the constants stand for, in their shape. */
static assay_status decode(packer *p, const packed *v, int *y)
{
    int s, levels, part, offset;
    assay_status status = pattern_as_number(p, v->d, "d_real", &s);
    if (!status && p->f->scale.kind != ASSAY_KIND_NONE) {
        status = codes_as_numbers(p, v->scales, "scales_real", &part);
        if (!status)
            status = product(p, s, part, "steps", &s);
    }
    if (!status)
        status = codes_as_numbers(p, v->codes, "levels", &levels);
    if (!status)
        status = product(p, s, levels, "scaled", y);
    if (status || !p->f->mins)
        return status;
    status = pattern_as_number(p, v->d_min, "d_min_real", &s);
    if (!status)
        status = codes_as_numbers(p, v->mins, "mins_real", &part);
    if (!status)
        status = product(p, s, part, "offsets", &offset);
    const int in[] = {*y, offset};
    return !status ? quantize_units_add(&p->m, ASSAY_OP_SUB, in, 2, p->m.prefix, "blocks", NULL, y)
                   : status;
}

/* The weight w, a constant until now. */
static assay_status pack(packer *p, int w)
{
    const assay_value old = p->m.g->value[w];
    const int64_t all = assay_shape_count(&old.type) / p->f->block;
    packed v;
    pieces at = {NULL};
    int y;
    assay_status s = constants(p, &v, &at);
    for (int64_t i = 0; i < all && !s; i++)
        if (!store(p, i, old.data, &at))
            s = assay_fail(p->m.err, ASSAY_ERR_INPUT,
                           "constant '%.200s': block %lld holds a value that is not a number, or "
                           "too large for the scales of %s",
                           old.name, (long long)i, p->f->name);
    if (!s)
        s = decode(p, &v, &y);
    if (s)
        return s;
    assay_attrs shape = {.shape = {.shape = {.n = old.type.rank}}};
    memcpy(shape.shape.shape.v, old.type.dim, (size_t)old.type.rank * sizeof *old.type.dim);
    p->m.g->value[w].data = NULL;
    return assay_graph_add_node(p->m.g, ASSAY_OP_RESHAPE, NULL, &y, 1, &w, 1, &shape, NULL,
                                p->m.err);
}

/* Why the weight of node n stays; NULL: it need not. */
static const char *stays(const assay_graph *g, const assay_node *n, const mac_weights_format *f)
{
    const assay_value *w = &g->value[n->in[1]];
    if (!lower_is_f32_constant(g, n->in[1]))
        return "its weights are not constant floats";
    const int64_t count = assay_shape_count(&w->type);
    if (count == 0)
        return "its weights have no elements";
    if (count / w->type.dim[0] % f->block != 0)
        return f->block == 32 ? "its rows are not a multiple of 32 inputs"
                              : "its rows are not a multiple of 256 inputs";
    return NULL;
}

static bool has_weights(const assay_node *n)
{
    return n->op == ASSAY_OP_CONV || n->op == ASSAY_OP_FC || n->op == ASSAY_OP_MATMUL;
}

static assay_status pack_all(packer *p, assay_quantize_report *r)
{
    assay_graph *g = p->m.g;
    const int nodes = g->n_nodes;
    assay_status s = ASSAY_OK;
    for (int i = 0; i < nodes && !s; i++) {
        const assay_node n = g->node[i];
        if (!has_weights(&n) || g->value[n.in[1]].producer >= p->m.first_made)
            continue; /* or packed with another node */
        const char *why =
            n.op == ASSAY_OP_MATMUL ? "its operands are not rows of weights" : stays(g, &n, p->f);
        const assay_value w = g->value[n.in[1]];
        if (why) {
            s = quantize_report_note(r, &n, why, p->m.err);
            continue;
        }
        p->m.prefix = w.name;
        p->rows = w.type.dim[0];
        p->blocks = assay_shape_count(&w.type) / p->rows / p->f->block;
        p->parts = p->f->block / p->f->part;
        s = pack(p, n.in[1]);
        r->n_integer += !s;
    }
    return s;
}

assay_status quantize_pack_weights(const assay_graph *g, const char *format, assay_graph **out,
                                   assay_quantize_report *report, assay_error *err)
{
    packer p = {.m = {.err = err}, .f = mac_weights_find(format)};
    *out = NULL;
    if (!p.f)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "unknown format of weights '%.40s'; expected q4_0, q8_0, q4_K or q6_K",
                          format);
    assay_status s = assay_graph_clone(g, &p.m.g, err);
    if (s)
        return s;
    p.m.first_made = p.m.g->n_nodes;
    s = pack_all(&p, report);
    if (!s)
        s = assay_graph_compact(p.m.g, NULL, err);
    if (!s)
        s = assay_graph_verify(p.m.g, err);
    if (s)
        assay_graph_free(p.m.g);
    else
        *out = p.m.g;
    return s;
}
