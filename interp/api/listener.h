/* Rows asked of a device, told as progress. */
#ifndef ASSAY_INTERP_API_LISTENER_H
#define ASSAY_INTERP_API_LISTENER_H

#include "interp/assay_tools.h"
#include "interp/infer/infer.h"

typedef struct assay_row_listener {
    assay_progress progress; /* NULL: nobody listens */
    void *user;
    size_t budget;
} assay_row_listener;

/* Makes the inference tell it; borrowed while that runs. */
void assay_listen_to_rows(assay_row_listener *listener, infer_options *o);

#endif
