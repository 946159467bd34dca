/* Losses of labels: NegativeLogLikelihoodLoss, and SoftmaxCrossEntropyLoss, which takes logarithms
 * of the softmax of its scores first.
 *
 *   loss[b, i..] = -x[b, label[b, i..], i..] * weight[label[b, i..]], 0 of labels that are ignored
 *
 * and the mean is that of the weights: the sum of losses by the sum of weights. Source:
 * Operators.md of github.com/onnx/onnx. */
#include <string.h>

#include "graph/onnx/op/op.h"

enum reduction { NONE, MEAN, SUM };

typedef struct labelled {
    onnx_value *label, *ignored; /* ignored: truth values, or NULL */
    onnx_value *loss, *weight;   /* weight: NULL where all are 1 */
} labelled;

/* 0 where the label is to be ignored. */
static onnx_value *kept(onnx_node *n, const labelled *l, onnx_value *x, const char *suffix)
{
    onnx_value *in[3] = {l->ignored, onnx_scalar(n, x, 0, "nothing"), x};
    return l->ignored ? onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, suffix) : x;
}

static bool check_shapes(onnx_node *n, const assay_type *x, const assay_type *label)
{
    bool fits = x->rank == label->rank + 1 && x->rank >= 2 && x->dim[0] == label->dim[0];

    for (int i = 2; i < x->rank && fits; i++)
        fits = x->dim[i] == label->dim[i - 1];
    if (!n->status && !fits)
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "labels do not have the input's shape without its class axis");
    return !n->status;
}

static labelled losses(onnx_node *n, onnx_value *x)
{
    const assay_type t = onnx_type(n, x), of = onnx_type(n, onnx_in(n, 1));
    labelled l = {.label = onnx_in(n, 1)};
    int64_t column[ASSAY_MAX_RANK];

    if (!check_shapes(n, &t, &of))
        return l;
    if (onnx_attribute(n, "ignore_index", ONNX_ATTR_INT)) {
        l.ignored = onnx_op2(
            n, ASSAY_OP_EQUAL, NULL, l.label,
            onnx_scalar(n, l.label, (double)onnx_int(n, "ignore_index", 0), "ignore_index"),
            "ignored");
        l.label = kept(n, &l, l.label, "labels");
    }
    memcpy(column, t.dim, sizeof column);
    column[1] = 1;
    onnx_value *at =
        onnx_element_places(n, x, onnx_reshaped(n, l.label, t.rank, column, "column"), 1);
    onnx_value *y = onnx_op2(n, ASSAY_OP_GATHER_ND, NULL, x, at, "picked");
    y = onnx_reshaped(n, onnx_op1(n, ASSAY_OP_NEG, NULL, y, "negated"), of.rank, of.dim, "losses");
    if (onnx_has(n, 2)) {
        l.weight = onnx_rows(n, onnx_in(n, 2), l.label, "weights");
        y = onnx_op2(n, ASSAY_OP_MUL, NULL, y, l.weight, "weighted");
    } else if (l.ignored) {
        l.weight = onnx_ones(n, ONNX_FLOAT, of.rank, of.dim, "weights");
    }
    l.loss = kept(n, &l, y, "kept");
    l.weight = l.weight ? kept(n, &l, l.weight, "counted") : NULL;
    return l;
}

static onnx_value *over_all(onnx_node *n, assay_op op, onnx_value *x, const char *suffix)
{
    assay_attrs a = {.reduce = {.axes = {.n = onnx_type(n, x).rank}}};

    for (int i = 0; i < a.reduce.axes.n; i++)
        a.reduce.axes.v[i] = i;
    return onnx_op1(n, op, &a, x, suffix);
}

static void reduce(onnx_node *n, onnx_value *x)
{
    static const char *const choices[] = {"none", "mean", "sum", NULL};
    const int how = onnx_choice(n, "reduction", choices, MEAN);
    const labelled l = n->status ? (labelled){0} : losses(n, x);

    if (n->status)
        return;
    if (how == NONE)
        onnx_bind(n, 0, l.loss);
    else if (how == MEAN && l.weight)
        onnx_op2(n, ASSAY_OP_DIV, NULL, over_all(n, ASSAY_OP_REDUCE_SUM, l.loss, "sum"),
                 over_all(n, ASSAY_OP_REDUCE_SUM, l.weight, "weight"), NULL);
    else
        over_all(n, how == MEAN ? ASSAY_OP_REDUCE_MEAN : ASSAY_OP_REDUCE_SUM, l.loss, NULL);
}

void onnx_import_nll_loss(onnx_node *n)
{
    reduce(n, onnx_in(n, 0));
}

void onnx_import_cross_entropy(onnx_node *n)
{
    const assay_attrs classes = {.softmax = {.axis = 1, .beta = 1}};
    onnx_value *x = onnx_in(n, 0);

    if (!n->status && onnx_type(n, x).rank < 2)
        onnx_fail(n, ASSAY_ERR_INPUT, "scores of rank %d", onnx_type(n, x).rank);
    x = onnx_op1(n, ASSAY_OP_LOG_SOFTMAX, &classes, x, "log_prob");
    if (n->pb->n_output > 1 && *n->pb->output[1])
        onnx_bind(n, 1, x);
    reduce(n, x);
}
