/* The vtable of schemes of matrix units: a node's types and attributes turned into its arithmetic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "schemes/mac/scheme.h"
#include "schemes/mac/unit.h"

/* The float types in the order of assay_float_elem, f32 first. */
static const enum assay_mac_format formats[] = {
    [ASSAY_FLOAT_F32] = ASSAY_MAC_F32,         [ASSAY_FLOAT_F16] = ASSAY_MAC_F16,
    [ASSAY_FLOAT_BF16] = ASSAY_MAC_BF16,       [ASSAY_FLOAT_TF32] = ASSAY_MAC_TF32,
    [ASSAY_FLOAT_F8E4M3FN] = ASSAY_MAC_E4M3FN, [ASSAY_FLOAT_F8E4M3FNUZ] = ASSAY_MAC_E4M3FNUZ,
    [ASSAY_FLOAT_F8E5M2] = ASSAY_MAC_E5M2,     [ASSAY_FLOAT_F8E5M2FNUZ] = ASSAY_MAC_E5M2FNUZ,
    [ASSAY_FLOAT_F6E3M2] = ASSAY_MAC_E3M2,     [ASSAY_FLOAT_F6E2M3] = ASSAY_MAC_E2M3,
    [ASSAY_FLOAT_F4E2M1] = ASSAY_MAC_E2M1,     [ASSAY_FLOAT_F8E8M0] = ASSAY_MAC_E8M0,
    [ASSAY_FLOAT_INT8MX] = ASSAY_MAC_INT8MX,
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

bool mac_format_of(assay_elem e, enum assay_mac_format *f)
{
    if (e.kind != ASSAY_KIND_F32 && !assay_is_small_float(e))
        return false;
    *f = formats[e.kind == ASSAY_KIND_F32 ? 0 : e.kind - ASSAY_KIND_BOOL];
    return true;
}

enum assay_float_elem mac_elem_of(enum assay_mac_format f)
{
    for (int i = 0; i < N_FORMATS; i++)
        if (formats[i] == f)
            return (enum assay_float_elem)i;
    return ASSAY_FLOAT_F8E4M3FN; /* ue4m3 */
}

bool mac_is_elem(enum assay_mac_format f)
{
    for (int i = 0; i < N_FORMATS; i++)
        if (formats[i] == f)
            return true;
    return false;
}

const assay_mac *mac_scheme_unit(const assay_mac_scheme *s, enum assay_mac_format a,
                                 enum assay_mac_format b)
{
    for (int i = 0; i < s->n_units; i++)
        if (s->unit[i].record.a == a && s->unit[i].record.b == b)
            return &s->unit[i].record;
    return NULL;
}

static uint32_t bits_of(double x)
{
    const float f = (float)x;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static assay_status refuse(const assay_scheme *s, const assay_unit_spec *spec, const char *why,
                           assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_SCHEME, "node '%s' (%s): scheme '%s': %s", spec->node,
                      spec->op, s->name, why);
}

static assay_status scales(const assay_scheme *s, const assay_unit_spec *spec, assay_mac_node *m,
                           assay_error *err)
{
    const bool makes_scale = m->op == ASSAY_OP_BLOCK_SCALE;
    if (makes_scale)
        m->scaling.elements = formats[spec->flag & 0xff];
    else if (!mac_format_of(m->op == ASSAY_OP_FLOAT_ENCODE ? spec->out->elem : spec->in[0].elem,
                            &m->scaling.elements))
        return refuse(s, spec, "expected elements of small floats", err);
    if (!mac_format_of(makes_scale ? spec->out->elem : spec->in[1].elem, &m->scaling.to))
        return refuse(s, spec, "expected scales of floats", err);
    m->scaling.rule = (enum assay_scale_rule)(spec->flag >> 8);
    m->scaling.by = (enum assay_scale_by)(spec->flag & 1);
    m->scaling.saturate = m->op != ASSAY_OP_FLOAT_ENCODE || (spec->flag & 2) != 0;
    m->scaling.round = (enum assay_power_round)(spec->flag >> 2 & 3);
    m->scaling.reach = bits_of(spec->alpha);
    return ASSAY_OK;
}

static assay_status matrix(const assay_scheme *s, const assay_unit_spec *spec, assay_mac_node *m,
                           assay_error *err)
{
    enum assay_mac_format a, b;
    if (!mac_format_of(spec->in[0].elem, &a) || !mac_format_of(spec->in[1].elem, &b) ||
        !mac_format_of(spec->in[2].elem, &m->a_scale) ||
        !mac_format_of(spec->in[3].elem, &m->b_scale))
        return refuse(s, spec, "expected floats", err);
    const assay_mac *unit = mac_scheme_unit(s->mac, a, b);
    char why[128];
    snprintf(why, sizeof why, "it has no unit for %s by %s", mac_layout_of(a)->name,
             mac_layout_of(b)->name);
    if (!unit)
        return refuse(s, spec, why, err);
    m->mac = *unit;
    m->depth = (size_t)spec->depth;
    m->a_run = spec->scale_block[0];
    m->b_run = spec->scale_block[1];
    m->has_operand[0] = (spec->n_in > 4 && spec->in[4].elem.kind != ASSAY_KIND_NONE) ||
                        (spec->n_in > 5 && spec->in[5].elem.kind != ASSAY_KIND_NONE);
    m->has_operand[1] = spec->n_in > 6 && spec->in[6].elem.kind != ASSAY_KIND_NONE;
    const int64_t block = unit->scale_block;
    const enum assay_mac_format unit_scale =
        unit->scale == ASSAY_MAC_UE4M3 ? ASSAY_MAC_E4M3FN : (enum assay_mac_format)unit->scale;
    if (block > 0 && (m->a_scale != unit_scale || m->b_scale != unit_scale))
        return refuse(s, spec, "its unit takes scales in another format", err);
    if (block > 0 && (m->a_run % block != 0 || m->b_run % block != 0))
        return refuse(s, spec, "its unit's scales cover fewer elements of K", err);
    const int64_t shorter = m->a_run < m->b_run ? m->a_run : m->b_run,
                  longer = m->a_run < m->b_run ? m->b_run : m->a_run;
    if (block == 0 && longer < spec->depth && longer % shorter != 0)
        return refuse(s, spec, "the runs of K that share a scale are not nested", err);
    return ASSAY_OK;
}

/* Checks that everything read and written is f32. */
static assay_status check_floats(const assay_scheme *s, const assay_unit_spec *spec,
                                 assay_error *err)
{
    bool all = spec->out->elem.kind == ASSAY_KIND_F32;
    for (int i = 0; i < spec->n_in; i++)
        all = all &&
              (spec->in[i].elem.kind == ASSAY_KIND_F32 || spec->in[i].elem.kind == ASSAY_KIND_NONE);
    return all ? ASSAY_OK
               : refuse(s, spec,
                        "its inputs and output must be f32, in which the scheme computes this op",
                        err);
}

static assay_status prepare_node(const assay_scheme *s, const assay_unit_spec *spec,
                                 assay_mac_node *m, assay_error *err)
{
    if (!mac_computes(m->op))
        return refuse(s, spec, "no arithmetic for this op", err);
    switch (m->op) {
    case ASSAY_OP_BLOCK_SCALE:
    case ASSAY_OP_FLOAT_ENCODE:
    case ASSAY_OP_FLOAT_DECODE:
        return scales(s, spec, m, err);
    case ASSAY_OP_SCALED_MATMUL:
        return matrix(s, spec, m, err);
    case ASSAY_OP_QUANTIZE:
        return mac_read_codes(spec->out, m, err);
    case ASSAY_OP_DEQUANTIZE:
        return mac_read_codes(&spec->in[0], m, err);
    default:
        m->has_operand[0] = spec->n_in > 1 && spec->in[1].elem.kind != ASSAY_KIND_NONE;
        m->has_operand[1] = spec->n_in > 2 && spec->in[2].elem.kind != ASSAY_KIND_NONE;
        return check_floats(s, spec, err);
    }
}

static assay_status prepare(const assay_scheme *s, const assay_unit_spec *spec, assay_unit **out,
                            assay_error *err)
{
    assay_mac_node *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m)
        return assay_out_of_memory(err);
    m->op = assay_op_find(spec->op);
    m->floats = (enum assay_mac_format)((const assay_mac_scheme *)s->mac)->floats;
    m->lo = bits_of(spec->act_lo);
    m->hi = bits_of(spec->act_hi);
    m->alpha = bits_of(spec->alpha);
    m->beta = bits_of(spec->beta);
    m->epsilon = bits_of(spec->epsilon);
    m->flag = spec->flag;
    const assay_status status = prepare_node(s, spec, m, err);
    *out = (assay_unit *)(void *)m;
    if (status) {
        mac_vtable.release(*out);
        *out = NULL;
    }
    return status;
}

