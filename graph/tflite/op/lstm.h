/* One direction of an LSTM, and its steps. */
#ifndef ASSAY_GRAPH_TFLITE_LSTM_H
#define ASSAY_GRAPH_TFLITE_LSTM_H

#include "graph/tflite/op/unroll.h"

enum { GATE_INPUT, GATE_FORGET, GATE_CELL, GATE_OUTPUT, GATES };

/* Values; ASSAY_NO_VALUE where the operator does not have them. */
typedef struct tfl_lstm_gate {
    tfl_factor w, r, aux;     /* of x, of the hidden state, of an auxiliary input */
    int bias, peephole, norm; /* peephole: weights of the cell; norm: of the normalized sum */
} tfl_lstm_gate;

typedef struct tfl_lstm {
    tfl_unroll at;
    int activation;
    bool coupled; /* the input gate is what the forget gate leaves */
    bool has_aux;
    tfl_lstm_gate gate[GATES];
    tfl_factor projection;
    int projection_bias, one; /* one: the constant, of coupled gates */
    int zeros; /* in the place of a bias of 16-bit activations: makes the accumulator 64 bits wide
                */
    assay_type sum, bent, cell, hidden; /* types; `bent` what the gates and the tanh give */
    float clip, projection_clip;        /* 0: none */
} tfl_lstm;

/* The new cell and hidden state in the place of the old; aux may be NULL. */
assay_status tfl_lstm_step(tfl_lstm *l, tfl_factor *x, tfl_factor *aux, int *cell, int *hidden);
/* LSTM of the basic kernel (lstm_basic.c). */
assay_status tfl_basic_lstm(const tfl_op *o);

#endif
