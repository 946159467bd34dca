/* TFLite Micro's operators on signals that have state, over several runs; micro_speech. */
#include "test/support/tflite_signal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"
#include "test/vectors/tflm-signal/overlap.h"

/* ---- state ---- */

/* x [n] -> y [rows][n_out] (rows 0: [n_out]) and `valid`. */
static tb_model with_state(const char *name, const ts_option *o, size_t n, int n_in, int rows,
                           int n_out)
{
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 2, .output = {1, 2}};
    tb_add(&m, "x", TFL_INT16, n_in, -1);
    if (rows)
        tb_add(&m, "y", TFL_INT16, rows, n_out, -1);
    else
        tb_add(&m, "y", TFL_INT16, n_out, -1);
    tb_add(&m, "valid", TFL_BOOL, -1);
    ts_wire(ts_custom(&m, name, o, n), (int[]){0}, 1, (int[]){1, 2}, 2);
    return m;
}

/* Samples 1, 2, 3, ...; before them stand zeros. */
static int16_t sample(int i)
{
    return (int16_t)(i > 0 ? i : 0);
}

/* Run by run: frame f of run r ends `lag` samples before the newest one of its step, and is whole
 * when it begins with sample 1 or later. */
static void check_framer(int size, int step, bool prefill, int n)
{
    const ts_option o[] = {{"frame_size", size}, {"frame_step", step}, {"prefill", prefill}};
    const int frames = n / step, whole = (size + step - 1) / step;
    const int lag = prefill ? 0 : whole * step - size;
    const tb_model m = with_state("SignalFramer", o, 3, n, frames, size);
    ts_machine x = ts_start(&m);

    for (int r = 0; r < 5; r++) {
        int16_t in[16], want[64];
        const bool valid = prefill || r * frames + 1 >= whole;
        for (int i = 0; i < n; i++)
            in[i] = sample(r * n + i + 1);
        for (int f = 0; f < frames; f++)
            for (int i = 0; i < size; i++)
                want[f * size + i] = sample(r * n + (f + 1) * step - lag - size + 1 + i);
        ts_feed(&x, in);
        ts_check(&x, "y", want, (size_t)(frames * size) * 2);
        ts_check(&x, "valid", &valid, 1);
    }
    ts_stop(&x);
}

static void test_framer(void **state)
{
    (void)state;
    for (int prefill = 0; prefill < 2; prefill++) {
        check_framer(5, 2, prefill, 4);
        check_framer(6, 2, prefill, 2);
        check_framer(3, 3, prefill, 3);
        check_framer(7, 3, prefill, 9);
    }
    check_framer(2, 4, false, 8);
}

static void test_delay(void **state)
{
    (void)state;
    for (int delay = 0; delay < 8; delay += 3) {
        const ts_option o[] = {{"delay_length", delay}};
        const tb_model m = ts_alone("SignalDelay", o, 1, TFL_INT16, 4, 4);
        ts_machine x = ts_start(&m);
        for (int r = 0; r < 4; r++) {
            int16_t in[4], want[4];
            for (int i = 0; i < 4; i++) {
                in[i] = sample(4 * r + i + 1);
                want[i] = sample(4 * r + i + 1 - delay);
            }
            ts_feed(&x, in);
            ts_check(&x, "y", want, sizeof want);
        }
        ts_stop(&x);
    }
}

/* Frames before the first one are the first. A stack is due when `right` frames have come behind
 * the first, and then every `step`. */
static void check_stacker(int left, int right, int step)
{
    enum { CHANNELS = 2, RUNS = 9 };
    const ts_option o[] = {{"num_channels", CHANNELS},
                           {"stacker_left_context", left},
                           {"stacker_right_context", right},
                           {"stacker_step", step}};
    const int n = left + right + 1;
    const tb_model m = with_state("SignalStacker", o, 4, CHANNELS, 0, n * CHANNELS);
    ts_machine x = ts_start(&m);

    for (int r = 0; r < RUNS; r++) {
        int16_t in[CHANNELS], want[16];
        const bool valid = r >= right && (r - right) % step == 0;
        for (int i = 0; i < CHANNELS; i++)
            in[i] = (int16_t)(10 * r + i + 1);
        for (int i = 0; i < n * CHANNELS; i++) {
            const int of = r - n + 1 + i / CHANNELS;
            want[i] = (int16_t)(10 * (of > 0 ? of : 0) + i % CHANNELS + 1);
        }
        ts_feed(&x, in);
        ts_check(&x, "y", want, (size_t)(n * CHANNELS) * 2);
        ts_check(&x, "valid", &valid, 1);
    }
    ts_stop(&x);
}

static void test_stacker(void **state)
{
    (void)state;
    check_stacker(0, 0, 1);
    check_stacker(2, 0, 1);
    check_stacker(1, 2, 1);
    check_stacker(3, 1, 2);
    check_stacker(1, 1, 3);
}

