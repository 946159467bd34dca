/* Ranges of taps that fall inside. */
#include "interp/float/window.h"

static int64_t divide_up(int64_t a, int64_t b) /* b > 0 */
{
    return a > 0 ? (a + b - 1) / b : -(-a / b);
}

static int64_t clamp(int64_t v, int64_t lo, int64_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

void float_window_valid(const assay_window *w, int axis, int64_t t, int64_t *first, int64_t *last)
{
    int64_t at = t * w->dilation[axis] - w->pad[axis]; /* read by output 0 */
    *first = clamp(divide_up(-at, w->stride[axis]), 0, w->out[axis]);
    *last = clamp(divide_up(w->in[axis] - at, w->stride[axis]), *first, w->out[axis]);
}

void float_window_taps(const assay_window *w, int axis, int64_t o, int64_t *first, int64_t *last)
{
    int64_t at = o * w->stride[axis] - w->pad[axis]; /* read by tap 0 */
    *first = clamp(divide_up(-at, w->dilation[axis]), 0, w->kernel[axis]);
    *last = clamp(divide_up(w->in[axis] - at, w->dilation[axis]), *first, w->kernel[axis]);
}
