/* TFLite models of recurrent operators, for tests: tensors whose numbers are known. */
#ifndef ASSAY_TEST_TFLITE_RECURRENT_H
#define ASSAY_TEST_TFLITE_RECURRENT_H

#include "test/support/tflite_build.h"

enum { LSTM = 16, RNN = 24, SEQUENCE_RNN = 35, SEQUENCE_LSTM = 44, BI_RNN = 46, BI_LSTM = 52 };
enum { BATCH = 2, STEPS = 3, IN = 3, UNITS = 4, OUT = 2 };
enum { NONE = -1, END = -2 };
enum { GATE_INPUT, GATE_FORGET, GATE_CELL, GATE_OUTPUT, GATES };

/* Numbers of the tensors that rec_weights made, by their index; those of hybrid ones are codes
 * times rec_scale. */
extern float rec_real[TB_MAX][64];
extern int8_t rec_code[TB_MAX][64];
extern const float rec_scale;

/* A constant of multiples of 1/64, none above 1; with `hybrid` as codes. */
int rec_weights(tb_model *m, const char *name, int rows, int columns, bool hybrid);
int rec_state(tb_model *m, const char *name, int units);
int rec_over_time(tb_model *m, const char *name, int n, bool major);
/* Where the n elements of a batch's step begin. */
int rec_at(bool major, int b, int s, int n);
/* Outputs of the model, hybrid in its integers; then damaged copies. */
void rec_run(const tb_model *m, bool hybrid, const float *const *in, float *const *out);
/* The import as hybrid must fail with a message that has this part. */
void rec_refuse(const tb_model *m, const char *part);
/* Within 1e-6. */
void rec_close_to(const float *got, const double *want, int n);
void rec_draw(test_rng *rng, float *x, int n);
/* The sum of x times w. */
double rec_dot(const double *x, const float *w, int n);

typedef struct lstm_form {
    bool coupled, peephole, projected, norm, major, hybrid;
} lstm_form;

/* Tensors of one direction. */
typedef struct lstm_tensors {
    int w[GATES], r[GATES], p[3], b[GATES], projection, norm[GATES], h, c;
} lstm_tensors;

/* The tensors of one direction; their names begin with `prefix`. */
lstm_tensors rec_lstm(tb_model *m, const lstm_form *f, const char *prefix);

#endif