static void test_overlap(void **state)
{
    static const ts_option o[] = {{"T", 7}, {"frame_step", 2}};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {1}};
    ts_machine x;

    (void)state;
    tb_add(&m, "x", TFL_INT16, 2, 5, -1);
    tb_add(&m, "y", TFL_INT16, 4, -1);
    ts_wire(ts_custom(&m, "SignalOverlapAdd", o, 2), (int[]){0}, 1, (int[]){1}, 1);
    x = ts_start(&m);
    for (int r = 0; r < 3; r++) {
        ts_feed(&x, overlap_x + 10 * r);
        ts_check(&x, "y", overlap_y + 4 * r, 8);
    }
    ts_stop(&x);
    tb_run(&m, (const void *[]){overlap_x}, overlap_y, 8);
}

/* Floats; steps as long as the frames have nothing to overlap. */
static void test_overlap_floats(void **state)
{
    static const float frames[8] = {1, 2, 3, 4, 10, 20, 30, 40}, halves[4] = {1, 2, 13, 24};
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {1}};

    (void)state;
    tb_add(&m, "x", TFL_FLOAT32, 2, 4, -1);
    tb_add(&m, "y", TFL_FLOAT32, 4, -1);
    ts_wire(ts_custom(&m, "SignalOverlapAdd", (ts_option[]){{"frame_step", 2}}, 1), (int[]){0}, 1,
            (int[]){1}, 1);
    tb_run(&m, (const void *[]){frames}, halves, sizeof halves);
    ts_set(&m, 0, (ts_option[]){{"frame_step", 4}}, 1);
    m.tensor[1].dim[0] = 8;
    tb_run(&m, (const void *[]){frames}, frames, sizeof frames);
}

/* ---- micro_speech, where its models are ---- */

static char *read_part(const char *folder, const char *name, size_t *size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return test_read_file(path, size);
}

static ts_machine load(const char *folder, const char *name, const assay_scheme *scheme)
{
    ts_machine x;
    size_t size;
    assay_error err;
    x.file = (unsigned char *)read_part(folder, name, &size);
    assert_ok(tfl_import_memory(name, x.file, size, &x.g, &err), &err);
    assert_ok(assay_program_make(x.g, scheme, true, &x.program, &err), &err);
    assert_ok(assay_run_new(x.program, &x.run, &err), &err);
    return x;
}

/* The label of 1000 ms of PCM: 49 frames of 480 samples, 320 apart, are 49 rows of features. */
static int label_of(const char *folder, const char *wav, ts_machine *net)
{
    enum { HEADER = 44, FRAMES = 49, SAMPLES = 480, STEP = 320, FEATURES = 40, LABELS = 4 };
    ts_machine front = load(folder, "models/audio_preprocessor_int8.tflite", NULL);
    int8_t features[FRAMES * FEATURES];
    size_t size;
    char *pcm = read_part(folder, wav, &size);
    int best = 0;

    assert_true(size >= HEADER + 2 * (STEP * (FRAMES - 1) + SAMPLES));
    for (size_t i = 0; i < FRAMES; i++) {
        ts_feed(&front, pcm + HEADER + 2 * STEP * i);
        memcpy(features + FEATURES * i, assay_run_data(front.run, front.g->output[0]), FEATURES);
    }
    ts_feed(net, features);
    const int8_t *score = assay_run_data(net->run, net->g->output[0]);
    for (int i = 1; i < LABELS; i++)
        best = score[i] > score[best] ? i : best;
    free(pcm);
    ts_stop(&front);
    return best;
}

/* ASSAY_MICRO_SPEECH is tensorflow/lite/micro/examples/micro_speech of
 * github.com/tensorflow/tflite-micro; labels as micro_model_settings.h counts them there. */
static void test_micro_speech(void **state)
{
    static const struct {
        const char *wav;
        int label;
    } known[] = {{"testdata/silence_1000ms.wav", 0},
                 {"testdata/noise_1000ms.wav", 0},
                 {"testdata/yes_1000ms.wav", 2},
                 {"testdata/no_1000ms.wav", 3}};
    const char *folder = getenv("ASSAY_MICRO_SPEECH");
    assay_scheme *scheme;
    assay_error err;

    (void)state;
    if (!folder) {
        print_message("skipped: ASSAY_MICRO_SPEECH is not set\n");
        skip();
    }
    assert_ok(assay_scheme_open("tflite", &scheme, &err), &err);
    ts_machine net = load(folder, "models/micro_speech_quantized.tflite", scheme);
    for (int i = 0; i < 4; i++)
        assert_int_equal(label_of(folder, known[i].wav, &net), known[i].label);
    ts_stop(&net);
    assay_scheme_free(scheme);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_framer),         cmocka_unit_test(test_delay),
        cmocka_unit_test(test_stacker),        cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_overlap_floats), cmocka_unit_test(test_micro_speech),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
