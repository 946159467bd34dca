/* TFLite Micro's operators on signals that remember what came before (signal/micro/kernels of
 * github.com/tensorflow/tflite-micro): frames, delays, overlaps, stacks of frames, the noise of
 * each channel. Its circular buffers are variables here, oldest samples first. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "graph/tflite/op/chain.h"

enum { NONE = ASSAY_NO_VALUE };

/* The type of the rows of x with another last extent. */
static assay_type rows_of(const tfl_chain *c, int x, int64_t n)
{
    assay_type t = *tfl_chain_type(c, x);
    t.dim[t.rank - 1] = n;
    return t;
}

/* ---- SignalDelay, SignalFramer ---- */

/* The last `n` samples of earlier runs, zeros at first, before x; they become the last n of both.
 */
static int stream(tfl_chain *c, int x, int64_t n)
{
    const assay_type type = c->s || n == 0 ? (assay_type){0} : rows_of(c, x, n);
    int variable;

    if (c->s || n == 0)
        return x;
    const int64_t more = tfl_chain_type(c, x)->dim[type.rank - 1];
    const int before = tfl_chain_state(c, "past", &type, 0, &variable);
    const int both = tfl_chain_concat(c, "stream", before, x);
    tfl_chain_assign(c, "stored", variable, tfl_chain_slice(c, "after", both, more, n));
    return both;
}

assay_status tfl_custom_delay(const tfl_op *o)
{
    const tfl_port port = {TFL_INT16, -1};
    tfl_chain c = tfl_chain_of(o, 1, &port, 1, &port);
    const int64_t delay = tfl_whole(&c, "delay_length", 0, INT32_MAX);
    const int x = tfl_chain_in(&c, 0);

    if (c.s || !tfl_holds(&c, tfl_chain_type(&c, x)->rank > 0, "its input is a single number"))
        return c.s;
    const int64_t n = tfl_chain_type(&c, x)->dim[tfl_chain_type(&c, x)->rank - 1];
    const int late = tfl_chain_slice(&c, "late", stream(&c, x, delay), 0, n);
    const int y = tfl_chain_out(&c, 0);
    return c.s ? c.s : tfl_reshape(o, late, y);
}

/* For each frame, where its samples are in the stream. */
static int places(tfl_chain *c, int64_t frames, int64_t step, int64_t size)
{
    const assay_type type = {.elem = assay_int(32, true), .rank = 2, .dim = {frames, size}};
    void *data;
    const int value = tfl_chain_table(c, "places", &type, &data);

    assert((frames - 1) * step + size <=
           INT32_MAX); /* rows of n samples, which TFLite counts in 32 bits */
    for (int64_t i = 0; data && i < frames * size; ++i)
        ((int32_t *)data)[i] = (int32_t)(i / size * step + i % size);
    return value;
}

/* Whether the first frame of this run, and so all, were full: `needed` steps have come. */
static void count_frames(tfl_chain *c, int64_t frames, int64_t needed, int64_t known)
{
    const assay_type word = {.elem = assay_int(32, true)};
    const int limit = tfl_chain_number(c, "needed", word.elem, needed);
    int variable;

    int n = tfl_chain_state(c, "steps", &word, known, &variable);
    const int first =
        tfl_link(c, "first", ASSAY_OP_ADD, NULL, n, tfl_chain_number(c, "one", word.elem, 1));
    n = tfl_link(c, "last", ASSAY_OP_ADD, NULL, n,
                 tfl_chain_number(c, "frames", word.elem, frames));
    n = tfl_link(c, "enough", ASSAY_OP_MIN, NULL, n, limit);
    tfl_chain_assign(c, "counted", variable, n);
    tfl_chain_end(c, tfl_chain_out(c, 1), ASSAY_OP_GREATER_EQUAL, NULL, first, limit);
}

/* Frames of frame_size samples, frame_step apart. The first may lack samples: TFLite Micro leaves
 * them as they were and says so in output 1; here zeros stand before the first sample. With
 * `prefill` these count, and a frame ends with the newest sample; else frames begin with the first
 * one. */
