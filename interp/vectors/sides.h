/* Schemes, or a scheme and its mutants, as sides of a suite; and what distinguishes each pair. */
#ifndef ASSAY_INTERP_VECTORS_SIDES_H
#define ASSAY_INTERP_VECTORS_SIDES_H

#include "interp/probe/apart.h"
#include "interp/vectors/mutants.h"
#include "interp/vectors/suite.h"

/* The first element of a network node's output on which both sides of a case differ. */
typedef struct vectors_element {
    int node; /* of probe_apart; -1: none distinguishes them */
    int64_t i;
    bool is_float;
    double a, b;
} vectors_element;

/* Sides by name: "tflite", or a mutant's parameter and value; and the cases that pair them. */
typedef struct vectors_sides {
    size_t n;
    const assay_scheme **side; /* owned here: the list; [0] and, without mutants, all the schemes */
    char (*name)[224];
    size_t
        n_owned; /* how many of them, from the first on, are freed here; mutants free themselves */
    vectors_mutants mutants;
    vectors_case *cases;
    size_t n_cases;
    vectors_element *told; /* of each case, by a network */
} vectors_sides;

/* The schemes as sides of the space, each two a case; or one with all its mutants, each a case
 * against it. Free what they give, also on failure. */
assay_status vectors_sides_of_schemes(const assay_scheme *const *schemes, size_t n,
                                      const vectors_space *space, vectors_sides *out,
                                      assay_error *err);
assay_status vectors_sides_of_mutants(const assay_scheme *s, const vectors_space *space,
                                      vectors_sides *out, assay_error *err);
/* Schemes as sides without rows, each two a case that is open. */
assay_status vectors_sides_of_ops(const assay_scheme *const *schemes, size_t n, vectors_sides *out,
                                  assay_error *err);
void vectors_sides_free(vectors_sides *s);

/* Cases that no row tells by the whole op: told by a node, the same where the op reads nothing in
 * which they differ, else open, with what was compared; by_rows: rows were asked before. */
assay_status vectors_sides_compare_ops(vectors_sides *s, probe_apart *x, bool by_rows,
                                       assay_error *err);
/* The nodes, and for each case that one tells an element of it. */
void vectors_sides_print_nodes(FILE *f, const vectors_sides *s, const probe_apart *x);

/* Whether mutant `other` exists and is of the same parameter as mutant k. */
bool vectors_sides_is_parameter(const vectors_sides *s, size_t k, size_t other);
/* "rescale.store: wrap, low": mutants k to k + n - 1, of one parameter; numbers that follow each
 * other are a range. */
void vectors_sides_print_values(FILE *f, const vectors_sides *s, size_t k, size_t n);

#endif
