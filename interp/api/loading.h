/* Shapes, constants and state of a model's inputs, as a caller gives them; for the library and the
 * command. */
#ifndef ASSAY_INTERP_API_LOADING_H
#define ASSAY_INTERP_API_LOADING_H

#include "interp/api/fixed.h"
#include "interp/assay_tools.h"
#include "interp/run/model.h"

typedef struct assay_loading {
    assay_model_options model; /* borrows from this */
    const assay_load_options *given;
    assay_onnx_shape *shape;
    char **name; /* of them */
    assay_fixed fixed;
    bool used; /* the options' sample: the shapes follow from it */
} assay_loading;

/* Reads the options' texts; *l stays where it is while the model is loaded. ASSAY_ERR_INPUT: one
 * that is malformed. assay_loading_free either way. */
assay_status assay_loading_take(const assay_load_options *given, assay_loading *l,
                                assay_error *err);
/* Of the network that was loaded so from `file`: does it have the inputs that shapes are given for?
 * Links its state. */
assay_status assay_loading_end(const assay_loading *l, const char *file, assay_graph *g,
                               assay_error *err);
void assay_loading_free(assay_loading *l);

#endif
