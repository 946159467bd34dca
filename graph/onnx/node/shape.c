/* Shape rules shared by handlers and folding. */
#include "graph/onnx/node/node.h"

bool onnx_broadcast(const int64_t *a, int rank_a, const int64_t *b, int rank_b, int64_t *out,
                    int *rank)
{
    int r = rank_a > rank_b ? rank_a : rank_b;

    for (int i = 0; i < r; i++) {
        int64_t da = i < r - rank_a ? 1 : a[i - (r - rank_a)];
        int64_t db = i < r - rank_b ? 1 : b[i - (r - rank_b)];
        if (da != db && da != 1 && db != 1)
            return false;
        out[i] = da == 1 ? db : da;
    }
    *rank = r;
    return true;
}

void onnx_strides(const int64_t *dim, int rank, int64_t *stride)
{
    int64_t s = 1;

    for (int i = rank - 1; i >= 0; i--) {
        stride[i] = s;
        if (__builtin_mul_overflow(s, dim[i], &s))
            s = 0; /* only when another dimension is 0: nothing is ever indexed */
    }
}
