/* A TFLite model of one LSTM, for tests. */
#ifndef ASSAY_TEST_TFLITE_LSTM_H
#define ASSAY_TEST_TFLITE_LSTM_H

#include "test/support/tflite_build.h"

enum { LSTM_GATES = 4, LSTM_UNITS = 2, LSTM_INPUTS = 3 };

typedef struct tflite_lstm_case {
    int type, batch, steps;
    bool major;
    float clip;
} tflite_lstm_case;

/* Weights "w0" to "w11", a constant of a gate each, are made of the same numbers in every case. */
tb_model tflite_lstm(const tflite_lstm_case *c);

#endif
