/* A network and a device's dumps of it as a golden bundle, for code that reads bundles. */
#ifndef ASSAY_INTERP_API_CAPTURE_H
#define ASSAY_INTERP_API_CAPTURE_H

#include "graph/files/temporary.h"
#include "interp/assay_arithmetic.h"

typedef struct assay_capture {
    const char *model, *dumps;
    const char *const *schemes; /* to try before the shipped ones */
    int n_schemes;
    /* Samples of the network's inputs: how many (0: they are dumped), and input i of one. NULL:
     * they are dumped. */
    assay_status (*open)(void *user, const assay_graph *g, int64_t *samples, assay_error *err);
    assay_status (*read)(void *user, const assay_graph *g, int64_t sample, int i, void *to,
                         assay_error *err);
    void *user;
    char dir[FILE_TEMPORARY], golden[216]; /* out: a temporary folder, and the bundle in it */
} assay_capture;

/* assay_capture_end whatever the status. ASSAY_ERR_INPUT: the network is float; an input was not
 * dumped. */
assay_status assay_capture_make(assay_capture *c, assay_error *err);
void assay_capture_end(assay_capture *c);

#endif
