/* The device behind the row protocol: `/bin/sh -c 'CMD IN_DIR OUT_DIR'`. */
#ifndef ASSAY_INTERP_INFER_ORACLE_H
#define ASSAY_INTERP_INFER_ORACLE_H

#include "graph/files/temporary.h"
#include "graph/text/npy.h"
#include "interp/infer/infer.h"
#include "interp/infer/rows.h"

typedef struct infer_oracle {
    const infer_options *o;
    char folder[FILE_TEMPORARY]; /* its own, removed when it is closed; "" when closed */
    int calls;
} infer_oracle;

assay_status infer_oracle_open(infer_oracle *d, const infer_options *o, assay_error *err);
/* One call for n > 0 rows, all of them bounded or none; fills in their answers. */
assay_status infer_oracle_ask(infer_oracle *d, infer_row *row, size_t n, assay_error *err);
void infer_oracle_close(infer_oracle *d);

/* ---- rows of other kinds ---- */

typedef assay_status infer_oracle_write(infer_oracle *d, const char *folder, const void *what,
                                        assay_error *err);
typedef assay_status infer_oracle_read(infer_oracle *d, const char *folder, void *what,
                                       assay_error *err);
/* One call: `put` fills the folder of rows, `take` reads the folder of answers. */
assay_status infer_oracle_exchange(infer_oracle *d, infer_oracle_write *put,
                                   infer_oracle_read *take, void *what, assay_error *err);
/* Reads an array of n answers, of any type; text_npy_free(a) frees it, whatever is returned. */
assay_status infer_oracle_array(const infer_oracle *d, const char *path, size_t n, assay_npy *a,
                                assay_error *err);

#endif
