/* TFLite Micro's operators on signals that have no state, and a whole front end, against the
 * numbers that its own code gave; what is refused. */
#include "test/support/tflite_signal.h"

#include <string.h>

#include "test/support/op_case.h"
#include "test/tflite/signal_front.h"

/* ---- operators alone ---- */

#define RUN_ALONE(name, options, type, x, y)                                                       \
    do {                                                                                           \
        tb_model m_ = ts_alone(name, options, sizeof options / sizeof *options, type,              \
                               sizeof x / sizeof *x, sizeof y / sizeof *y);                        \
        tb_run(&m_, (const void *[]){x}, y, sizeof y);                                             \
    } while (0)

static void test_transforms(void **state)
{
    static const ts_option of_16[] = {{"T", 7}, {"fft_length", 16}}, of_32[] = {{"fft_length", 32}},
                           of_64[] = {{"fft_length", 64}};

    (void)state;
    RUN_ALONE("SignalRfft", of_16, TFL_INT16, rfft_16_x, rfft_16_y);
    RUN_ALONE("SignalRfft", of_32, TFL_INT16, rfft_32_x, rfft_32_y);
    RUN_ALONE("SignalRfft", of_64, TFL_INT16, rfft_64_x, rfft_64_y);
    RUN_ALONE("SignalIrfft", of_32, TFL_INT16, irfft_x, irfft_y);
    RUN_ALONE("SignalRfft", of_16, TFL_INT32, rfft_wide_x, rfft_wide_y);
    RUN_ALONE("SignalIrfft", of_16, TFL_INT32, irfft_wide_x, irfft_wide_y);
}

static void test_scale(void **state)
{
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {1}};
    ts_machine x;

    (void)state;
    tb_add(&m, "x", TFL_INT16, 4, -1);
    tb_add(&m, "y", TFL_INT16, 4, -1);
    tb_add(&m, "bits", TFL_INT32, -1);
    ts_wire(ts_custom(&m, "SignalFftAutoScale", NULL, 0), (int[]){0}, 1, (int[]){1, 2}, 2);
    x = ts_start(&m);
    for (int i = 0; i < 5; i++) {
        ts_feed(&x, scale_x + 4 * i);
        ts_check(&x, "y", scale_y + 4 * i, 8);
        ts_check(&x, "bits", scale_bits + i, 4);
    }
    ts_stop(&x);
}

static void test_root(void **state)
{
    op_case c = op_begin(ASSAY_OP_SIGNAL_ROOT, 1, 1);

    (void)state;
    c.in[0] = op_zeros(assay_int(64, true), 1, (int64_t[]){sizeof root_x / 8});
    memcpy(c.in[0].data, root_x, sizeof root_x);
    op_run(&c);
    assert_memory_equal(c.out[0].data, root_y, sizeof root_y);
    op_end(&c);
}

static void test_log(void **state)
{
    static const ts_option fine[] = {{"input_correction_bits", 3}, {"output_scale", 64}},
                           wide[] = {{"input_correction_bits", 0}, {"output_scale", 1600}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        tb_model m = ts_alone("SignalFilterBankLog", k ? wide : fine, 2, TFL_INT16, 12, 12);
        m.tensor[0].type = TFL_UINT32;
        tb_run(&m, (const void *[]){log_x}, k ? log_wide_y : log_y, sizeof log_y);
    }
}

static void test_pcan(void **state)
{
    static const ts_option shift[] = {{"snr_shift", 12}};
    tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {3}};

    (void)state;
    tb_add(&m, "x", TFL_UINT32, 14, -1);
    tb_add(&m, "noise", TFL_UINT32, 14, -1);
    tb_add(&m, "gains", TFL_INT16, 125, -1);
    tb_data(&m, gains, sizeof gains);
    tb_add(&m, "y", TFL_UINT32, 14, -1);
    ts_wire(ts_custom(&m, "SignalPCAN", shift, 1), (int[]){0, 1, 2}, 3, (int[]){3}, 1);
    tb_run(&m, (const void *[]){pcan_x, pcan_noise}, pcan_y, sizeof pcan_y);
}

/* ---- a front end ---- */

