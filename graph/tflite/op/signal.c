/* TFLite Micro's operators on signals that have no state (signal/micro/kernels of
 * github.com/tensorflow/tflite-micro): windows, transforms, the features of a spectrum. */
#include <math.h>
#include <string.h>

#include "graph/tflite/op/chain.h"

enum { NONE = ASSAY_NO_VALUE };

/* y = x * weights >> shift, saturated; weights along the last axis. */
assay_status tfl_custom_window(const tfl_op *o)
{
    const tfl_port in[2] = {{TFL_INT16, -1}, {TFL_INT16, 1}}, out = {TFL_INT16, -1};
    const assay_attrs narrow = {.cast.to = ASSAY_CAST_I16};
    const assay_elem word = assay_int(32, true);
    tfl_chain c = tfl_chain_of(o, 2, in, 1, &out);
    const int64_t shift = tfl_whole(&c, "shift", 0, 31);
    const int x = tfl_chain_in(&c, 0), w = tfl_chain_in(&c, 1);

    if (!c.s)
        tfl_holds(&c,
                  tfl_chain_type(&c, x)->rank > 0 &&
                      tfl_chain_type(&c, x)->dim[tfl_chain_type(&c, x)->rank - 1] ==
                          tfl_chain_type(&c, w)->dim[0],
                  "the rows of its input are not as long as the window");
    int v = tfl_chain_cast(&c, "wide", ASSAY_CAST_I32, x);
    v = tfl_link(&c, "product", ASSAY_OP_MUL, NULL, v, w);
    v = tfl_link(&c, "shifted", ASSAY_OP_SHIFT_RIGHT, NULL, v,
                 tfl_chain_number(&c, "shift", word, shift));
    tfl_chain_end(&c, tfl_chain_out(&c, 0), ASSAY_OP_CAST, &narrow, tfl_chain_saturated(&c, v),
                  NONE);
    return c.s;
}

/* ---- transforms ---- */

assay_status tfl_custom_auto_scale(const tfl_op *o)
{
    const tfl_port in = {TFL_INT16, 1}, out[2] = {{TFL_INT16, 1}, {TFL_INT32, 0}};
    tfl_chain c = tfl_chain_of(o, 1, &in, 2, out);
    const int x = tfl_chain_in(&c, 0);
    const int y[2] = {tfl_chain_out(&c, 0), tfl_chain_out(&c, 1)};

    return c.s ? c.s : tfl_node(o, ASSAY_OP_SIGNAL_SCALE, &x, 1, y, 2, NULL, NULL);
}

/* exp(-2 pi i k / n) in units of the greatest integer, rounded half up. */
static int twiddle_factors(tfl_chain *c, assay_elem elem, int64_t n)
{
    const assay_type type = {.elem = elem, .rank = 2, .dim = {n, 2}};
    const double max = (double)assay_elem_max(elem), pi = 3.14159265358979323846;
    void *data;
    const int value = tfl_chain_table(c, "turns", &type, &data);

    for (int64_t k = 0; data && k < n; ++k) {
        const double phase = -2 * pi * (double)k / (double)n;
        assay_elem_set(elem, data, (size_t)(2 * k), (int64_t)floor(0.5 + max * cos(phase)));
        assay_elem_set(elem, data, (size_t)(2 * k + 1), (int64_t)floor(0.5 + max * sin(phase)));
    }
    return value;
}

/* Rows of x with zeros behind, `n` long. */
static int padded(tfl_chain *c, int x, int64_t n)
{
    const assay_type *t = c->s ? NULL : tfl_chain_type(c, x);
    assay_attrs a;

    if (c->s || !tfl_holds(c, t->rank > 0 && t->dim[t->rank - 1] <= n,
                           "its rows are longer than fft_length"))
        return NONE;
    if (t->dim[t->rank - 1] == n)
        return x;
    assay_attrs_defaults(ASSAY_ATTRS_pad, &a);
    a.pad.begin.n = a.pad.end.n = t->rank;
    a.pad.end.v[t->rank - 1] = n - t->dim[t->rank - 1];
    return tfl_link(c, "padded", ASSAY_OP_PAD, &a, x, NONE);
}

