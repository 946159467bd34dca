/* Sums and differences of two one-byte codes as one linear function of floats; see linear.h. */
#include "interp/fast/linear.h"

#include <string.h>

#include "interp/ref/ref.h"

enum { CODES = 256 };

/* The bytes of an element's codes, least code first. */
static int bytes_of(assay_elem e, uint8_t byte[CODES])
{
    int n = 0;
    for (int64_t q = assay_elem_min(e); q <= assay_elem_max(e); q++)
        byte[n++] = (uint8_t)q;
    return n;
}

static bool gives(const assay_fast_setup *s, const assay_linear *l, const uint8_t *table)
{
    uint8_t byte_a[CODES], byte_b[CODES], a[CODES], y[CODES], want[CODES];
    const int na = bytes_of(assay_node_in(s->graph, s->node, 0)->type.elem, byte_a);
    const int nb = bytes_of(assay_node_in(s->graph, s->node, 1)->type.elem, byte_b);
    for (int i = 0; i < na; i++) {
        memset(a, byte_a[i], sizeof a);
        for (int j = 0; j < nb; j++)
            want[j] = table[byte_a[i] * CODES + byte_b[j]];
        s->kernels->rows_of_bytes->linear(l, a, byte_b, (size_t)nb, y);
        if (memcmp(y, want, (size_t)nb) != 0)
            return false;
    }
    return true;
}

/* The codes that occur lie between lo and hi. */
static void find_bounds(const assay_fast_setup *s, const uint8_t *table, int32_t *lo, int32_t *hi)
{
    uint8_t byte_a[CODES], byte_b[CODES];
    const int na = bytes_of(assay_node_in(s->graph, s->node, 0)->type.elem, byte_a);
    const int nb = bytes_of(assay_node_in(s->graph, s->node, 1)->type.elem, byte_b);
    const bool is_signed = assay_node_out(s->graph, s->node, 0)->type.elem.is_signed;
    *lo = INT32_MAX;
    *hi = INT32_MIN;
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++) {
            const uint8_t byte = table[byte_a[i] * CODES + byte_b[j]];
            const int32_t y = is_signed ? (int8_t)byte : byte;
            *lo = y < *lo ? y : *lo;
            *hi = y > *hi ? y : *hi;
        }
}

/* Slopes are the quotients of scales, nudged by some units in the last place; or both made larger
 * or smaller, so that ties go away from zero or towards it. Ties to even go by the code if the zero
 * point is inside what is rounded. */
static const float nudges[][2] = {{0, 0},
                                  {0x1p-15f, 0x1p-15f},
                                  {-0x1p-15f, -0x1p-15f},
                                  {0x1p-24f, 0},
                                  {-0x1p-24f, 0},
                                  {0, 0x1p-24f},
                                  {0, -0x1p-24f},
                                  {0x1p-23f, 0},
                                  {-0x1p-23f, 0},
                                  {0, 0x1p-23f},
                                  {0, -0x1p-23f},
                                  {0x1p-23f, 0x1p-23f},
                                  {-0x1p-23f, 0x1p-23f},
                                  {0x1p-23f, -0x1p-23f},
                                  {-0x1p-23f, -0x1p-23f},
                                  {0x1p-22f, 0},
                                  {0, 0x1p-22f},
                                  {-0x1p-22f, 0},
                                  {0, -0x1p-22f}};

bool fast_linear_find(const assay_fast_setup *s, const uint8_t *table, assay_linear *out)
{
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    const int32_t zero = ref_zero_point(y, 0);
    double slope[2], origin[2];
    if ((s->node->op != ASSAY_OP_ADD && s->node->op != ASSAY_OP_SUB) || !assay_is_quantized(y))
        return false;
    for (int i = 0; i < 2; i++) {
        const assay_type *x = &assay_node_in(s->graph, s->node, i)->type;
        if (!assay_is_quantized(x))
            return false;
        slope[i] = (double)x->q.scale[0] / (double)y->q.scale[0];
        slope[i] = i == 1 && s->node->op == ASSAY_OP_SUB ? -slope[i] : slope[i];
        if (!(slope[i] > -1024 && slope[i] < 1024))
            return false;
        out->flip[i] = x->elem.is_signed ? 0x80 : 0;
        origin[i] = ref_zero_point(x, 0) + out->flip[i];
    }
    find_bounds(s, table, &out->lo, &out->hi);
    for (size_t n = 0; n < 2 * sizeof nudges / sizeof *nudges; n++) {
        const int32_t inside = n % 2 ? zero : 0;
        double offset = inside;
        for (int i = 0; i < 2; i++) {
            out->slope[i] = (float)(slope[i] * (1 + (double)nudges[n / 2][i]));
            offset -= origin[i] * (double)out->slope[i];
        }
        out->offset = (float)offset;
        out->zero = zero - inside;
        if (gives(s, out, table))
            return true;
    }
    return false;
}
