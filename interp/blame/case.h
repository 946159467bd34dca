/* One node with one sample's inputs, every part of which can be changed: what hypotheses edit. It
 * runs as a network of one node by the ordinary engines, so that what is computed of an edited node
 * is what a target with that edit computes. */
#ifndef ASSAY_INTERP_BLAME_CASE_H
#define ASSAY_INTERP_BLAME_CASE_H

#include "interp/kernel/window.h"
#include "interp/run/program.h"
#include "schemes/record/data.h"

#define BLAME_IN 8 /* inputs of a node that can be edited; variadic ops have no more here */

/* What of the output of a windowed op is computed along a spatial axis: cells [first, end), from
 * the input's cells [in_first, in_end) alone (in_end 0: from all); beyond those is padding. */
typedef struct blame_rows {
    int axis; /* spatial; 0 the first */
    int64_t first, end, in_first, in_end;
} blame_rows;

typedef struct blame_case {
    assay_arena *arena; /* of what edits make; the owner's */
    const assay_scheme *scheme;
    const char *name;
    const char *in_name[BLAME_IN], *out_name; /* NULL: made up */
    assay_op op;
    assay_attrs attr;
    float act_lo, act_hi;
    bool has_code_bounds;
    int32_t code_lo, code_hi;
    int n_in;
    assay_type in[BLAME_IN]; /* kind NONE where absent */
    const void *data[BLAME_IN];
    bool constant[BLAME_IN];
    assay_type out;
    bool has_record; /* else the scheme as it is */
    assay_record record;
    /* Of ops with several rescales (scale[] of a unit): this one alone has the roundings `single`.
     */
    bool has_single;
    int single_scale;
    assay_rule_rescale single;
    /* NULL, or for each channel of a weighted op how much of its multiplier is there: the shift
     * stays, and what is left of the multiplier is not written anew as the encoding would have it.
     */
    const double *factor;
    int64_t n_factors;
    bool has_zero; /* of the output: a zero point outside its type */
    int32_t zero;
    bool has_last; /* of softmax: how its last step rounds */
    enum assay_rounding last;
    bool keep_all; /* built so that bundles can be made of its runs */
    bool plain;    /* built for the reference kernels: faster for small runs */
} blame_case;

/* Whether a node can be a case: no state, at most BLAME_IN inputs, one output. */
bool blame_case_can(const assay_node *n);
/* The node unedited; in[i] as for assay_replay_node. Types and constants are the graph's. */
void blame_case_fill(blame_case *c, const assay_graph *g, const assay_node *n,
                     const assay_scheme *scheme, const void *const *in, assay_arena *arena);
/* The record in force for the node; false where the scheme has none. */
bool blame_case_record(const blame_case *c, assay_record *r);

/* The case as a network of one node, ready to run. c->plain: by the reference kernels. */
typedef struct blame_built {
    assay_graph *graph;
    assay_scheme *scheme; /* of the record; NULL: the case's own */
    assay_program *program;
} blame_built;
assay_status blame_case_build(const blame_case *c, blame_built *b, assay_error *err);
void blame_case_drop(blame_built *b);

/* Runs it: out has room for the elements of c->out. sums may be NULL; otherwise one int64 per
 * element. A status other than OK: the node cannot be as it was edited. */
assay_status blame_case_run(const blame_case *c, void *out, int64_t *sums, assay_error *err);

/* ---- cut.c ---- */
/* Ops that slide a window over rows: what `rows` is for. Fills *w. */
bool blame_case_window(const blame_case *c, assay_window *w);
/* Narrows a case to some rows of its output along n axes; also brings a window's attributes into
 * agreement with the output's shape where an edit (of a stride, of padding) put them at odds: what
 * lies beyond the input is padding. Only windowed ops. False: out of memory, or nothing of the
 * input is left. */
bool blame_case_narrow(blame_case *c, const blame_rows *rows, int n);

/* The part of an output that is kept: elements [first, end) along each axis. */
typedef struct blame_cut {
    int64_t first[ASSAY_MAX_RANK], end[ASSAY_MAX_RANK];
} blame_cut;
/* Axes of the output along which a case can be cut, a bit each. */
unsigned blame_case_axes(const blame_case *c);
/* Cuts the case to what computes that part of the output. False: out of memory, or nothing of an
 * input is left. */
bool blame_case_cut(blame_case *c, const blame_cut *cut);
/* Elements [first, first + n) of an axis of a tensor, in the arena; NULL: out of memory. */
const void *blame_slice(assay_arena *arena, const assay_type *t, const void *data, int axis,
                        int64_t first, int64_t n);

/* The codes of sums of a weighted node, as its unit gives them; for cases whose edits leave the
 * sums alone. */
assay_status blame_case_requantize(const blame_case *c, const int64_t *sums, void *out,
                                   assay_error *err);
#endif
