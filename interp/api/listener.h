/* Rows asked of a device, reported as progress. */
#ifndef ASSAY_INTERP_API_LISTENER_H
#define ASSAY_INTERP_API_LISTENER_H

#include "interp/assay_tools.h"
#include "interp/infer/infer.h"

typedef struct assay_row_listener {
    assay_progress progress;
    void *user;
    size_t budget;
} assay_row_listener;

/* Makes the inference report to `progress` (NULL: none), by way of *l, which it borrows. */
void assay_listen_to_rows(assay_row_listener *l, assay_progress progress, void *user,
                          infer_options *o);

#endif
