/* rfft: a row of N integers -> the first N/2 + 1 complex numbers (real, imaginary) of its discrete
 * Fourier transform, divided by N; irfft: a row of N from such numbers.
 *
 * twiddle[k] = exp(-2 pi i k / N), in units of `max`, the greatest integer of the width (16 or 32
 * bits; the inverse takes their conjugates). The arithmetic is kiss_fft's in fixed point, as TFLite
 * Micro builds it (github.com/mborgerding/kissfft, v130, FIXED_POINT):
 *
 *   rounded(v)    floor(v / 2^(width - 1) + 1/2)
 *   x / p         rounded(x * floor(max / p))
 *   product       each part of a complex product is rounded once, as a sum of two products
 *
 * and everything that is stored wraps in the width. The row's N numbers are N/2 complex ones:
 *
 *   transform   decimation in time by 4, as long as that goes, then by 2; a step by p first divides
 *               its numbers by p, then turns them
 *   parting     with a = z[k] / 2 and b = conj(z[N/2 - k]) / 2: even = a + b,
 *               odd = (a - b) * -i twiddle[k]; spectrum[k] = floor((even + odd) / 2),
 *               spectrum[N/2 - k] = conj(floor((even - odd) / 2)), where a conjugate is taken
 *               before it is halved
 *   joining     irfft: the same a, b, even and odd of the spectrum; z[k] = even + odd,
 *               z[N/2 - k] = conj(even - odd) */
#include <assert.h>

#include "interp/signal/signal.h"
#include "schemes/round.h"

typedef struct point {
    int32_t re, im;
} point;

typedef struct fft {
    int64_t n; /* complex numbers: N/2 */
    int width;
    bool inverse;
    const assay_view *twiddle;
} fft;

/* The low bits. */
static int32_t held(const fft *f, int64_t v)
{
    return f->width == 16 ? (int16_t)v : (int32_t)v;
}

static int32_t rounded(const fft *f, int64_t v)
{
    return held(f, (int64_t)assay_round_shift128(v, (unsigned)f->width - 1, ASSAY_ROUND_HALF_UP));
}

static point divided(const fft *f, point x, int by)
{
    assert(f->width == 16 || f->width == 32);
    const int64_t max = ((INT64_C(1) << (f->width - 1)) - 1) / by;
    return (point){rounded(f, x.re * max), rounded(f, x.im * max)};
}