assay_status tfl_custom_framer(const tfl_op *o)
{
    const tfl_port in = {TFL_INT16, -1}, out[2] = {{TFL_INT16, -1}, {TFL_BOOL, 0}};
    tfl_chain c = tfl_chain_of(o, 1, &in, 2, out);
    const int64_t size = tfl_whole(&c, "frame_size", 1, INT16_MAX);
    const int64_t step = tfl_whole(&c, "frame_step", 1, INT16_MAX);
    const bool prefill = tfl_whole(&c, "prefill", 0, 1);
    const int64_t needed = (size + step - 1) / step;
    const int x = tfl_chain_in(&c, 0);

    if (c.s)
        return c.s;
    const assay_type *t = tfl_chain_type(&c, x);
    const int64_t n = t->rank ? t->dim[t->rank - 1] : 0;
    const assay_attrs last = {.gather.axis = t->rank - 1};
    if (!tfl_holds(&c, n >= step && n % step == 0, "its rows are not of whole steps") ||
        !tfl_holds(&c, n <= INT32_MAX - size, "its rows have too many samples") ||
        !tfl_holds(&c, !prefill || size >= step, "a frame_size below frame_step with prefill"))
        return c.s;
    const int all = stream(&c, x, prefill ? size - step : (needed - 1) * step);
    const int at = places(&c, n / step, step, size);
    tfl_chain_end(&c, tfl_chain_out(&c, 0), ASSAY_OP_GATHER, &last, all, at);
    count_frames(&c, n / step, needed, prefill ? needed : 0);
    return c.s;
}

/* ---- SignalStacker ---- */

/* This frame behind the `n` - 1 before it; at first it stands for all of them. */
static int stacked(tfl_chain *c, int x, int64_t channels, int64_t n)
{
    const assay_type type = {.elem = assay_int(16, true), .rank = 1, .dim = {n * channels}};
    const assay_type flag = {.elem = assay_bool()};
    const assay_attrs repeat = {.tile.repeats = {.n = 1, .v = {n}}};
    int frames, began;

    const int before = tfl_chain_state(c, "past", &type, 0, &frames);
    const int later = tfl_chain_state(c, "began", &flag, 0, &began);
    const int kept =
        n > 1 ? tfl_chain_slice(c, "kept", before, channels, (n - 1) * channels) : NONE;
    const int joined = tfl_chain_concat(c, "joined", kept, x);
    const int repeated = tfl_link(c, "repeated", ASSAY_OP_TILE, &repeat, x, NONE);
    const int all = tfl_chain_select(c, "all", later, joined, repeated);
    tfl_chain_assign(c, "stored", frames, all);
    tfl_chain_assign(c, "begun", began, tfl_chain_number(c, "true", assay_bool(), 1));
    return all;
}

/* Stacks of the frames around one: left of it, and right. After a stack, as many frames as a step
 * has must come before the next; output 1 says whether one is due. TFLite Micro leaves output 0 as
 * it was when none is; here it is the newest frames. */
assay_status tfl_custom_stacker(const tfl_op *o)
{
    const tfl_port in = {TFL_INT16, 1}, out[2] = {{TFL_INT16, 1}, {TFL_BOOL, 0}};
    const assay_type word = {.elem = assay_int(32, true)};
    tfl_chain c = tfl_chain_of(o, 1, &in, 2, out);
    const int64_t channels = tfl_whole(&c, "num_channels", 1, INT16_MAX);
    const int64_t left = tfl_whole(&c, "stacker_left_context", 0, INT16_MAX);
    const int64_t n = left + 1 + tfl_whole(&c, "stacker_right_context", 0, INT16_MAX);
    const int64_t step = tfl_whole(&c, "stacker_step", 1, n);
    const int x = tfl_chain_in(&c, 0);
    int count;

    if (c.s || !tfl_holds(&c, tfl_chain_type(&c, x)->dim[0] == channels,
                          "its input is not of num_channels elements"))
        return c.s;
    const int all = stacked(&c, x, channels, n);
    const int had = tfl_chain_state(&c, "frames", &word, left, &count);
    const int has =
        tfl_link(&c, "has", ASSAY_OP_ADD, NULL, had, tfl_chain_number(&c, "one", word.elem, 1));
    const int rest = tfl_link(&c, "rest", ASSAY_OP_SUB, NULL, has,
                              tfl_chain_number(&c, "step", word.elem, step));
    const int valid = tfl_chain_out(&c, 1), y = tfl_chain_out(&c, 0);
    tfl_chain_end(&c, valid, ASSAY_OP_GREATER_EQUAL, NULL, has,
                  tfl_chain_number(&c, "stack", word.elem, n));
    tfl_chain_assign(&c, "counted", count, tfl_chain_select(&c, "left", valid, rest, has));
    return c.s ? c.s : tfl_reshape(o, all, y);
}

/* ---- SignalFilterBankSpectralSubtraction ---- */

