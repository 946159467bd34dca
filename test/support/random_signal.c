/* Operands of the operators on signals. */
#include "test/support/random_signal.h"

static assay_type vector(assay_elem elem, int64_t n)
{
    return (assay_type){.elem = elem, .rank = 1, .dim = {n}};
}

int test_signal_types(assay_op op, assay_type t[3])
{
    const assay_elem half = assay_int(16, true), word = assay_int(32, false);
    switch (op) {
    case ASSAY_OP_SIGNAL_SCALE:
        t[0] = vector(half, 5);
        return 1;
    case ASSAY_OP_RFFT:
    case ASSAY_OP_IRFFT:
        t[0] = vector(half, op == ASSAY_OP_RFFT ? 8 : 10);
        t[1] = (assay_type){.elem = half, .rank = 2, .dim = {8, 2}};
        return 2;
    case ASSAY_OP_SIGNAL_ROOT:
        t[0] = vector(assay_int(64, true), 3);
        return 1;
    case ASSAY_OP_PCAN:
        t[0] = t[1] = vector(word, 3);
        t[2] = vector(half, 125);
        return 3;
    case ASSAY_OP_SIGNAL_LOG:
        t[0] = vector(word, 3);
        t[1] = vector(assay_int(32, true), 129);
        return 2;
    default:
        return 0;
    }
}
