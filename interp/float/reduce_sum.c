/* reduce_sum, reduce_mean of floats: y = the sum over attr.axes of x, for the mean divided by how
 * many there are.
 *
 * In the order of ONNX Runtime 1.30 on x86-64 (core/providers/cpu/reduction/reduction_ops.h), which
 * depends on how the axes alternate once neighbours that are both kept (K) or both reduced (R) are
 * one: rows (R, KR, RKR) by Eigen's vector sum (Eigen/src/Core/Redux.h), RKR row after row; columns
 * in turn (RK), or by fours as a product with ones (KRK); anything else in turn, and so are KRK and
 * RKR where nothing is there for a second thread, and what says so (attribute in_turn). */
#include "interp/float/float.h"

#define PACKET 4

typedef struct layout {
    int n;
    bool reduced[ASSAY_MAX_RANK];
    int64_t extent[ASSAY_MAX_RANK];
} layout;

/* The axes with neighbours of one kind joined. */
static layout layout_of(const assay_attr_reduce *a, const assay_type *x)
{
    bool reduced[ASSAY_MAX_RANK] = {false};
    layout l = {0};
    for (int i = 0; i < a->axes.n; i++)
        reduced[(int)a->axes.v[i]] = true;
    for (int d = 0; d < x->rank; d++) {
        if (l.n == 0 || l.reduced[l.n - 1] != reduced[d]) {
            l.reduced[l.n] = reduced[d];
            l.extent[l.n++] = 1;
        }
        l.extent[l.n - 1] *= x->dim[d];
    }
    return l;
}

/* Eigen's sum of n neighbours, the first of which is `place` elements from an aligned address:
 * packets of four by turns in two sums, then the packet's elements crosswise, then what lies before
 * the first packet and behind the last. */
static float row_sum(const float *x, int64_t n, int64_t place)
{
    int64_t start = (PACKET - place % PACKET) % PACKET;
    start = start < n ? start : n;
    const int64_t packets = (n - start) / PACKET, pairs = packets / 2;
    float sum[2][PACKET] = {{0}}, s;

    if (packets == 0) {
        s = x[0];
        for (int64_t i = 1; i < n; i++)
            s += x[i];
        return s;
    }
    for (int k = 0; k < PACKET; k++) {
        sum[0][k] = x[start + k];
        for (int64_t p = 1; p < 2 * pairs; p++)
            sum[p % 2][k] =
                p == 1 ? x[start + PACKET + k] : sum[p % 2][k] + x[start + p * PACKET + k];
        if (pairs)
            sum[0][k] += sum[1][k];
        if (packets % 2 && packets > 1)
            sum[0][k] += x[start + (packets - 1) * PACKET + k];
    }
    s = (sum[0][0] + sum[0][2]) + (sum[0][1] + sum[0][3]);
    for (int64_t i = 0; i < start; i++)
        s += x[i];
    for (int64_t i = start + packets * PACKET; i < n; i++)
        s += x[i];
    return s;
}

/* R, KR, RKR: `outer` times `kept` rows of n. */
static void sum_rows(const float *x, int64_t outer, int64_t kept, int64_t n, float *y)
{
    for (int64_t k = 0; k < kept; k++) {
        y[k] = row_sum(x + k * n, n, k * n);
        for (int64_t o = 1; o < outer; o++)
            y[k] += row_sum(x + (o * kept + k) * n, n, (o * kept + k) * n);
    }
}

/* RK: n rows of `kept`. */
static void sum_columns(const float *x, int64_t n, int64_t kept, float *y)
{
    for (int64_t k = 0; k < kept; k++)
        y[k] = x[k];
    for (int64_t i = 1; i < n; i++)
        for (int64_t k = 0; k < kept; k++)
            y[k] += x[i * kept + k];
}

/* KRK: `outer` times a row of ones times n rows of `kept`. */
static void sum_by_fours(const float *x, int64_t outer, int64_t n, int64_t kept, float *y)
{
    for (int64_t o = 0; o < outer; o++, y += kept)
        for (int64_t i = 0; i < n; i += 4) {
            const int64_t rest = n - i;
            const int64_t count[] = {rest < 4 ? rest & 2 : 4, rest < 4 ? rest & 1 : 0};
            for (int part = 0; part < 2; part++) {
                for (int64_t k = 0; count[part] && k < kept; k++) {
                    float s = x[k];
                    for (int64_t r = 1; r < count[part]; r++)
                        s += x[r * kept + k];
                    y[k] = i == 0 && (part == 0 || count[0] == 0) ? s : s + y[k];
                }
                x += count[part] * kept;
            }
        }
}

/* In turn, whatever the axes. */
static void sum_in_turn(const float *x, const layout *l, float *y, int64_t outputs)
{
    int64_t step[ASSAY_MAX_RANK], index[ASSAY_MAX_RANK] = {0}, count = 1, to = 0, each = 1;

    for (int d = l->n - 1; d >= 0; d--) {
        step[d] = l->reduced[d] ? 0 : each;
        each *= l->reduced[d] ? 1 : l->extent[d];
        count *= l->extent[d];
    }
    for (int64_t i = 0; i < outputs; i++)
        y[i] = 0;
    for (int64_t i = 0; i < count; i++) {
        y[to] += x[i];
        for (int d = l->n - 1; d >= 0; d--) {
            to += step[d];
            if (++index[d] < l->extent[d])
                break;
            to -= step[d] * l->extent[d];
            index[d] = 0;
        }
    }
}

void float_sums(const assay_call *call, bool mean)
{
    const assay_attr_reduce *a = &call->node->attr.reduce;
    const assay_view *x = &call->in[0], *y = &call->out[0];
    const layout l = layout_of(a, x->type);
    const int64_t *e = l.extent;
    const int64_t inputs = assay_shape_count(x->type), outputs = assay_shape_count(y->type);
    float *to = y->data;

    if (inputs == 0 || l.n == 0 || l.n > 3 || a->in_turn)
        sum_in_turn(x->data, &l, to, inputs ? outputs : 0);
    else if (l.n == 1)
        l.reduced[0] ? sum_rows(x->data, 1, 1, e[0], to) : sum_columns(x->data, 1, e[0], to);
    else if (l.n == 2)
        l.reduced[1] ? sum_rows(x->data, 1, e[0], e[1], to) : sum_columns(x->data, e[0], e[1], to);
    else if (e[l.reduced[0]] < 2)
        sum_in_turn(x->data, &l, to, outputs);
    else if (l.reduced[0])
        sum_rows(x->data, e[0], e[1], e[2], to);
    else
        sum_by_fours(x->data, e[0], e[1], e[2], to);
    for (int64_t i = 0; i < outputs; i++) {
        const assay_teller *t = float_teller(call, i);
        if (inputs == 0)
            to[i] = 0;
        apply_tell(t, "elements", inputs / outputs);
        apply_tell_float(t, "their sum", to[i]);
        if (mean) {
            to[i] /= (float)(inputs / outputs);
            apply_tell_float(t, "mean", to[i]);
        }
    }
}
