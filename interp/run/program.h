/* A program: a graph bound to a scheme, planned and ready to run.
 *
 * Preparing derives every unit, checks types against the scheme and lays out an arena; a run
 * touches no heap. One program serves many threads, each with its own assay_run. */
#ifndef ASSAY_INTERP_PROGRAM_H
#define ASSAY_INTERP_PROGRAM_H

#include <stdio.h>

#include "interp/assay.h"
#include "interp/kernel/kernel.h"
#include "schemes/scheme.h"

/* Where each value lives. Constants are not in the arena (offset -1). */
typedef struct assay_plan {
    size_t arena_bytes; /* the whole arena, scratch included */
    size_t scratch_offset, scratch_bytes;
    int n_values;
    int64_t *offset;   /* by value index; -1: constant or unused; 64-byte aligned */
    int *first, *last; /* execution steps between which the value is live */
} assay_plan;

/* keep_all: every value keeps its own place (bundles, profiling). */
assay_status run_plan_make(const assay_graph *g, bool keep_all, assay_plan **out, assay_error *err);
void run_plan_free(assay_plan *p);
/* One line per value (offset, bytes, first and last step, name), then the totals. */
void run_plan_print(FILE *f, const assay_graph *g, const assay_plan *p);
/* The same as SVG: steps across, addresses down (interp/page/plan_draw.c). */
void page_plan_draw(FILE *f, const assay_graph *g, const assay_plan *p);

/* Replaces the scratch memory, which lies after all values. */
void run_plan_set_scratch(assay_plan *p, size_t bytes);

enum assay_engine {
    ASSAY_ENGINE_REF,  /* the reference kernels */
    ASSAY_ENGINE_FAST, /* the same bits faster (interp/fast), the reference where it must */
    ASSAY_ENGINE_BOTH  /* each node by both; a run ends at the first element that differs */
};

#define ASSAY_MAX_THREADS 1024

typedef struct assay_program_options {
    bool keep_all; /* every value keeps its own place (bundles, profiling) */
    enum assay_engine engine;
    /* Within a node, for the fast engine: less than 1 counts as 1, more than ASSAY_MAX_THREADS as
     * that many. */
    int threads;
    /* Only the network's inputs and outputs will be looked at: the engine may store what is between
     * them as it likes, and a run takes no observer that reads values and no accumulators. */
    bool outputs_only;
    const char *isa; /* "portable", "avx2", "vnni"; NULL: ASSAY_ISA, else the best available */
} assay_program_options;

struct assay_fast;

typedef struct assay_program {
    const assay_graph *graph;   /* borrowed */
    const assay_scheme *scheme; /* borrowed; NULL when the graph is all float */
    bool in_turn;               /* assay_scheme_floats_in_turn */
    assay_plan *plan;
    assay_kernel *kernel; /* by node */
    assay_unit **unit;    /* by node, NULL where none */
    enum assay_engine engine;
    bool keep_all, outputs_only; /* as in the options */
    struct assay_fast **fast;    /* by node, NULL where the reference kernel runs */
    struct assay_program **body; /* by subgraph; NULL when there are none */
} assay_program;

/* Verifies the graph, chooses a kernel for every node and prepares the units. Everything that is
 * not supported is listed in one error, one line per node. */
assay_status assay_program_make(const assay_graph *g, const assay_scheme *s, bool keep_all,
                                assay_program **out, assay_error *err);
/* The same with an engine; the above is the reference's. */
assay_status run_program_make_with(const assay_graph *g, const assay_scheme *s,
                                   const assay_program_options *options, assay_program **out,
                                   assay_error *err);
void assay_program_free(assay_program *p);

/* The scheme that computes a node: the program's, or that of conversions of small floats; NULL for
 * floats without one. */
const assay_scheme *run_scheme_of(const assay_program *p, int node);
static inline const assay_scheme_vtable *run_vtable_of(const assay_program *p, int node)
{
    const assay_scheme *s = run_scheme_of(p, node);
    return s ? s->vt : NULL;
}

/* "ref", "fast", "both"; false when `name` is none of them. */
bool run_engine_find(const char *name, enum assay_engine *engine);

typedef struct assay_run assay_run; /* one arena, one thread at a time; keeps variables' state */
assay_status assay_run_new(const assay_program *p, assay_run **out, assay_error *err);
void assay_run_free(assay_run *r);
void assay_run_reset(assay_run *r); /* resets variables to their initial state */

/* Memory of a value in this run (inputs are written here, outputs read; constants read-only). NULL
 * for unused values, and for those that a program without keep_all does not keep. */
void *assay_run_data(assay_run *r, int value);
/* The same for any value, for observers: without keep_all it is there from the node that makes it
 * to the last one that uses it. */
void *run_value(assay_run *r, int value);

/* Called after each node with its outputs in place. accumulators is NULL unless asked for, and for
 * nodes without: the others are conv, conv_transpose, fc, matmul, average pools, mean and sum. */
typedef assay_status (*assay_observer)(void *user, assay_run *r, int node,
                                       const int64_t *accumulators, assay_error *err);
/* Runs all nodes. observe may be NULL; a failure of its own ends the run with that status. */
assay_status run_execute(assay_run *r, assay_observer observe, bool want_accumulators, void *user,
                         assay_error *err);
/* Runs those of the first n nodes for which needed[node] holds: every node that makes an operand of
 * one of them must be among them. run_value has what the last of them made. */
assay_status run_execute_some(assay_run *r, const bool *needed, int n, assay_error *err);
/* assay_replay_node whose kernel tells the steps of an element to `teller`, if it is not NULL
 * (replay.c). */
assay_status run_replay_told(const assay_program *p, int node, const void *const *in,
                             void *const *out, int64_t *accumulators,
                             const struct assay_teller *teller, assay_error *err);
/* What stopped a node that was computed: a sum beyond its range, a sum or a code that the scheme
 * refuses to rescale; else ASSAY_OK. */
assay_status run_check_call(const assay_program *p, const assay_call *call, assay_error *err);

#endif
