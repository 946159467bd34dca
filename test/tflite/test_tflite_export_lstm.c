/* An LSTM that comes apart when it is read and is whole in the file that is written. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/export.h"
#include "test/support/tflite_build.h"
#include "test/support/tflite_lstm.h"
#include "test/support/tflite_roundtrip.h"

static void lstm_is_whole(void **state)
{
    static const tflite_lstm_case cases[] = {
        {TFL_INT8, 2, 3, true, 0},    {TFL_INT8, 1, 3, false, 1.5F},   {TFL_INT8, 2, 1, false, 0},
        {TFL_INT8, 2, 1, true, 6},    {TFL_INT16, 1, 2, true, 0.7F},   {TFL_INT16, 2, 4, false, 0},
        {TFL_FLOAT32, 1, 3, true, 0}, {TFL_FLOAT32, 2, 2, false, 0.5F}};
    test_rng rng = test_seed("tflite_export_lstm", 8);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const tb_model m = tflite_lstm(&cases[i]);
        unsigned char *file, *bytes;
        size_t length;
        roundtrip sum = {0};
        assay_error err;
        assay_graph *g = tb_import_ok(&m, &file);
        g->name = "lstm";
        test_tflite_roundtrip(g, "tflite", 3, &rng, &sum);
        test_tflite_roundtrip(g, "tflite-single", 2, &rng, &sum);
        assert_int_equal(sum.mismatches, 0);
        assert_true(sum.values >= 5 * g->n_nodes - 10);
        assert_ok(tfl_export_graph(g, &bytes, &length, &err), &err);
        assert_true(length < 5000); /* one operator: taken apart, names alone are more */
        free(bytes);
        tflite_leave_seed(g);
        assay_graph_free(g);
        free(file);
    }
}

/* A gate that is read from outside: the nodes stay what they are, which TFLite has no words for. */
static void open_lstm_is_refused(void **state)
{
    const tb_model m = tflite_lstm(&(tflite_lstm_case){TFL_INT8, 1, 2, true, 0});
    unsigned char *file, *bytes;
    size_t length;
    assay_error err;
    assay_graph *g = tb_import_ok(&m, &file);
    int out[2] = {g->output[0], assay_graph_find_value(g, "y/step1/cell")};

    (void)state;
    assert_true(out[1] >= 0);
    assert_ok(assay_graph_set_outputs(g, out, 2, &err), &err);
    assert_refused(tfl_export_graph(g, &bytes, &length, &err), &err, "on i8 by i8 with output i16");
    assay_graph_free(g);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lstm_is_whole),
        cmocka_unit_test(open_lstm_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
