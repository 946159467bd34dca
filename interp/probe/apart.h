/* Schemes distinguished by networks of one op: a small node on which each pair gives different
 * codes, with what each gives.
 *
 *   DIR/networks/                    a folder of probes (probe.h) of these nodes alone
 *   DIR/expected/SCHEME/OP/NAME.npy  what a device of that scheme answers */
#ifndef ASSAY_INTERP_PROBE_APART_H
#define ASSAY_INTERP_PROBE_APART_H

#include "interp/probe/next.h"

#define PROBE_APART_FIELDS 8

enum probe_apart_verdict {
    PROBE_APART_SAME,  /* the op reads nothing in which the two records differ */
    PROBE_APART_TOLD,  /* by a node */
    PROBE_APART_ALIKE, /* on all nodes that were tried; `fields` may distinguish them on others */
    PROBE_APART_NONE   /* no node was computed by both: why says it */
};

typedef struct probe_apart_pair {
    enum probe_apart_verdict verdict;
    int node;         /* that tells them */
    int64_t compared; /* elements that both computed, if no node distinguishes them */
    const assay_field *field[PROBE_APART_FIELDS]; /* that the op reads, in which they differ */
    int n_fields;                                 /* may be above PROBE_APART_FIELDS */
    char why[256];
} probe_apart_pair;

typedef struct probe_apart {
    enum assay_op op;
    unsigned variant;             /* enum assay_variant */
    const probe_network *network; /* NULL: there is none of the op */
    assay_elem type;              /* of activations */
    uint64_t seed;
    const assay_scheme *const *scheme; /* borrowed */
    const probe_types *types;          /* of the nodes; NULL: none yet */
    probe_questions *found;            /* of one node each: node i of all */
    int n, room;
} probe_apart;

/* Schemes with records. Close it with probe_apart_close. */
void probe_apart_open(probe_apart *x, const assay_scheme *const *scheme, enum assay_op op,
                      bool wide, assay_elem type, uint64_t seed);
/* Two of them: by an existing node or by one that is added. ASSAY_ERR_MEMORY alone. */
assay_status probe_apart_try(probe_apart *x, size_t a, size_t b, probe_apart_pair *out,
                             assay_error *err);
void probe_apart_close(probe_apart *x);

/* The name of a node in the folder. */
const char *probe_apart_name(int node, char text[16]);
/* Adds both folders to the existing DIR, with the answers of the first n schemes. */
assay_status probe_apart_write(const probe_apart *x, const char *dir, size_t n, assay_error *err);
/* What a node as it is filled gives, to be freed; *out NULL: it is refused. ASSAY_ERR_MEMORY
 * alone. */
assay_status probe_case_run(const blame_case *c, void **out, assay_error *err);
/* Whether both are present and differ. */
bool probe_case_differ(const assay_type *type, const void *a, const void *b);
/* Leaves out channels of a weighted node's input as long as the two records still differ on it. */
assay_status probe_fewer_channels(const assay_record record[2], blame_case *node, assay_error *err);
/* What scheme s gives for a node, to be freed; *out NULL: it refuses it. */
assay_status probe_apart_run(const probe_apart *x, size_t s, int node, void **out,
                             assay_error *err);

#endif
