/* The device behind the row protocol: `/bin/sh -c 'CMD IN_DIR OUT_DIR'`. */
#ifndef ASSAY_INTERP_INFER_ORACLE_H
#define ASSAY_INTERP_INFER_ORACLE_H

#include "interp/infer/infer.h"
#include "interp/infer/rows.h"

typedef struct infer_oracle {
    const infer_options *o;
    char folder[200]; /* its own, removed when it is closed; "" when closed */
    int calls;
} infer_oracle;

assay_status infer_oracle_open(infer_oracle *d, const infer_options *o, assay_error *err);
/* One call for n > 0 rows, all bounded or none; fills their answers. */
assay_status infer_oracle_ask(infer_oracle *d, infer_row *row, size_t n, assay_error *err);
void infer_oracle_close(infer_oracle *d);

#endif
