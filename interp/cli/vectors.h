/* Suites of rows on disk, and what `assay scheme vectors` and `assay vectors lint` share. */
#ifndef ASSAY_INTERP_CLI_VECTORS_H
#define ASSAY_INTERP_CLI_VECTORS_H

#include <jansson.h>

#include "interp/cli/cli.h"
#include "interp/probe/apart.h"
#include "interp/vectors/mutants.h"
#include "interp/vectors/suite.h"

/* Sides by name: "tflite", or a mutant's parameter and value; and the cases that pair them. */
typedef struct cli_sides {
    size_t n;
    const assay_scheme **side; /* owned here: the list; [0] and, without mutants, all the schemes */
    char (*name)[224];
    size_t
        n_owned; /* how many of them, from the first on, are freed here; mutants free themselves */
    vectors_mutants mutants;
    vectors_case *cases;
    size_t n_cases;
    int *node; /* of each case: the network node that tells it (probe_apart); -1: none does */
} cli_sides;

/* --op, --wide, --kind, --type and --acc for this scheme; false after a message. */
bool cli_vectors_space(const cli_args *a, const assay_scheme *s, vectors_space *out);
/* The schemes as sides of the space, each two a case; or one with all its mutants, each a case
 * against it. */
assay_status cli_sides_of_schemes(assay_scheme *const *schemes, size_t n,
                                  const vectors_space *space, cli_sides *out, assay_error *err);
assay_status cli_sides_of_mutants(const assay_scheme *s, const vectors_space *space, cli_sides *out,
                                  assay_error *err);
void cli_sides_free(cli_sides *s);

/* Schemes as sides without rows, each two a case that is open. */
assay_status cli_sides_of_ops(assay_scheme *const *schemes, size_t n, cli_sides *out,
                              assay_error *err);
/* Cases that no row tells by the whole op: told by a node, the same where the op reads nothing in
 * which they differ, else open, with what was compared; by_rows: rows were asked before. */
assay_status cli_sides_compare_ops(cli_sides *s, probe_apart *x, bool by_rows, assay_error *err);
/* The nodes, and for each case that one tells an element of it. */
assay_status cli_sides_print_nodes(const cli_sides *s, const probe_apart *x, assay_error *err);

/* Whether mutant `other` is there and of the same parameter as mutant k. */
bool cli_sides_is_parameter(const cli_sides *s, size_t k, size_t other);
/* "rescale.store: wrap, low": mutants k to k + n - 1, of one parameter; numbers that follow each
 * other are a range. */
void cli_sides_print_values(const cli_sides *s, size_t k, size_t n);

/* Writes the rows as columns (.npy, .hex, .h), the codes of the first `outs` sides, errors, and
 * vectors.json into a new folder; the nodes of x (NULL: none; file[i]: how scheme i is opened) as
 * apart.h says. */
assay_status cli_vectors_write(const char *dir, const vectors_suite *s, const cli_sides *sides,
                               size_t outs, const probe_apart *x, const char *const *file,
                               assay_error *err);
/* What vectors.json holds: what was asked, and of each case the verdict. */
json_t *cli_vectors_json(const vectors_suite *s, const cli_sides *sides);
/* Rows and expected codes (ASSAY_REFUSED where errors say so) of a folder of .npy columns, or of a
 * .csv file whose first line names them; space->scales says which are needed. */
assay_status cli_vectors_read(const char *path, const vectors_space *space, vectors_rows *rows,
                              int64_t **expected, assay_error *err);

#endif
