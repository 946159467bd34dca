/* A custom operator as a chain of nodes: each call adds a node or a constant and gives its value;
 * behind a failure, which stays in `s`, all do nothing. */
#ifndef ASSAY_GRAPH_TFLITE_CHAIN_H
#define ASSAY_GRAPH_TFLITE_CHAIN_H

#include "graph/tflite/op/op.h"

typedef struct tfl_chain {
    const tfl_op *o;
    assay_status s;
} tfl_chain;

/* A tensor that an operator takes or gives; any other rank: -1. */
typedef struct tfl_port {
    enum tfl_type type;
    int rank;
} tfl_port;

/* The operator has these inputs and outputs, of plain numbers. */
tfl_chain tfl_chain_of(const tfl_op *o, int n_in, const tfl_port *in, int n_out,
                       const tfl_port *out);
/* The whole number of that name among the options, from lo to hi. */
int64_t tfl_whole(tfl_chain *c, const char *key, int64_t lo, int64_t hi);
/* Fails with a reason unless `holds`; whether nothing failed so far. */
bool tfl_holds(tfl_chain *c, bool holds, const char *reason);

int tfl_chain_in(tfl_chain *c, int i);
int tfl_chain_out(tfl_chain *c, int i);
const assay_type *tfl_chain_type(const tfl_chain *c, int value);
/* A constant "OUTPUT/part": its elements are to be written to *data (NULL behind a failure). */
int tfl_chain_table(tfl_chain *c, const char *part, const assay_type *type, void **data);
/* A single integer as a constant. */
int tfl_chain_number(tfl_chain *c, const char *part, assay_elem elem, int64_t number);
/* "OUTPUT/part" = kind(x, z), of the type that follows; z may be ASSAY_NO_VALUE. */
int tfl_link(tfl_chain *c, const char *part, assay_op kind, const assay_attrs *a, int x, int z);
/* x as another kind of integers. */
int tfl_chain_cast(tfl_chain *c, const char *part, int to, int x);
/* x (32 bits) within 16 bits. */
int tfl_chain_saturated(tfl_chain *c, int x);
/* Elements first to first + n of the last axis. */
int tfl_chain_slice(tfl_chain *c, const char *part, int x, int64_t first, int64_t n);
/* Two values, or one where a is ASSAY_NO_VALUE, along the last axis. */
int tfl_chain_concat(tfl_chain *c, const char *part, int a, int b);
/* a where the condition holds, else b. */
int tfl_chain_select(tfl_chain *c, const char *part, int condition, int a, int b);
/* Output y = kind(x, z). */
void tfl_chain_end(tfl_chain *c, int y, assay_op kind, const assay_attrs *a, int x, int z);

/* A variable "OUTPUT/part" that begins as `first` throughout; its present value. */
int tfl_chain_state(tfl_chain *c, const char *part, const assay_type *type, int64_t first,
                    int *variable);
/* The variable takes the value, which is given again as "OUTPUT/part". */
int tfl_chain_assign(tfl_chain *c, const char *part, int variable, int value);

#endif
