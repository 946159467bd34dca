/* The window of codes or floats that a max pool takes the greatest of, before its row function sees
 * that one.
 */
#include "interp/explain/forms.h"

#include <inttypes.h>
#include <stdio.h>

#include "interp/kernel/window.h"

/* An element, after a blank or not. */
static size_t one(const assay_type *x, const void *in, int64_t at, bool follows, char *text,
                  size_t room)
{
    const char *gap = follows ? " " : "";
    const int n =
        x->elem.kind == ASSAY_KIND_F32
            ? snprintf(text, room, "%s%.9g", gap, (double)((const float *)in)[at])
            : snprintf(text, room, "%s%" PRId64, gap, assay_elem_get(x->elem, in, (size_t)at));
    return (size_t)n;
}

void explain_window(explain_trace *t, const assay_graph *g, const assay_node *n, const void *in,
                    int64_t element)
{
    const assay_type *x = &assay_node_in(g, n, 0)->type, *y = &assay_node_out(g, n, 0)->type;
    assay_window w;
    char text[400] = "";
    size_t used = 0;
    kernel_window_of_pool(&w, &n->attr.pool, x, y);
    const assay_strides s = kernel_strides_in(&w);
    const int64_t image = element / (w.out_area * w.in_channels);
    const int64_t rest = element % (w.out_area * w.in_channels);
    const int64_t c = w.nhwc ? rest % w.in_channels : rest / w.out_area;
    const int64_t p = w.nhwc ? rest / w.in_channels : rest % w.out_area;
    const int64_t out[3] = {p / w.out[2] / w.out[1], p / w.out[2] % w.out[1], p % w.out[2]};
    for (int64_t j = 0; j < w.taps && used + 24 < sizeof text; j++) {
        const int64_t tap[3] = {j / w.kernel[2] / w.kernel[1], j / w.kernel[2] % w.kernel[1],
                                j % w.kernel[2]};
        int64_t cell = 0;
        bool inside = true;
        for (int d = 0; d < ASSAY_SPATIAL; d++) {
            const int64_t at = out[d] * w.stride[d] + tap[d] * w.dilation[d] - w.pad[d];
            inside = inside && at >= 0 && at < w.in[d];
            cell = cell * w.in[d] + at;
        }
        if (inside)
            used += one(x, in, image * s.image + c * s.channel + cell * s.cell, used > 0,
                        text + used, sizeof text - used);
    }
    explain_say(t, x->elem.kind == ASSAY_KIND_F32 ? "floats of the window" : "codes of the window",
                "%s%s; the greatest is taken", text, used + 24 < sizeof text ? "" : " ...");
}