typedef struct subtraction {
    int64_t even, odd, even_rest,
        odd_rest; /* how much of the signal, and of the noise, is new noise */
    int64_t least, extra_bits, bits;
    bool clamping;
    assay_type type; /* of the signal */
} subtraction;

static subtraction read_subtraction(tfl_chain *c)
{
    subtraction v = {.even = tfl_whole(c, "smoothing", 0, INT32_MAX),
                     .odd = tfl_whole(c, "alternate_smoothing", 0, INT32_MAX),
                     .even_rest = tfl_whole(c, "one_minus_smoothing", 0, INT32_MAX),
                     .odd_rest = tfl_whole(c, "alternate_one_minus_smoothing", 0, INT32_MAX),
                     .least = tfl_whole(c, "min_signal_remaining", 0, INT32_MAX),
                     .extra_bits = tfl_whole(c, "smoothing_bits", 0, 31),
                     .bits = tfl_whole(c, "spectral_subtraction_bits", 0, 31),
                     .clamping = tfl_whole(c, "clamping", 0, 1)};

    if (!c->s)
        v.type = tfl_in(c->o, 0)->type;
    tfl_holds(c, tfl_whole(c, "num_channels", 1, INT32_MAX) == v.type.dim[0],
              "its input is not of num_channels elements");
    tfl_holds(c, v.even + v.even_rest <= INT32_MAX && v.odd + v.odd_rest <= INT32_MAX,
              "smoothing and one_minus_smoothing are more than 2^31 - 1 together");
    return v;
}

/* x (32 bits) times the factors of even and odd channels, in 64 bits. */
static int weighed(tfl_chain *c, const char *wide, const char *product, int x, int64_t even,
                   int64_t odd)
{
    const assay_elem elem = assay_int(32, true);
    const int64_t n = c->s ? 0 : tfl_chain_type(c, x)->dim[0];
    const assay_type type = {.elem = elem, .rank = 1, .dim = {n}};
    void *data;
    const int factors = tfl_chain_table(c, "factors", &type, &data);

    for (int64_t i = 0; data && i < n; ++i)
        assay_elem_set(elem, data, (size_t)i, i & 1 ? odd : even);
    return tfl_link(c, product, ASSAY_OP_MUL, NULL, tfl_chain_cast(c, wide, ASSAY_CAST_I64, x),
                    factors);
}

/* The word that is left of v after a shift to the right. */
static int scaled(tfl_chain *c, const char *shifted, const char *word, int v, int bits)
{
    return tfl_chain_cast(c, word, ASSAY_CAST_U32,
                          tfl_link(c, shifted, ASSAY_OP_SHIFT_RIGHT, NULL, v, bits));
}

/* noise = signal * smoothing + noise * one_minus_smoothing, with smoothing_bits more than the
 * signal; y = the greater of signal - noise and signal * min_signal_remaining. The noise counts as
 * the signal where it is more, and with `clamping` becomes it. All in words of 32 bits, products
 * in 64. */
assay_status tfl_custom_spectral_subtraction(const tfl_op *o)
{
    const tfl_port port[2] = {{TFL_UINT32, 1}, {TFL_UINT32, 1}};
    tfl_chain c = tfl_chain_of(o, 1, port, 2, port);
    const subtraction v = read_subtraction(&c);
    const assay_elem word = assay_int(32, true);
    const int x = tfl_chain_in(&c, 0), extra = tfl_chain_number(&c, "extra", word, v.extra_bits);
    const int bits = tfl_chain_number(&c, "bits", word, v.bits);
    int variable;

    const int before = tfl_chain_state(&c, "noise", &v.type, 0, &variable);
    const int signal = tfl_link(&c, "signal", ASSAY_OP_SHIFT_LEFT, NULL, x, extra);
    const int fresh = weighed(&c, "wide", "new", signal, v.even, v.odd);
    const int stale = weighed(&c, "wide_before", "old", before, v.even_rest, v.odd_rest);
    const int sum = tfl_link(&c, "smoothed", ASSAY_OP_ADD, NULL, fresh, stale);
    const int noise = scaled(&c, "smooth", "estimate", sum, bits);
    const int within = tfl_link(&c, "within", ASSAY_OP_MIN, NULL, noise, signal);
    const int stored = tfl_chain_out(&c, 1), y = tfl_chain_out(&c, 0);
    tfl_chain_end(&c, stored, ASSAY_OP_ASSIGN, NULL, variable, v.clamping ? within : noise);
    const int above = tfl_link(&c, "above", ASSAY_OP_SUB, NULL, signal, within);
    const int clean = tfl_link(&c, "clean", ASSAY_OP_SHIFT_RIGHT, NULL, above, extra);
    const int part = weighed(&c, "wide_input", "part", x, v.least, v.least);
    const int least = scaled(&c, "part_shifted", "least", part, bits);
    tfl_chain_end(&c, y, ASSAY_OP_MAX, NULL, clean, least);
    return c.s;
}

