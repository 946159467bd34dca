/* A front end of TFLite Micro's operators on signals, nine of them one after the other, on the
 * numbers of test/vectors/tflm-signal. */
#ifndef ASSAY_TEST_TFLITE_SIGNAL_FRONT_H
#define ASSAY_TEST_TFLITE_SIGNAL_FRONT_H

#include "test/support/tflite_signal.h"
#include "test/vectors/tflm-signal/signal.h"

enum {
    PCM,
    WINDOW,
    WINDOWED,
    SCALED,
    BITS,
    SPECTRUM,
    ENERGY,
    WEIGHTS,
    UNWEIGHTS,
    FIRST,
    AT,
    WIDTH,
    BANK,
    ROOT,
    CLEAN,
    NOISE,
    GAINS,
    PCAN,
    LOG
};

static void add_words(tb_model *m, const char *name, const int16_t *data, int n)
{
    tb_add(m, name, TFL_INT16, n, -1);
    tb_data(m, data, (size_t)n * sizeof *data);
}

static void add_tensors(tb_model *m)
{
    tb_add(m, "pcm", TFL_INT16, 12, -1);
    add_words(m, "window", front_window, 12);
    tb_add(m, "windowed", TFL_INT16, 12, -1);
    tb_add(m, "scaled", TFL_INT16, 12, -1);
    tb_add(m, "bits", TFL_INT32, -1);
    tb_add(m, "spectrum", TFL_INT16, 18, -1);
    tb_add(m, "energy", TFL_UINT32, 9, -1);
    add_words(m, "weights", bank_weights, 7);
    add_words(m, "unweights", bank_unweights, 7);
    add_words(m, "first", bank_first, 4);
    add_words(m, "at", bank_at, 4);
    add_words(m, "width", bank_width, 4);
    tb_add(m, "bank", TFL_UINT64, 3, -1);
    tb_add(m, "root", TFL_UINT32, 3, -1);
    tb_add(m, "clean", TFL_UINT32, 3, -1);
    tb_add(m, "noise", TFL_UINT32, 3, -1);
    add_words(m, "gains", gains, 125);
    tb_add(m, "pcan", TFL_UINT32, 3, -1);
    tb_add(m, "log", TFL_INT16, 3, -1);
}

/* From PCM to the logarithm of three channels. */
static tb_model front_end(bool clamping)
{
    static const ts_option shift[] = {{"shift", 12}}, length[] = {{"fft_length", 16}},
                           range[] = {{"end_index", 8}, {"start_index", 1}},
                           channels[] = {{"num_channels", 3}}, snr[] = {{"snr_shift", 6}},
                           log[] = {{"input_correction_bits", 3}, {"output_scale", 64}};
    ts_option noise[] = {{"alternate_one_minus_smoothing", 15401},
                         {"alternate_smoothing", 983},
                         {"clamping", clamping},
                         {"min_signal_remaining", 819},
                         {"num_channels", 3},
                         {"one_minus_smoothing", 15974},
                         {"smoothing", 410},
                         {"smoothing_bits", 10},
                         {"spectral_subtraction_bits", 14}};
    tb_model m = {.n_inputs = 1, .input = {PCM}, .n_outputs = 1, .output = {LOG}};

    add_tensors(&m);
    ts_wire(ts_custom(&m, "SignalWindow", shift, 1), (int[]){PCM, WINDOW}, 2, (int[]){WINDOWED}, 1);
    ts_wire(ts_custom(&m, "SignalFftAutoScale", NULL, 0), (int[]){WINDOWED}, 1,
            (int[]){SCALED, BITS}, 2);
    ts_wire(ts_custom(&m, "SignalRfft", length, 1), (int[]){SCALED}, 1, (int[]){SPECTRUM}, 1);
    ts_wire(ts_custom(&m, "SignalEnergy", range, 2), (int[]){SPECTRUM}, 1, (int[]){ENERGY}, 1);
    ts_wire(ts_custom(&m, "SignalFilterBank", channels, 1),
            (int[]){ENERGY, WEIGHTS, UNWEIGHTS, FIRST, AT, WIDTH}, 6, (int[]){BANK}, 1);
    ts_wire(ts_custom(&m, "SignalFilterBankSquareRoot", NULL, 0), (int[]){BANK, BITS}, 2,
            (int[]){ROOT}, 1);
    ts_wire(ts_custom(&m, "SignalFilterBankSpectralSubtraction", noise, 9), (int[]){ROOT}, 1,
            (int[]){CLEAN, NOISE}, 2);
    ts_wire(ts_custom(&m, "SignalPCAN", snr, 1), (int[]){CLEAN, NOISE, GAINS}, 3, (int[]){PCAN}, 1);
    ts_wire(ts_custom(&m, "SignalFilterBankLog", log, 2), (int[]){PCAN}, 1, (int[]){LOG}, 1);
    return m;
}

#endif
