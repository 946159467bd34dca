/* Every allocation of an import may fail, TFLite Micro's operators on signals among them: the
 * answer is ASSAY_ERR_MEMORY, and nothing leaks (run under ASan). */
#include "test/support/support.h"

#include <stdlib.h>

#include "graph/tflite/tflite.h"
#include "test/support/alloc_fails.h"
#include "test/tflite/signal_front.h"

/* Each allocation in turn, until none fails. */
static void fail_every(const tb_model *m)
{
    size_t size;
    unsigned char *file = tb_finish(m, &size);
    bool reached = true;

    for (long n = 1; reached; n++) {
        assay_graph *g;
        assay_error err;
        alloc_countdown = n;
        const assay_status s = tfl_import_memory("model", file, size, &g, &err);
        reached = alloc_countdown == 0;
        alloc_countdown = 0;
        if (s != (reached ? ASSAY_ERR_MEMORY : ASSAY_OK))
            fail_msg("allocation %ld, the status is %d: %s", n, (int)s, err.text);
        assert_true(reached == !g);
        assay_graph_free(g);
    }
    free(file);
}

static void test_front_end(void **state)
{
    const tb_model m = front_end(true);
    (void)state;
    fail_every(&m);
}

/* x -> y and, for some, whether it is due. */
static void fail_one(const char *name, const ts_option *o, size_t n, int n_in, int rows, int n_out,
                     bool due)
{
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = due ? 2 : 1, .output = {1, 2}};

    tb_add(&m, "x", TFL_INT16, n_in, -1);
    if (rows)
        tb_add(&m, "y", TFL_INT16, rows, n_out, -1);
    else
        tb_add(&m, "y", TFL_INT16, n_out, -1);
    tb_add(&m, "due", TFL_BOOL, -1);
    ts_wire(ts_custom(&m, name, o, n), (int[]){0}, 1, (int[]){1, 2}, due ? 2 : 1);
    fail_every(&m);
}

static void test_alone(void **state)
{
    static const ts_option length[] = {{"fft_length", 16}}, delay[] = {{"delay_length", 3}},
                           frames[] = {{"frame_size", 6}, {"frame_step", 2}, {"prefill", 0}},
                           stacks[] = {{"num_channels", 2},
                                       {"stacker_left_context", 1},
                                       {"stacker_right_context", 1},
                                       {"stacker_step", 2}};

    (void)state;
    fail_one("SignalRfft", length, 1, 12, 0, 18, false);
    fail_one("SignalIrfft", length, 1, 18, 0, 16, false);
    fail_one("SignalDelay", delay, 1, 4, 0, 4, false);
    fail_one("SignalFramer", frames, 3, 4, 2, 6, true);
    fail_one("SignalStacker", stacks, 4, 2, 0, 6, true);
}

static void test_overlap(void **state)
{
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {1}};

    (void)state;
    tb_add(&m, "x", TFL_INT16, 2, 5, -1);
    tb_add(&m, "y", TFL_INT16, 4, -1);
    ts_wire(ts_custom(&m, "SignalOverlapAdd", (ts_option[]){{"frame_step", 2}}, 1), (int[]){0}, 1,
            (int[]){1}, 1);
    fail_every(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_front_end),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
