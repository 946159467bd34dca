/* Driver of the import, from a model to a graph. */
#ifndef ASSAY_GRAPH_TFLITE_IMPORT_H
#define ASSAY_GRAPH_TFLITE_IMPORT_H

#include "graph/tflite/op/op.h"

/* The inputs of the subgraph at hand, named after the model's signature, and its outputs. */
assay_status tfl_add_inputs(tfl_import *m, flat_table model, flat_vector list);
assay_status tfl_add_outputs(tfl_import *m, flat_vector list);
/* The subgraph at which a run begins: that of the signature named `entry`, or the first. */
assay_status tfl_find_entry(tfl_import *m, flat_table model, const char *entry);

/* One import; `inferred`: of shapes, only the inputs' are the file's. *placeholders: some of its
 * shapes may be none. */
assay_status tfl_import_once(const char *name, const char *entry, const void *bytes, size_t size,
                             const assay_tflite_options *options, bool inferred, bool *placeholders,
                             assay_graph **out, assay_error *err);

#endif
