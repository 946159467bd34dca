/* A scheme that is no target's: each row function is a simple formula that shows the index of every
 * operand, so that a test of a kernel can say what must come out. And one-node networks to run. */
#ifndef ASSAY_TEST_FAKE_H
#define ASSAY_TEST_FAKE_H

#include "interp/run/program.h"

/*  accumulate   bias + sum of x*w; traps (and keeps the sum) when it exceeds fake_trap in magnitude
 *  apply_overflow  likewise
 *  requantize   acc/16 (floor) + channel
 *  binary       3*a - 2*b            unary   5 - x
 *  pool         floor(8 * sum / count), 0 when nothing counts
 *  row          x[n-1-i] + i
 *  interpolate  (c0*(1024-fy)*(1024-fx) + c1*(1024-fy)*fx + c2*fy*(1024-fx) + c3*fy*fx) >> 20
 *  quantize     (bits >> 20) + channel          dequantize  (q << 20) + channel
 * each saturated to the output's codes. */
extern const assay_scheme fake_scheme;
extern int64_t fake_trap;       /* INT64_MAX unless a test sets it */
extern const char *fake_refuse; /* op that prepare refuses, or NULL */

int32_t fake_saturate(assay_elem e, int64_t x);
int64_t fake_floor_div(int64_t n, int64_t d);

/* ---- types ---- */
#define FAKE_PARAMS 64
/* A quantized type; zero points are drawn inside the type when `zero` is set, else 0. Parameters
 * are owned by a static ring: they hold until FAKE_PARAMS further types were made. */
struct test_rng;
assay_type fake_type(assay_elem e, int rank, const int64_t *dim, int axis, struct test_rng *r,
                     bool zero);

/* ---- a network of one node ---- */
typedef struct fake_net {
    assay_graph *graph;
    int in[8], n_in, out[4], n_out;
    assay_program *program;
    assay_run *run;
    int64_t *accumulators; /* of the node, a copy; NULL when it has none */
} fake_net;

/* Inputs get random codes; types of outputs beyond their inferred shape are out_type's. */
void fake_begin(fake_net *net);
int fake_input(fake_net *net, const assay_type *t);
/* Adds the node with output element kind and parameters of `out` (its shape is inferred), fills the
 * inputs at random, prepares and runs it. */
void fake_run(fake_net *net, assay_op op, const assay_attrs *attr, const assay_type *out,
              struct test_rng *r);
/* Quantize and dequantize: the output's whole type is given. */
void fake_run_as(fake_net *net, assay_op op, const assay_type *out, struct test_rng *r);
void fake_end(fake_net *net);

/* Element i of the net's input or output k, as an integer (floats: their bits). */
int64_t fake_in(const fake_net *net, int k, int64_t i);
int64_t fake_out(const fake_net *net, int k, int64_t i);
const assay_type *fake_in_type(const fake_net *net, int k);
const assay_type *fake_out_type(const fake_net *net, int k);
/* Centred: minus the zero point of index c. */
int64_t fake_centred(const fake_net *net, int k, int64_t i, int64_t c);

#endif