static assay_status transform(const tfl_op *o, assay_op kind)
{
    const enum tfl_type type = o->n_in > 0 && tfl_has(o, 0) ? tfl_in(o, 0)->raw : TFL_INT16;
    const tfl_port rows = {type, -1};
    tfl_chain c = tfl_chain_of(o, 1, &rows, 1, &rows);
    const int64_t n = tfl_whole(&c, "fft_length", 4, 1 << 20);

    if (!c.s && type != TFL_INT16 && type != TFL_INT32)
        return tfl_unsupported(o, "a transform of %s", tfl_type_name(type));
    if (!c.s && (n & (n - 1)))
        return tfl_unsupported(o, "an fft_length that is no power of two");
    int x = tfl_chain_in(&c, 0);
    if (kind == ASSAY_OP_RFFT)
        x = padded(&c, x, n);
    tfl_chain_end(&c, tfl_chain_out(&c, 0), kind, NULL, x,
                  twiddle_factors(&c, assay_int(type == TFL_INT16 ? 16 : 32, true), n));
    return c.s;
}

assay_status tfl_custom_rfft(const tfl_op *o)
{
    return transform(o, ASSAY_OP_RFFT);
}

assay_status tfl_custom_irfft(const tfl_op *o)
{
    return transform(o, ASSAY_OP_IRFFT);
}

/* ---- features ---- */

/* re^2 + im^2 from start_index to end_index; TFLite Micro leaves the others as they were, here they
 * are 0. */
assay_status tfl_custom_energy(const tfl_op *o)
{
    const tfl_port in = {TFL_INT16, 1}, out = {TFL_UINT32, 1};
    tfl_chain c = tfl_chain_of(o, 1, &in, 1, &out);
    const int64_t n = c.s ? 1 : tfl_in(o, 0)->type.dim[0] / 2;
    const int64_t start = tfl_whole(&c, "start_index", 0, n - 1);
    const int64_t end = tfl_whole(&c, "end_index", start + 1, n);
    const assay_attrs pairs = {.shape.shape = {.n = 2, .v = {n, 2}}};
    const assay_attrs within = {
        .slice = {.begin = {.n = 2, .v = {start, 0}}, .size = {.n = 2, .v = {end - start, 2}}}};
    assay_attrs parts = {.reduce.axes = {.n = 1, .v = {1}}}, around;

    int v = tfl_link(&c, "pairs", ASSAY_OP_RESHAPE, &pairs, tfl_chain_in(&c, 0), NONE);
    v = tfl_link(&c, "within", ASSAY_OP_SLICE, &within, v, NONE);
    v = tfl_chain_cast(&c, "wide", ASSAY_CAST_U32, v);
    v = tfl_link(&c, "squares", ASSAY_OP_MUL, NULL, v, v);
    v = tfl_link(&c, "sums", ASSAY_OP_REDUCE_SUM, &parts, v, NONE);
    assay_attrs_defaults(ASSAY_ATTRS_pad, &around);
    around.pad.begin = (assay_list){.n = 1, .v = {start}};
    around.pad.end = (assay_list){.n = 1, .v = {n - end}};
    tfl_chain_end(&c, tfl_chain_out(&c, 0), ASSAY_OP_PAD, &around, v, NONE);
    return c.s;
}

/* The constants of a filter bank. */
typedef struct bank {
    const int16_t *weights, *unweights, *first, *at, *width;
    int64_t n_weights, n_unweights;
} bank;

static const int16_t *numbers(tfl_chain *c, int i, int64_t least, int64_t *n)
{
    tfl_tensor *t = c->s ? NULL : tfl_in(c->o, i);
    const void *data = NULL;

    if (!t)
        return NULL;
    *n = t->type.dim[0];
    if (t->why || !assay_tfl_is_constant(t) || *n < 1)
        c->s = tfl_unsupported(c->o, "input %d is not constant", i);
    else
        c->s = tfl_elements(c->o->m, t, &data);
    tfl_holds(c, *n >= least, "fewer bands than num_channels + 1");
    return c->s ? NULL : data;
}

static bank bank_of(tfl_chain *c, int64_t channels)
{
    bank b = {0};
    int64_t n;

    b.weights = numbers(c, 1, 1, &b.n_weights);
    b.unweights = numbers(c, 2, 1, &b.n_unweights);
    b.first = numbers(c, 3, channels + 1, &n);
    b.at = numbers(c, 4, channels + 1, &n);
    b.width = numbers(c, 5, channels + 1, &n);
    return b;
}

/* Band i weighs the spectrum into channel i - 1, and the rest of it into channel i. */
static void fill_band(tfl_chain *c, const bank *b, int64_t i, int64_t bins, int64_t channels,
                      int32_t *m)
{
    const int64_t first = b->first[i], at = b->at[i], width = b->width[i];

    if (width <= 0 || !tfl_holds(c,
                                 first >= 0 && first + width <= bins && at >= 0 &&
                                     at + width <= b->n_weights && at + width <= b->n_unweights,
                                 "a band leaves the spectrum or the weights"))
        return;
    for (int64_t j = 0; j < width; ++j) {
        int32_t *row = m + (first + j) * channels;
        if (i > 0)
            row[i - 1] += b->weights[at + j];
        if (i < channels)
            row[i] += b->unweights[at + j];
    }
}

