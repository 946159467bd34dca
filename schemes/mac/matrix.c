/* A matrix unit with a network's scales: scheme.h has the formulas. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "schemes/mac/functions.h"
#include "schemes/mac/terms.h"
#include "schemes/mac/unit.h"

/* Rows in the form that a unit takes, in one piece of memory: K is filled up with zeros, whose
 * scales repeat the last one. */
typedef struct rows {
    char *room;
    char *a, *b, *scale_a, *scale_b;
    size_t k;
    uint32_t d; /* of f32 at most */
} rows;

static assay_status fill(const assay_mac_node *m, const assay_dot *d, size_t first, size_t last,
                         rows *r, assay_error *err)
{
    const size_t multiple = mac_multiple(&m->mac), block = (size_t)m->mac.scale_block;
    r->k = (last - first + multiple - 1) / multiple * multiple;
    r->room = calloc(4 * r->k + 1, sizeof(uint32_t));
    if (!r->room)
        return assay_out_of_memory(err);
    r->a = r->room;
    r->b = r->a + 4 * r->k;
    r->scale_a = r->b + 4 * r->k;
    r->scale_b = r->scale_a + 4 * r->k;
    for (size_t i = first; i < last; i++) {
        mac_store(m->mac.a, r->a, i - first, (uint32_t)d->a[i]);
        mac_store(m->mac.b, r->b, i - first, (uint32_t)d->b[i]);
    }
    for (size_t i = 0; block > 0 && i < r->k / block; i++) {
        const size_t at = first + i * block < last ? first + i * block : last - 1;
        mac_store(m->mac.scale, r->scale_a, i, (uint32_t)d->a_scale[at / (size_t)m->a_run]);
        mac_store(m->mac.scale, r->scale_b, i, (uint32_t)d->b_scale[at / (size_t)m->b_run]);
    }
    return ASSAY_OK;
}

/* The unit's dot product over elements first to last of K, from +0, as f32. */
static assay_status run(const assay_mac_node *m, const assay_dot *d, size_t first, size_t last,
                        uint32_t *y, const mac_watch *watch, assay_error *err)
{
    rows r = {.d = 0};
    assay_status s = fill(m, d, first, last, &r, err);
    if (s)
        return s;
    const bool scaled = m->mac.scale_block > 0;
    const assay_mac_rows in = {.k = r.k,
                               .a = r.a,
                               .b = r.b,
                               .scale_a = scaled ? r.scale_a : NULL,
                               .scale_b = scaled ? r.scale_b : NULL};
    uint16_t half;
    const bool is_half = mac_layout_of((enum assay_mac_format)m->mac.out)->bits == 16;
    s = mac_dot_watched(&m->mac, &in, is_half ? (void *)&half : (void *)&r.d, watch, err);
    free(r.room);
    *y = mac_to_f32((enum assay_mac_format)m->mac.out, is_half ? half : r.d);
    return s;
}

static uint32_t scale_product(const assay_mac_node *m, const assay_dot *d, size_t at)
{
    const int32_t a = d->a_scale[at / (size_t)m->a_run], b = d->b_scale[at / (size_t)m->b_run];
    return apply_f32_mul(mac_to_f32(m->a_scale, (uint32_t)a), mac_to_f32(m->b_scale, (uint32_t)b));
}

size_t mac_unit_run(const assay_mac_node *m)
{
    const size_t length = (size_t)(m->a_run < m->b_run ? m->a_run : m->b_run);
    return m->mac.scale_block > 0 || length > m->depth ? m->depth : length;
}

uint32_t mac_unit_add_run(const assay_mac_node *m, const assay_dot *d, size_t first, uint32_t part,
                          uint32_t y)
{
    if (m->mac.scale_block > 0)
        return part;
    return mac_unit_run(m) == m->depth ? apply_f32_mul(part, scale_product(m, d, first))
                                       : apply_f32_fma(scale_product(m, d, first), part, y);
}

uint32_t mac_unit_end(const assay_mac_node *m, const assay_dot *d, uint32_t y)
{
    const assay_teller *t = m->teller;
    if (m->has_operand[0]) {
        y = apply_f32_mul(y, apply_f32_mul((uint32_t)d->a_second, (uint32_t)d->b_second));
        apply_tell_f32(t, "times the scales of the scales", y);
    }
    if (m->has_operand[1]) {
        y = apply_f32_add(y, (uint32_t)d->bias);
        apply_tell_f32(t, "plus bias", y);
    }
    y = mac_finish(m, y);
    apply_tell_f32(t, "within bounds, as a float of the scheme", y);
    return y;
}

/* Traces a run that was added to y with its scales. */
static void tell_run(const assay_mac_node *m, const assay_dot *d, size_t at, uint32_t part,
                     uint32_t y)
{
    apply_tell_f32(m->teller, "sum of the run", part);
    if (m->mac.scale_block > 0)
        return;
    apply_tell_f32(m->teller, "scale of a * scale of b", scale_product(m, d, at));
    apply_tell_f32(m->teller, mac_unit_run(m) == m->depth ? "scaled" : "scaled and added, fused",
                   y);
}

assay_status mac_unit_dot(const assay_unit *u, const assay_dot *d, int32_t *out, assay_error *err)
{
    return mac_unit_dot_watched(u, d, out, NULL, err);
}

assay_status mac_unit_dot_watched(const assay_unit *u, const assay_dot *d, int32_t *out,
                                  const mac_watch *watch, assay_error *err)
{
    const assay_mac_node *m = mac_node(u);
    const size_t length = mac_unit_run(m);
    assay_status s = ASSAY_OK;
    uint32_t y = 0, part;
    assert(d->k == m->depth);
    for (size_t i = 0; i < d->k && !s; i += length) {
        s = run(m, d, i, i + length < d->k ? i + length : d->k, &part, watch, err);
        if (s)
            break;
        y = mac_unit_add_run(m, d, i, part, y);
        if (m->teller)
            tell_run(m, d, i, part, y);
    }
    *out = (int32_t)mac_unit_end(m, d, y);
    return s;
}
