/* Discrete Fourier transforms as products with constants (DFT, STFT), and the weights that turn
 * spectra into mel bands (MelWeightMatrix).
 *
 *   Y[j] = sum_i x[i] e^(-2 pi k i j / L), k = -1 of the inverse, which also divides by L
 *
 * A complex number is two floats on the last axis; row (i, part) and column (j, part) of the matrix
 * hold what one part of x[i] gives to one part of Y[j]. Source: Operators.md of
 * github.com/onnx/onnx. */
#include <math.h>

#include "graph/onnx/op/op.h"

#define MAX_MATRIX (INT64_C(1) << 26)

typedef struct transform {
    int64_t n, length, bins; /* elements that there are, are transformed, come out */
    int64_t parts;           /* of an element: 1, or 2 where it is complex */
    bool inverse;
    bool real; /* the inverse of half a spectrum, whose other half mirrors it */
} transform;

/* How often bin i is there: of half a spectrum all but the first and the middle twice. */
static double times(const transform *f, int64_t i)
{
    if (!f->real)
        return 1;
    return i > f->length / 2 ? 0 : i == 0 || 2 * i == f->length ? 1 : 2;
}

static onnx_value *matrix(onnx_node *n, const transform *f)
{
    const int64_t out = f->real ? 1 : 2;
    const double step_angle = (f->inverse ? 2 : -2) * acos(-1) / (double)f->length;

    if (f->length < 1 || f->length > MAX_MATRIX || f->n * f->parts > MAX_MATRIX / (out * f->bins))
        return onnx_refuse(n, "a transform of %lld elements", (long long)f->length);
    const int64_t dim[2] = {f->n * f->parts, out * f->bins};
    onnx_const *c = onnx_new_const(n->im, ONNX_FLOAT, 2, dim);
    for (int64_t i = 0; c && i < f->n * f->parts && i / f->parts < f->length; i++)
        for (int64_t j = 0; j < f->bins; j++) {
            const double angle = step_angle * (double)(i / f->parts * j % f->length);
            const double by = (f->inverse ? 1 / (double)f->length : 1) * times(f, i / f->parts);
            const bool imaginary = i % f->parts == 1;
            onnx_set_real(c, i * dim[1] + out * j, by * (imaginary ? -sin(angle) : cos(angle)));
            if (!f->real)
                onnx_set_real(c, i * dim[1] + 2 * j + 1,
                              by * (imaginary ? cos(angle) : sin(angle)));
        }
    return c ? onnx_constant(n, c, "matrix") : onnx_no_memory(n);
}

/* x [.., n, parts] to [.., bins, 2], or [.., bins, 1]. */
static onnx_value *transformed(onnx_node *n, onnx_value *x, const transform *f, const char *suffix)
{
    assay_type t = onnx_type(n, x);

    if (n->status)
        return NULL;
    t.dim[t.rank - 2] *= t.dim[t.rank - 1];
    x = onnx_reshaped(n, x, t.rank - 1, t.dim, "rows");
    x = onnx_product(n, x, matrix(n, f), "products");
    t.dim[t.rank - 2] = f->bins;
    t.dim[t.rank - 1] = f->real ? 1 : 2;
    return onnx_reshaped(n, x, t.rank, t.dim, suffix);
}

static void exchange(int64_t *perm, int rank, int64_t a, int64_t b)
{
    for (int i = 0; i < rank; i++)
        perm[i] = i == a ? b : i == b ? a : i;
}

/* The axis is an attribute before opset 20 and an input since. */
void onnx_import_dft(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    const bool onesided = onnx_int(n, "onesided", 0) != 0;
    transform f = {.inverse = onnx_int(n, "inverse", 0) != 0};
    int64_t axis = n->opset < 20 ? onnx_int(n, "axis", 1) : -2, perm[ASSAY_MAX_RANK];

    if (onnx_has(n, 2))
        onnx_one_int(n, 2, "axis", &axis);
    axis = onnx_axis(n, axis, t.rank);
    f.real = onesided && f.inverse;
    if (!n->status &&
        (t.rank < 2 || axis == t.rank - 1 || t.dim[t.rank - 1] < 1 || t.dim[t.rank - 1] > 2))
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "expected an input whose last axis has extent 1 or 2 and is not the transformed "
                  "axis %lld",
                  (long long)axis);
    if (n->status)
        return;
    f.n = f.length = t.dim[axis];
    f.parts = t.dim[t.rank - 1];
    if (f.real) {
        f.length = 2 * (f.n - 1);
        if (f.parts != 2)
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "the one-sided input of an inverse transform is not complex (its last axis "
                      "is not 2)");
    }
    if (onnx_has(n, 1) && !onnx_one_int(n, 1, "dft_length", &f.length))
        return;
    f.bins = onesided && !f.real ? f.length / 2 + 1 : f.length;
    if (axis == t.rank - 2) {
        transformed(n, x, &f, NULL);
        return;
    }
    exchange(perm, t.rank, axis, t.rank - 2);
    x = transformed(n, onnx_transposed(n, x, perm, "turned"), &f, "spectrum");
    onnx_transposed(n, x, perm, NULL);
}

