/* One folder of probes, as probe.h lists what is in it. */
#ifndef ASSAY_INTERP_PROBE_FOLDER_H
#define ASSAY_INTERP_PROBE_FOLDER_H

#include <jansson.h>

#include "interp/probe/makers.h"
#include "interp/probe/probe.h"
#include "schemes/scheme.h"

typedef struct probe_folder {
    const char *dir; /* while it is filled: a partial one */
    const probe_types *types;
    uint64_t seed;
    const char *among;          /* borrowed; NULL: the shipped ones */
    const assay_scheme *scheme; /* borrowed: whose bits are asked for; NULL: the types' own */
    bool text, onnx, tflite;    /* forms; none set: all */
    probe_told *told;
    void *user;
    json_t **networks;
} probe_folder;

/* A network of `op`: what the device is to run (no outputs: nothing), and what its bundle holds. */
assay_status probe_folder_add(const probe_folder *w, const char *op, const probe_net *asked,
                              const probe_net *whole, assay_error *err);

/* A folder in that of a network. */
assay_status probe_folder_make(const probe_folder *w, const char *op, const char *name,
                               assay_error *err);

/* probe.json of a folder; NULL: there is none that can be read. A new reference. */
json_t *probe_folder_index(const char *dir);

typedef assay_status probe_filler(probe_folder *w, void *user, assay_error *err);
/* DIR with what `fill` adds and probe.json, whole or absent; it must not exist. */
assay_status probe_folder_write(probe_folder *w, const char *dir, probe_filler *fill, void *user,
                                assay_error *err);

#endif
