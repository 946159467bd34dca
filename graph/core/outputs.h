/* Names of an output that is computed as codes: here the codes have the network's name for it and
 * their floats, which are the output, another; in files of other tools it is the other way round,
 * so that who runs the file asks for the output by the name that the network gave it.
 *
 *            codes    their floats, the output
 *   here     X        X:f32
 *   files    X:codes  X
 *
 * The floats may be in another layout (a transpose follows), a suffix is repeated where the name is
 * another value's, and codes that are an input or an output themselves keep their name. */
#ifndef ASSAY_GRAPH_OUTPUTS_H
#define ASSAY_GRAPH_OUTPUTS_H

#include "graph/core/graph.h"

#define ASSAY_OUTPUT_FLOATS ":f32"
#define ASSAY_OUTPUT_CODES  ":codes"

/* Whether some output of g has another name in files. */
bool assay_outputs_differ(const assay_graph *g);
/* From the names here to those in files. */
assay_status assay_outputs_for_file(assay_graph *g, assay_error *err);
/* And back. Names of files that were not written so stay. */
assay_status assay_outputs_from_file(assay_graph *g, assay_error *err);

#endif