static void release(assay_unit *u)
{
    assay_mac_node *m = (assay_mac_node *)(void *)u;
    free(m->scale);
    free(m->zero);
    free(m);
}

static size_t params(const assay_unit *u, assay_unit_param *list, size_t max)
{
    (void)u, (void)list, (void)max;
    return 0;
}

bool mac_converts(enum assay_op op)
{
    return op == ASSAY_OP_BLOCK_SCALE || op == ASSAY_OP_FLOAT_ENCODE || op == ASSAY_OP_FLOAT_DECODE;
}

static const assay_mac_scheme no_units = {.floats = ASSAY_MAC_F32};
const assay_scheme mac_conversions = {.vt = &mac_vtable,
                                      .name = "conversions",
                                      .description = "small floats made and read",
                                      .text = "",
                                      .mac = &no_units};

const assay_scheme_vtable mac_vtable = {
    .abi = ASSAY_SCHEME_ABI,
    .size = sizeof(assay_scheme_vtable),
    .name = "matrix units",
    .description = "products on matrix units of small floats, all else in binary32",
    .prepare = prepare,
    .release = release,
    .params = params,
    .binary = mac_binary,
    .unary = mac_unary,
    .row = mac_row,
    .quantize = mac_quantize,
    .dequantize = mac_dequantize,
    .dot = mac_unit_dot,
};
