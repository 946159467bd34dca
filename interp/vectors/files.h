/* Suites of rows on disk. */
#ifndef ASSAY_INTERP_VECTORS_FILES_H
#define ASSAY_INTERP_VECTORS_FILES_H

#include <jansson.h>

#include "interp/vectors/sides.h"

/* Writes the rows as columns (.npy, .hex, .h), the codes of the first `outs` sides, errors, and
 * vectors.json into a new folder; the nodes of x as apart.h says. */
assay_status vectors_write(const char *dir, const vectors_suite *s, const vectors_sides *sides,
                           size_t outs, const probe_apart *x, assay_error *err);
/* The content of vectors.json: the question, and each case's verdict. The caller's; NULL: no
 * memory. */
json_t *vectors_json(const vectors_suite *s, const vectors_sides *sides);
/* Rows and expected codes (ASSAY_REFUSED where errors say so) of a folder of .npy columns, or of a
 * .csv file whose first line names them; space->scales says which are needed. *expected is to be
 * freed, also on failure. */
assay_status vectors_read(const char *path, const vectors_space *space, vectors_rows *rows,
                          int64_t **expected, assay_error *err);

#endif