static void test_front_end(void **state)
{
    const tb_model m = front_end(false);
    ts_machine x = ts_start(&m);

    (void)state;
    for (int i = 0; i < 4; i++) {
        ts_feed(&x, front_frames + 12 * i);
        ts_check(&x, "windowed", front_window_y + 12 * i, 24);
        ts_check(&x, "scaled", front_scaled + 12 * i, 24);
        ts_check(&x, "bits", front_bits + i, 4);
        ts_check(&x, "spectrum", front_spectrum + 18 * i, 36);
        ts_check(&x, "energy", front_energy + 9 * i, 36);
        ts_check(&x, "bank", front_bank + 3 * i, 24);
        ts_check(&x, "root", front_root + 3 * i, 12);
        ts_check(&x, "clean", front_clean + 3 * i, 12);
        ts_check(&x, "noise", front_noise + 3 * i, 12);
        ts_check(&x, "pcan", front_pcan + 3 * i, 12);
        ts_check(&x, "log", front_log + 3 * i, 6);
    }
    ts_stop(&x);
    tb_run(&m, (const void *[]){front_frames}, front_log, 6);
}

static void test_clamping(void **state)
{
    const tb_model m = front_end(true);
    ts_machine x = ts_start(&m);

    (void)state;
    for (int i = 0; i < 4; i++) {
        ts_feed(&x, front_frames + 12 * i);
        ts_check(&x, "noise", front_clamped + 3 * i, 12);
    }
    ts_stop(&x);
}

/* ---- faults ---- */

static void refuse(tb_model m, int op, ts_option o, const char *part)
{
    ts_set(&m, op, &o, 1);
    tb_refuse(&m, part);
}

static void test_bad_options(void **state)
{
    enum { BANKS = 4, SUBTRACTION = 6 };
    tb_model m = ts_alone("SignalRfft", NULL, 0, TFL_INT16, 16, 18);

    (void)state;
    tb_refuse(&m, "option 'fft_length' is missing");
    refuse(m, 0, (ts_option){"fft_length", 24}, "no power of two");
    refuse(m, 0, (ts_option){"fft_length", 8}, "longer than fft_length");
    refuse(m, 0, (ts_option){"fft_length", 0}, "is 0, expected a whole number from 4");
    refuse(m, 0, (ts_option){"fft_length", INT32_MAX}, "expected a whole number");
    m.tensor[0].type = m.tensor[1].type = TFL_FLOAT32;
    refuse(m, 0, (ts_option){"fft_length", 16}, "a transform of FLOAT32");
    refuse(front_end(false), 0, (ts_option){"shift", -1}, "is -1, expected");
    refuse(front_end(false), 3, (ts_option){"end_index", 10}, "'start_index' is missing");
    refuse(front_end(false), BANKS, (ts_option){"num_channels", 4},
           "fewer bands than num_channels + 1");
    refuse(front_end(false), SUBTRACTION, (ts_option){"smoothing", 1},
           "'alternate_smoothing' is missing");
    m = ts_alone("SignalDelay", NULL, 0, TFL_INT16, 4, 4);
    refuse(m, 0, (ts_option){"delay_length", -1}, "is -1, expected");
}

static void test_bad_tensors(void **state)
{
    static const int16_t outside[4] = {1, 2, 4, 8};
    tb_model m = front_end(false);

    (void)state;
    m.tensor[FIRST].data = outside;
    tb_refuse(&m, "a band leaves the spectrum");
    m = front_end(false);
    m.tensor[AT].has_data = false;
    tb_refuse(&m, "input 4 is not constant");
    m = front_end(false);
    m.tensor[WINDOW].dim[0] = 11;
    m.tensor[WINDOW].bytes = 22;
    tb_refuse(&m, "not as long as the window");
    m = front_end(false);
    m.tensor[BITS].type = TFL_INT16;
    tb_refuse(&m, "output 1 is INT16, expected INT32");
    m = front_end(false);
    m.op[0].n_in = 1;
    tb_refuse(&m, "1 inputs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transforms),  cmocka_unit_test(test_scale),
        cmocka_unit_test(test_root),        cmocka_unit_test(test_log),
        cmocka_unit_test(test_pcan),        cmocka_unit_test(test_front_end),
        cmocka_unit_test(test_clamping),    cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_bad_tensors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
