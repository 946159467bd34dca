/* A probe network under construction: values, numbers, nodes. The first error stays, so that makers
 * (networks.def) need not ask at each step. */
#ifndef ASSAY_INTERP_PROBE_NET_H
#define ASSAY_INTERP_PROBE_NET_H

#include "graph/core/graph.h"
#include "interp/rows/random.h"

#define PROBE_INPUTS 96

/* The types of a family of targets: "u8s8" is u8 activations by i8 weights. */
typedef struct probe_types {
    const char *name;
    assay_elem activation, weight, bias;
    int32_t zero_point; /* of activations that may have any: a plain one that is not 0 */
    const char *scheme; /* whose bits the bundles hold unless another is requested */
} probe_types;

/* NULL: no such family. */
const probe_types *probe_types_find(const char *name);

typedef struct probe_net {
    assay_graph *graph; /* owned */
    const probe_types *types;
    assay_status status;
    assay_error *err;
    rows_random random;
    bool varied;  /* scales other than the probe's own, drawn at random */
    bool powers;  /* all scales are powers of two */
    bool extreme; /* also what few runtimes take: averages that change the scale, biases at the ends
                     of 32 bits */
    int n_inputs, n_outputs, input[PROBE_INPUTS], output[PROBE_INPUTS];
    void *data[PROBE_INPUTS];        /* of the inputs: of the graph's arena */
    const char *about[PROBE_INPUTS]; /* of the outputs: what their elements test */
} probe_net;

typedef void probe_maker(probe_net *n, const char *op);
/* The networks of networks.def in their order; name NULL after the last. */
typedef struct probe_network {
    const char *name;
    probe_maker *make;
    unsigned bits; /* of the codes, at most */
} probe_network;
extern const probe_network probe_networks[];
/* Makes one of them: types, err, random and varied are set, all else is 0. */
assay_status probe_make(const probe_network *p, probe_net *n);
/* Sets the graph's inputs and outputs, once all nodes are added. */
assay_status probe_net_end(probe_net *n);

/* ---- numbers ---- */
uint64_t probe_random(probe_net *n);
/* Of lo..hi, both included; and of [0, 1). */
int64_t probe_between(probe_net *n, int64_t lo, int64_t hi);
double probe_unit(probe_net *n);
/* A scale of the probe; in a varied network another of similar size, sometimes a power of
 * two. */
double probe_vary(probe_net *n, double scale);
/* Element i of the codes of a type: each in turn, where they are few; else the ends, powers of two
 * and numbers at random. */
int64_t probe_code(probe_net *n, assay_elem e, int64_t i);

/* ---- types ---- */
typedef struct probe_shape {
    int rank;
    int64_t dim[ASSAY_MAX_RANK];
} probe_shape;
#define PROBE_SHAPE(...)                                                                           \
    ((probe_shape){.rank = (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),              \
                   .dim = {__VA_ARGS__}})

/* One scale and zero point; borrowed from n until the graph is freed. */
assay_type probe_type(probe_net *n, assay_elem e, probe_shape shape, double scale, int32_t zero);
/* One scale per index of axis 0, zero points 0; scale[] is copied. */
assay_type probe_axis_type(probe_net *n, assay_elem e, probe_shape shape, const float *scale);

/* ---- values ---- */
/* A graph input with its numbers: room for them, to be filled. NULL after an error. */
void *probe_input(probe_net *n, const char *name, assay_type type, int *id);
/* The same, filled by probe_code. */
int probe_codes(probe_net *n, const char *name, assay_type type);
void *probe_constant(probe_net *n, const char *name, assay_type type, int *id);
/* A node whose output is one of the network's; what: of its elements, a string that stays. NULL
 * after an error. */
assay_node *probe_node(probe_net *n, enum assay_op op, const char *name, const int *in, int n_in,
                       assay_type out, const assay_attrs *attr, const char *what);

#endif