/* Which elements of the signal each frame has: [frames, n]. */
static onnx_value *frame_places(onnx_node *n, int64_t frames, int64_t length, int64_t step)
{
    const int64_t dim[2] = {frames, length};
    onnx_const *c = onnx_new_const(n->im, ONNX_INT64, 2, dim);

    for (int64_t i = 0; c && i < c->count; i++)
        onnx_set_int(c, i, i / length * step + i % length);
    return c ? onnx_constant(n, c, "places") : onnx_no_memory(n);
}

/* The elements of a frame: said, or those of its window. */
static int64_t frame_length(onnx_node *n)
{
    const assay_type window = onnx_type(n, onnx_has(n, 2) ? onnx_in(n, 2) : NULL);
    int64_t length = window.rank == 1 ? window.dim[0] : 0;

    if (onnx_has(n, 3))
        onnx_one_int(n, 3, "frame_length", &length);
    if (!n->status &&
        (length < 1 || (onnx_has(n, 2) && (window.rank != 1 || window.dim[0] != length))))
        onnx_fail(n, ASSAY_ERR_INPUT, "frames of %lld elements", (long long)length);
    return length;
}

void onnx_import_stft(onnx_node *n)
{
    const assay_attrs along = {.gather = {.axis = 1}};
    onnx_value *x = onnx_in(n, 0);
    const assay_type t = onnx_type(n, x);
    transform f = {.n = frame_length(n), .parts = t.rank == 3 ? t.dim[2] : 1};
    int64_t step = 0;

    onnx_one_int(n, 1, "frame_step", &step);
    if (!n->status &&
        (step < 1 || t.rank < 2 || t.rank > 3 || f.parts < 1 || f.parts > 2 || t.dim[1] < f.n))
        onnx_fail(n, ASSAY_ERR_INPUT, "a signal of rank %d in frames of %lld, one every %lld",
                  t.rank, (long long)f.n, (long long)step);
    if (n->status)
        return;
    f.length = f.n;
    f.bins = onnx_int(n, "onesided", 1) != 0 ? f.n / 2 + 1 : f.n;
    const int64_t frames = 1 + (t.dim[1] - f.n) / step, dim[4] = {t.dim[0], frames, f.n, f.parts};
    x = onnx_op2(n, ASSAY_OP_GATHER, &along, x, frame_places(n, frames, f.n, step), "frames");
    x = onnx_reshaped(n, x, 4, dim, "framed");
    if (onnx_has(n, 2)) {
        const int64_t column[2] = {f.n, 1};
        x = onnx_op2(n, ASSAY_OP_MUL, NULL, x, onnx_reshaped(n, onnx_in(n, 2), 2, column, "window"),
                     "windowed");
    }
    transformed(n, x, &f, NULL);
}

/* ---- mel bands ---- */

static double mel_of(double hertz)
{
    return 2595 * log10(1 + hertz / 700);
}

/* The bin of the spectrum at which band i begins. */
static int64_t edge(int64_t i, int64_t bands, double low, double high, int64_t length, int64_t rate)
{
    const double mel =
        (double)i * ((mel_of(high) - mel_of(low)) / (double)(bands + 2)) + mel_of(low);
    return (int64_t)floor((double)(length + 1) * (700 * (pow(10, mel / 2595) - 1)) / (double)rate);
}

/* Triangles: up from one edge to the next, down to the one behind it. */
void onnx_import_mel_weights(onnx_node *n)
{
    int64_t bands = 0, length = 0, rate = 0;
    float low = 0, high = 0;

    onnx_one_int(n, 0, "num_mel_bins", &bands);
    onnx_one_int(n, 1, "dft_length", &length);
    onnx_one_int(n, 2, "sample_rate", &rate);
    onnx_one_float(n, 3, "lower_edge_hertz", &low);
    onnx_one_float(n, 4, "upper_edge_hertz", &high);
    if (onnx_int(n, "output_datatype", ONNX_FLOAT) != ONNX_FLOAT)
        onnx_refuse(n, "weights whose type is not float");
    if (!n->status && (bands < 1 || length < 1 || rate < 1 || !(low >= 0) || !(high >= low) ||
                       bands > MAX_MATRIX / (length / 2 + 1) || high > (float)rate))
        onnx_fail(n, ASSAY_ERR_INPUT, "%lld bands from %g to %g Hz of %lld elements at %lld Hz",
                  (long long)bands, (double)low, (double)high, (long long)length, (long long)rate);
    if (n->status)
        return;
    const int64_t dim[2] = {length / 2 + 1, bands};
    onnx_const *c = onnx_new_const(n->im, ONNX_FLOAT, 2, dim);
    for (int64_t i = 0; c && i < bands; i++) {
        const int64_t from = edge(i, bands, (double)low, (double)high, length, rate);
        const int64_t top = edge(i + 1, bands, (double)low, (double)high, length, rate);
        const int64_t to = edge(i + 2, bands, (double)low, (double)high, length, rate);
        for (int64_t j = from; j <= (to > top ? to - 1 : top) && j < dim[0]; j++)
            if (j <= top && from == top)
                onnx_set_real(c, j * bands + i, 1);
            else
                onnx_set_real(c, j * bands + i,
                              j < top || to == top ? (double)(j - from) / (double)(top - from)
                                                   : (double)(to - j) / (double)(to - top));
    }
    onnx_constant(n, c, NULL);
}
