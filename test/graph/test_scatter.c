/* Scatter to computed places and sums there, against the last writer and plain sums. */
#include <string.h>

#include "test/support/op_case.h"

#define ROUNDS 60

/* Rows that come later stand over earlier ones; sums of all of them. */
static void scatter_puts_and_adds(void **state)
{
    test_rng rng = test_seed(__func__, 20261125);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const bool adds = round % 2;
        const int64_t x[3] = {4, 3, 2}, depth = test_between(&rng, 1, 3), rows = 1 + round % 7;
        op_case c = op_begin(adds ? ASSAY_OP_SCATTER_REDUCE : ASSAY_OP_SCATTER_ND, 3, 1);
        int64_t u[3] = {rows}, run = 1;
        for (int64_t d = depth; d < 3; d++)
            run *= u[d - depth + 1] = x[d];
        const assay_elem elem = adds ? assay_int(32, true) : op_any_elem(&rng);
        c.in[0] = op_noise(&rng, elem, 3, x);
        c.in[1] = op_zeros(assay_int(64, true), 2, (int64_t[]){rows, depth});
        c.in[2] = op_noise(&rng, elem, 4 - (int)depth, u);
        int64_t place[7];
        for (int64_t i = 0; i < rows; i++) {
            place[i] = 0;
            for (int64_t d = 0; d < depth; d++) {
                const int64_t v = test_between(&rng, -x[d], x[d] - 1);
                ((int64_t *)c.in[1].data)[i * depth + d] = v;
                place[i] = place[i] * x[d] + (v + x[d]) % x[d];
            }
        }
        op_run(&c);
        for (int64_t e = 0; e < 24; e++) {
            uint32_t sum = adds ? ((uint32_t *)c.in[0].data)[e] : 0;
            int64_t last = -1;
            for (int64_t i = 0; i < rows; i++)
                if (place[i] == e / run) {
                    last = i * run + e % run;
                    sum += adds ? ((uint32_t *)c.in[2].data)[last] : 0;
                }
            if (adds)
                assert_int_equal(((uint32_t *)c.out[0].data)[e], sum);
            else
                op_assert_moved(&c.out[0], e, &c.in[last < 0 ? 0 : 2], last < 0 ? e : last);
        }
        op_end(&c);
    }
}

/* Each reduction on values whose results are known; an index outside is refused. */
static void scatter_reduces(void **state)
{
    const float want[4][2] = {{9, 7}, {24, 7}, {2, 7}, {4, 7}};
    assay_error err;
    (void)state;
    for (int k = 0; k < 5; k++) {
        op_case c = op_begin(ASSAY_OP_SCATTER_REDUCE, 3, 1);
        c.attr.scatter.reduction = k % 4;
        c.in[0] = op_floats(1, (int64_t[]){2}, (float[]){3, 7});
        c.in[1] = op_zeros(assay_int(64, true), 2, (int64_t[]){2, 1});
        c.in[2] = op_floats(1, (int64_t[]){2}, (float[]){4, 2});
        if (k == 4) {
            ((int64_t *)c.in[1].data)[1] = 2;
            assert_int_equal(op_try(&c, &err), ASSAY_ERR_INPUT);
            assert_non_null(strstr(err.text, "index 2 is outside axis 0"));
        } else {
            op_run(&c);
            assert_memory_equal(c.out[0].data, want[k], sizeof want[k]);
        }
        op_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scatter_puts_and_adds),
        cmocka_unit_test(scatter_reduces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
