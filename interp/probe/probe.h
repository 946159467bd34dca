/* Probes: small networks whose outputs reveal a device's arithmetic, op by op; and what its answers
 * say about it.
 *
 *   DIR/probe.json               the networks, their inputs, and what each output asks
 *   DIR/OP/OP.assay, .onnx, .tflite    a network of that op, in the forms that can hold it
 *   DIR/OP/inputs/NAME.npy       what the device is to be given
 *   DIR/OP/answered/NAME.npy     of a next probe: what was answered to those before it
 *   DIR/OP/golden/               the same as a golden bundle, under a scheme that is named there
 *
 * It is written beside DIR and moved there (graph/files/partial.h): whole or absent. */
#ifndef ASSAY_INTERP_PROBE_H
#define ASSAY_INTERP_PROBE_H

#include <stdio.h>

#include <jansson.h>

#include "graph/base.h"

/* ---- questions (write.c) ---- */

typedef struct probe_options {
    const char *types; /* "s8s8": of activations and weights; net.h's probe_types_find knows them */
    const char *ops;   /* names of networks.def separated by commas; NULL or "all": all */
    const char *scheme; /* whose bits the bundles hold; NULL: one for the types */
    const char *among;  /* schemes to consider when answers are read, separated by commas; NULL: the
                           shipped ones */
    uint64_t seed;
    bool text, onnx, tflite; /* formats of the networks; none set: all */
} probe_options;

/* Called for each network: the forms that cannot hold it ("": all can), and the scheme whose bits
 * its bundle has. */
typedef void probe_told(void *user, const char *op, const char *missing, const char *scheme);

/* ASSAY_ERR_INPUT: unknown types or op, or DIR exists. */
assay_status probe_write(const char *dir, const probe_options *o, probe_told *told, void *user,
                         assay_error *err);

/* What probe_write was given as `among`; *list: NULL if nothing, to be freed. */
assay_status probe_among(const char *dir, char **list, assay_error *err);

/* ---- answers (find.c) ---- */

typedef struct probe_findings probe_findings;

typedef struct probe_ask {
    const char *const
        *among; /* schemes in addition to the shipped ones, by name or file; may be NULL */
    int n_among;
    bool only_among; /* without the shipped ones */
    int hex_bits;    /* of .hex dumps (assay diff) */
} probe_ask;

/* What a device's dumps reveal about its arithmetic. `dir` is what probe_write made, and DEVICE
 * holds a folder OP of dumps for each network that was run; or `dir` is any golden bundle and
 * DEVICE its dumps. ASSAY_ERR_INPUT: no answer at all, or dumps that are none of the network's.
 * Free with probe_findings_free, also on failure. */
assay_status probe_find(const char *dir, const char *device, const probe_ask *ask,
                        probe_findings **out, assay_error *err);
void probe_findings_free(probe_findings *f);

/* What is said of an op of which several records are left: how many, how many kinds of answers the
 * nodes that ask next have, and what those nodes are; none: nothing that was tried distinguishes
 * them. */
typedef struct probe_next_said {
    const char *op;
    int records, classes, nodes;
    int64_t elements, tried;
} probe_next_said;
typedef void probe_next_told(void *user, const probe_next_said *said);

/* DIR2, as probe_write makes it: the fewest nodes that distinguish the rest of each op, and in
 * OP/answered what was answered before, so that probe_find of DIR2 and the answers to it goes by
 * all. *asked: nodes; 0: nothing that was tried distinguishes the rest, and DIR2 is not made. `dir`
 * and `device` as of probe_find, which gave `found`. ASSAY_ERR_INPUT: dir is no folder of probes.
 */
assay_status probe_next(const char *dir, const char *device, const probe_ask *ask,
                        const probe_findings *found, const char *dir2, probe_next_told *told,
                        void *user, int *asked, assay_error *err);

/* What probe_next would refuse about these two folders: checked before probe_find, which takes
 * long. ASSAY_ERR_INPUT: dir is no folder of probes; ASSAY_ERR_IO: dir2 cannot be made. */
assay_status probe_next_check(const char *dir, const char *dir2, assay_error *err);

/* The same as probe_next, and what it says in lines. */
assay_status probe_next_print(FILE *f, const char *dir, const char *device, const probe_ask *ask,
                              const probe_findings *found, const char *dir2, assay_error *err);

/* Whether for each op that was answered some record gives all of it. */
bool probe_is_explained(const probe_findings *f);
void probe_print_report(FILE *f, const probe_findings *found, const char *path);
/* A scheme file: the preset that explains most, and for each op what differs. */
void probe_print_scheme(FILE *f, const probe_findings *found);
/* For programs: a new reference, NULL when out of memory; and as a file. */
json_t *probe_json(const probe_findings *found, const char *path);
assay_status probe_write_json(const char *file, const probe_findings *found, const char *path,
                              assay_error *err);

#endif