/* ---- SignalOverlapAdd ---- */

/* a + b, saturated; floats as they are. */
static int added(tfl_chain *c, int a, int b)
{
    if (c->s || tfl_chain_type(c, a)->elem.kind == ASSAY_KIND_F32)
        return tfl_link(c, "sum", ASSAY_OP_ADD, NULL, a, b);
    const int wide = tfl_chain_cast(c, "wide", ASSAY_CAST_I32, a);
    return tfl_chain_cast(c, "added", ASSAY_CAST_I16,
                          tfl_chain_saturated(c, tfl_link(c, "sum", ASSAY_OP_ADD, NULL, wide, b)));
}

/* Frame i of x[.., frames, size] as [.., size]. */
static int frame_of(tfl_chain *c, int x, int64_t i)
{
    assay_attrs one = {0}, flat = {0};

    if (c->s)
        return NONE;
    const assay_type *t = tfl_chain_type(c, x);
    const int axis = t->rank - 2;
    one.slice.begin.n = one.slice.size.n = t->rank;
    flat.shape.shape.n = t->rank - 1;
    memcpy(one.slice.size.v, t->dim, sizeof t->dim);
    memcpy(flat.shape.shape.v, t->dim, sizeof t->dim);
    one.slice.begin.v[axis] = i;
    one.slice.size.v[axis] = 1;
    flat.shape.shape.v[axis] = t->dim[axis + 1];
    return tfl_link(c, "flat", ASSAY_OP_RESHAPE, &flat,
                    tfl_link(c, "frame", ASSAY_OP_SLICE, &one, x, NONE), NONE);
}

/* The buffer without its first `step` samples, zeros behind. */
static int advanced(tfl_chain *c, int buffer, int64_t step, int64_t size)
{
    assay_attrs a;
    void *zeros;

    if (c->s)
        return NONE;
    const assay_type type = *tfl_chain_type(c, buffer);
    if (step == size)
        return tfl_chain_table(c, "buffer", &type, &zeros);
    assay_attrs_defaults(ASSAY_ATTRS_pad, &a);
    a.pad.begin.n = a.pad.end.n = type.rank;
    a.pad.end.v[type.rank - 1] = step;
    return tfl_link(c, "buffer", ASSAY_OP_PAD, &a,
                    tfl_chain_slice(c, "kept", buffer, step, size - step), NONE);
}

/* Frames are added to a buffer, one after the other; of each sum the first frame_step samples go
 * out. */
assay_status tfl_custom_overlap_add(const tfl_op *o)
{
    const bool floats = o->n_in > 0 && tfl_has(o, 0) && tfl_in(o, 0)->raw == TFL_FLOAT32;
    const tfl_port port = {floats ? TFL_FLOAT32 : TFL_INT16, -1};
    tfl_chain c = tfl_chain_of(o, 1, &port, 1, &port);
    const int x = tfl_chain_in(&c, 0);
    int variable, y = NONE;

    if (c.s || !tfl_holds(&c, tfl_chain_type(&c, x)->rank >= 2, "its input is not of frames"))
        return c.s;
    assay_type type = *tfl_chain_type(&c, x);
    const int64_t frames = type.dim[type.rank - 2], size = type.dim[type.rank - 1];
    const int64_t step = tfl_whole(&c, "frame_step", 1, size);
    type.dim[--type.rank - 1] = size;
    int buffer = tfl_chain_state(&c, "past", &type, 0, &variable);
    for (int64_t i = 0; !c.s && i < frames; ++i) {
        c.s = tfl_charge(o->m, 4096);
        const int sum = added(&c, buffer, frame_of(&c, x, i));
        y = tfl_chain_concat(&c, "joined", y, tfl_chain_slice(&c, "out", sum, 0, step));
        buffer = advanced(&c, sum, step, size);
    }
    tfl_chain_assign(&c, "stored", variable, buffer);
    const int out = tfl_chain_out(&c, 0);
    return c.s ? c.s : tfl_reshape(o, y, out);
}