/* The product with the matrix of the bank, modulo 2^64: the output, UINT64 in the file, is i64 of
 * the same bits, which SignalFilterBankSquareRoot takes as a number without a sign. */
assay_status tfl_custom_filter_bank(const tfl_op *o)
{
    const tfl_port in[6] = {{TFL_UINT32, 1}, {TFL_INT16, 1}, {TFL_INT16, 1},
                            {TFL_INT16, 1},  {TFL_INT16, 1}, {TFL_INT16, 1}};
    const tfl_port out = {TFL_UINT64, 1};
    tfl_chain c = tfl_chain_of(o, 6, in, 1, &out);
    const int64_t channels = tfl_whole(&c, "num_channels", 1, 1 << 15);
    const int64_t bins = c.s ? 1 : tfl_in(o, 0)->type.dim[0];
    const assay_type matrix = {.elem = assay_int(32, true), .rank = 2, .dim = {bins, channels}};
    const bank b = bank_of(&c, channels);
    void *m;
    const int w = tfl_chain_table(&c, "bank", &matrix, &m);

    for (int64_t i = 0; !c.s && i <= channels; ++i)
        fill_band(&c, &b, i, bins, channels, m);
    if (c.s)
        return c.s;
    tfl_out(o, 0)->type.elem = assay_int(64, true);
    tfl_out(o, 0)->why = NULL;
    const int x = tfl_chain_cast(&c, "wide", ASSAY_CAST_I64, tfl_chain_in(&c, 0));
    tfl_chain_end(&c, tfl_chain_out(&c, 0), ASSAY_OP_MATMUL, NULL, x, w);
    return c.s;
}

assay_status tfl_custom_square_root(const tfl_op *o)
{
    const tfl_port in[2] = {{TFL_UINT64, 1}, {TFL_INT32, 0}}, out = {TFL_UINT32, 1};
    tfl_chain c = tfl_chain_of(o, 2, in, 1, &out);
    const int root = tfl_link(&c, "root", ASSAY_OP_SIGNAL_ROOT, NULL, tfl_chain_in(&c, 0), NONE);

    tfl_chain_end(&c, tfl_chain_out(&c, 0), ASSAY_OP_SHIFT_RIGHT, NULL, root, tfl_chain_in(&c, 1));
    return c.s;
}

assay_status tfl_custom_pcan(const tfl_op *o)
{
    const tfl_port in[3] = {{TFL_UINT32, 1}, {TFL_UINT32, 1}, {TFL_INT16, 1}};
    tfl_chain c = tfl_chain_of(o, 3, in, 1, in);
    const assay_attrs a = {.pcan.shift = tfl_whole(&c, "snr_shift", 0, 63)};
    const int x[3] = {tfl_chain_in(&c, 0), tfl_chain_in(&c, 1), tfl_chain_in(&c, 2)};
    const int y = tfl_chain_out(&c, 0);

    return c.s ? c.s : tfl_node(o, ASSAY_OP_PCAN, x, 3, &y, 1, &a, NULL);
}

/* log2(1 + k/128) - k/128, in 2^-16. */
static int log_curve(tfl_chain *c)
{
    const assay_type type = {.elem = assay_int(32, true), .rank = 1, .dim = {129}};
    void *data;
    const int value = tfl_chain_table(c, "curve", &type, &data);

    for (int k = 0; data && k < 129; ++k)
        ((int32_t *)data)[k] = (int32_t)floor(0x1p16 * (log2(1 + k / 128.0) - k / 128.0) + 0.5);
    return value;
}

assay_status tfl_custom_filter_bank_log(const tfl_op *o)
{
    const tfl_port in = {TFL_UINT32, 1}, out = {TFL_INT16, 1};
    tfl_chain c = tfl_chain_of(o, 1, &in, 1, &out);
    const assay_attrs a = {.signal_log = {.scale = tfl_whole(&c, "output_scale", 0, INT32_MAX),
                                          .shift = tfl_whole(&c, "input_correction_bits", 0, 31)}};
    const int x = tfl_chain_in(&c, 0);

    tfl_chain_end(&c, tfl_chain_out(&c, 0), ASSAY_OP_SIGNAL_LOG, &a, x, log_curve(&c));
    return c.s;
}
