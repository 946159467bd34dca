/* Padding by zeros, in space, into the convolution behind it. In the integer network the
 * convolution's padding is the zero point, which is what 0 is quantized to. */
#include "opt/lower/affine.h"

static bool is_zero_pad_in_space(const assay_graph *g, const assay_node *pad, int layout)
{
    const assay_attr_pad *a = &pad->attr.pad;
    int rank = assay_node_out(g, pad, 0)->type.rank;
    int channel = lower_channel_axis(layout, rank);
    if (pad->op != ASSAY_OP_PAD || a->mode != ASSAY_PAD_CONSTANT || a->value != 0.0f ||
        a->has_code || a->begin.n != rank || a->end.n != rank || lower_is_constant(g, pad->in[0]))
        return false;
    for (int i = 0; i < rank; i++) {
        bool spatial = i != 0 && i != channel;
        if (a->begin.v[i] < 0 || a->end.v[i] < 0 ||
            (!spatial && (a->begin.v[i] != 0 || a->end.v[i] != 0)))
            return false;
    }
    return true;
}

assay_status lower_fold_pad(assay_graph *g, int *changed, assay_error *err)
{
    (void)err;
    *changed = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        assay_node *conv = &g->node[i];
        if (conv->op != ASSAY_OP_CONV || conv->in[0] < 0 || g->value[conv->in[0]].producer < 0)
            continue;
        const assay_node *pad = &g->node[g->value[conv->in[0]].producer];
        assay_attr_conv *a = &conv->attr.conv;
        int first = a->layout == ASSAY_LAYOUT_NHWC ? 1 : 2; /* first spatial dimension */
        if (!is_zero_pad_in_space(g, pad, a->layout) || a->pad_begin.n != a->pad_end.n)
            continue;
        for (int s = 0; s < a->pad_begin.n; s++) {
            a->pad_begin.v[s] += pad->attr.pad.begin.v[first + s];
            a->pad_end.v[s] += pad->attr.pad.end.v[first + s];
        }
        conv->in[0] = pad->in[0]; /* a pad that nobody else uses is dead now */
        ++*changed;
    }
    return ASSAY_OK;
}
