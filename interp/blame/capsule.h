/* A faulty node as a network of its own: a folder that shows the fault and can be handed on.
 *
 *   DIR/golden/      a golden bundle of the one node, its inputs the device's own
 *   DIR/device/      the device's tensors of the same part (.npy)
 *   DIR/node.assay, DIR/node.onnx, DIR/node.tflite    the network, in the forms that can hold it
 *   DIR/README.md    what it shows and the command that shows it
 *
 * It is written beside DIR and moved there (graph/files/partial.h): whole or absent. */
#ifndef ASSAY_INTERP_BLAME_CAPSULE_H
#define ASSAY_INTERP_BLAME_CAPSULE_H

#include "interp/blame/blame.h"

typedef struct blame_capsule {
    int row;
    blame_cut cut; /* the part of the output in it */
    int samples;
    int tries; /* cuts that were tried */
    int64_t elements, differing;
    char class[BLAME_CLASS]; /* what blame says of it */
    char missing[256];       /* forms that cannot hold it, in words; "": none */
} blame_capsule;

/* The smallest cut around an element that differs of which blame still says the row's class (any
 * class, where that is `unexplained`). ASSAY_ERR_INPUT: the row has no fault of its own; DIR
 * already exists. */
assay_status blame_capsule_write(const blame_report *r, int row, const char *dir,
                                 blame_capsule *out, assay_error *err);
/* What it shows and the command that shows it, in lines; as {"node", "class", "first", "end",
 * "elements", "differing", "samples", "missing"}: a new reference. */
void blame_capsule_print(const blame_report *r, const blame_capsule *c, const char *dir, FILE *f);
json_t *blame_capsule_json(const blame_report *r, const blame_capsule *c);
#endif