/* Of products that reach 2^62 each; with a unit circle their sum does not leave 64 bits. */
static int64_t sum_of(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static point product(const fft *f, point a, point b)
{
    const int64_t re = (int64_t)a.re, im = (int64_t)a.im;
    return (point){rounded(f, sum_of(re * b.re, -(im * b.im))),
                   rounded(f, sum_of(re * b.im, im * b.re))};
}

static point plus(const fft *f, point a, point b)
{
    return (point){held(f, (int64_t)a.re + b.re), held(f, (int64_t)a.im + b.im)};
}

static point minus(const fft *f, point a, point b)
{
    return (point){held(f, (int64_t)a.re - b.re), held(f, (int64_t)a.im - b.im)};
}

static point conjugate(const fft *f, point a)
{
    return (point){a.re, held(f, -(int64_t)a.im)};
}

/* a * -i, or a * i in the inverse. */
static point quarter(const fft *f, point a)
{
    return f->inverse ? (point){held(f, -(int64_t)a.im), a.re}
                      : (point){a.im, held(f, -(int64_t)a.re)};
}

/* twiddle[k] */
static point turn(const fft *f, int64_t k)
{
    const assay_elem e = f->twiddle->type->elem;
    const point w = {(int32_t)assay_elem_get(e, f->twiddle->data, (size_t)(2 * k)),
                     (int32_t)assay_elem_get(e, f->twiddle->data, (size_t)(2 * k + 1))};
    return f->inverse ? conjugate(f, w) : w;
}

static void join_two(const fft *f, point *z, int64_t m, int64_t step)
{
    for (int64_t k = 0; k < m; k++) {
        const point a = divided(f, z[k], 2);
        const point b = product(f, divided(f, z[k + m], 2), turn(f, 2 * k * step));
        z[k] = plus(f, a, b);
        z[k + m] = minus(f, a, b);
    }
}

static void join_four(const fft *f, point *z, int64_t m, int64_t step)
{
    for (int64_t k = 0; k < m; k++) {
        const point a = divided(f, z[k], 4);
        const point b = product(f, divided(f, z[k + m], 4), turn(f, 2 * k * step));
        const point c = product(f, divided(f, z[k + 2 * m], 4), turn(f, 4 * k * step));
        const point d = product(f, divided(f, z[k + 3 * m], 4), turn(f, 6 * k * step));
        const point even = plus(f, a, c), odd = plus(f, b, d);
        const point apart = minus(f, a, c), across = quarter(f, minus(f, b, d));
        z[k] = plus(f, even, odd);
        z[k + m] = plus(f, apart, across);
        z[k + 2 * m] = minus(f, even, odd);
        z[k + 3 * m] = minus(f, apart, across);
    }
}

/* n numbers of x, `step` apart -> z */
static void transform(const fft *f, const point *x, int64_t step, int64_t n, point *z)
{
    const int p = n % 4 == 0 ? 4 : 2;
    const int64_t m = n / p;

    if (n == 1) {
        *z = *x;
        return;
    }
    for (int i = 0; i < p; i++)
        transform(f, x + i * step, step * p, m, z + i * m);
    (p == 4 ? join_four : join_two)(f, z, m, step);
}

static point load(const assay_view *v, int64_t at)
{
    const assay_elem e = v->type->elem;
    return (point){(int32_t)assay_elem_get(e, v->data, (size_t)at),
                   (int32_t)assay_elem_get(e, v->data, (size_t)at + 1)};
}

static void store(const assay_view *v, int64_t at, point p)
{
    assay_elem_set(v->type->elem, v->data, (size_t)at, p.re);
    assay_elem_set(v->type->elem, v->data, (size_t)at + 1, p.im);
}

/* even and odd of z[k] and z[n - k]. */
static void part(const fft *f, point a, point b, int64_t k, point *even, point *odd)
{
    a = divided(f, a, 2);
    b = divided(f, conjugate(f, b), 2);
    *even = plus(f, a, b);
    *odd = product(f, minus(f, a, b), quarter(f, turn(f, k)));
}

/* floor((a + b) / 2), of a sum of 32 bits */
static int32_t halved(int64_t a, int64_t b)
{
    return (int32_t)apply_shift_right((int32_t)(a + b), 1);
}

static void forward_row(const fft *f, const assay_view *x, int64_t from, const assay_view *y,
                        int64_t to, point *z)
{
    point *packed = z + f->n;
    for (int64_t i = 0; i < f->n; i++)
        packed[i] = load(x, from + 2 * i);
    transform(f, packed, 1, f->n, z);
    const point first = divided(f, z[0], 2);
    store(y, to, (point){held(f, (int64_t)first.re + first.im), 0});
    store(y, to + 2 * f->n, (point){held(f, (int64_t)first.re - first.im), 0});
    for (int64_t k = 1; k <= f->n / 2; k++) {
        point e, o;
        part(f, z[k], z[f->n - k], k, &e, &o);
        store(y, to + 2 * k, (point){halved(e.re, o.re), halved(e.im, o.im)});
        store(y, to + 2 * (f->n - k),
              (point){halved(e.re, -(int64_t)o.re), halved(o.im, -(int64_t)e.im)});
    }
}

static void inverse_row(const fft *f, const assay_view *x, int64_t from, const assay_view *y,
                        int64_t to, point *z)
{
    const point lowest = load(x, from), highest = load(x, from + 2 * f->n);
    point *joined = z + f->n;
    joined[0] = divided(
        f,
        (point){held(f, (int64_t)lowest.re + highest.re), held(f, (int64_t)lowest.re - highest.re)},
        2);
    for (int64_t k = 1; k <= f->n / 2; k++) {
        point e, o;
        part(f, load(x, from + 2 * k), load(x, from + 2 * (f->n - k)), k, &e, &o);
        joined[k] = plus(f, e, o);
        joined[f->n - k] = conjugate(f, minus(f, e, o));
    }
    transform(f, joined, 1, f->n, z);
    for (int64_t i = 0; i < f->n; i++)
        store(y, to + 2 * i, z[i]);
}

size_t signal_fft_scratch(const assay_graph *g, const assay_node *n)
{
    return (size_t)assay_node_in(g, n, 1)->type.dim[0] * sizeof(point);
}

assay_status signal_fft(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    const fft f = {.n = call->in[1].type->dim[0] / 2,
                   .width = x->type->elem.bits,
                   .inverse = call->node->op == ASSAY_OP_IRFFT,
                   .twiddle = &call->in[1]};
    const int64_t longer = 2 * f.n + 2, shorter = 2 * f.n;
    const int64_t rows = assay_shape_count(x->type) / (f.inverse ? longer : shorter);

    (void)err;
    for (int64_t r = 0; r < rows; r++)
        if (f.inverse)
            inverse_row(&f, x, r * longer, y, r * shorter, call->scratch);
        else
            forward_row(&f, x, r * shorter, y, r * longer, call->scratch);
    return ASSAY_OK;
}
