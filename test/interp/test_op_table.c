/* The op table against what computes it: an op that the graph accepts has arithmetic on codes or
 * the trait FLOAT_ONLY, and it has a float twin or is listed here as one that has none; what is
 * said and no longer true is a fault too. */
#include "test/support/support.h"

#include "graph/core/op.h"
#include "interp/kernel/kernel.h"
#include "interp/move/move.h"
#include "schemes/derive/derive.h"

/* Computed on codes without a scheme, or by a scheme that is a shared object. */
static bool has_codes_without_scheme(assay_op op)
{
    return op == ASSAY_OP_LOOKUP || op == ASSAY_OP_CUSTOM || op == ASSAY_OP_CUSTOM_MONOTONE ||
           op == ASSAY_OP_CUSTOM_BINARY;
}

/* Meaningful on codes alone; a relabel is a move. */
static bool has_no_float_twin(assay_op op)
{
    const bool converts = assay_op_get(op)->traits & ASSAY_T_CONVERT;
    return has_codes_without_scheme(op) || (converts && op != ASSAY_OP_RELABEL);
}

static bool is_flow(assay_op op)
{
    return assay_op_get(op)->traits & ASSAY_T_STATE;
}

static void check(assay_op op)
{
    const char *name = assay_op_get(op)->name;
    const bool moves = move_kernel(op).run != NULL;
    const bool derived = derive_class_of(op).derive != NULL;
    const bool codes = ref_kernel(op).run != NULL, floats = float_kernel(op).run;

    if (assay_op_get(op)->traits &
        ASSAY_T_MAC) { /* computed under a scheme of matrix units alone */
        if (!moves && !ref_float_kernel(op).run)
            fail_msg("%s has no kernel (interp/ref/floats.c)", name);
        return;
    }
    if (derived && !codes)
        fail_msg("%s has arithmetic and no integer kernel (interp/ref/registry.c)", name);
    if (codes && !moves && !derived && !has_codes_without_scheme(op))
        fail_msg(
            "%s has an integer kernel and no arithmetic (schemes/derive), nor the trait FLOAT_ONLY",
            name);
    if (codes == (bool)(assay_op_get(op)->traits & ASSAY_T_FLOAT_ONLY))
        fail_msg("%s has %s", name,
                 codes ? "the trait FLOAT_ONLY, and an integer kernel"
                       : "no integer kernel (interp/ref/registry.c), nor the trait FLOAT_ONLY");
    if (!floats != has_no_float_twin(op))
        fail_msg("%s %s", name,
                 floats ? "is listed as an op without a float twin, and has one"
                        : "has a shape rule and no float twin (interp/float/registry.c)");
}

static void every_op_is_computed(void **state)
{
    (void)state;
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        if (!is_flow((assay_op)op))
            check((assay_op)op);
}

/* A function of one value is a line of function.def, or the arithmetic names the op. */
static void every_function_has_a_formula(void **state)
{
    (void)state;
    for (int op = 0; op < ASSAY_OP_COUNT; op++) {
        const uint32_t traits = assay_op_get((assay_op)op)->traits;
        if (traits & ASSAY_T_UNARY && !has_no_float_twin((assay_op)op) &&
            !derive_is_function((assay_op)op))
            fail_msg("%s has no line in schemes/derive/function.def",
                     assay_op_get((assay_op)op)->name);
        if (derive_is_function((assay_op)op) && !(traits & ASSAY_T_UNARY))
            fail_msg("%s has a line in function.def and not the trait UNARY",
                     assay_op_get((assay_op)op)->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_op_is_computed),
                                       cmocka_unit_test(every_function_has_a_formula)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
