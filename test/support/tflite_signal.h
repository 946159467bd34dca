/* Models of TFLite Micro's operators on signals (custom operators), and their runs. */
#ifndef ASSAY_TEST_TFLITE_SIGNAL_H
#define ASSAY_TEST_TFLITE_SIGNAL_H

#include "interp/run/program.h"
#include "test/support/tflite_build.h"

typedef struct ts_option {
    const char *key;
    int32_t value;
} ts_option;

/* The next operator of the model, with these options, which last until another model has as many.
 */
tb_op *ts_custom(tb_model *m, const char *name, const ts_option *o, size_t n);
/* Others for operator `op`. */
void ts_set(tb_model *m, int op, const ts_option *o, size_t n);
void ts_wire(tb_op *op, const int *in, int n_in, const int *out, int n_out);
/* One operator on vectors x -> y of that type. */
tb_model ts_alone(const char *name, const ts_option *o, size_t n, int type, int in, int out);

/* A model at work; every value can be read. */
typedef struct ts_machine {
    unsigned char *file;
    assay_graph *g;
    assay_program *program;
    assay_run *run;
} ts_machine;

ts_machine ts_start(const tb_model *m);
void ts_stop(ts_machine *x);
/* A run on the first input's elements. */
void ts_feed(ts_machine *x, const void *data);
/* The value of that name has these bytes. */
void ts_check(const ts_machine *x, const char *name, const void *want, size_t bytes);

#endif
