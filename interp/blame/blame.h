/* Blame: the nodes of a device that are themselves at fault, and the causes. */
#ifndef ASSAY_INTERP_BLAME_BLAME_H
#define ASSAY_INTERP_BLAME_BLAME_H

#include <stdio.h>

#include <jansson.h>

#include "interp/blame/search.h"

enum blame_verdict {
    BLAME_CLEAN,     /* equals the golden tensor, or the replay of equal inputs */
    BLAME_INHERITED, /* it differs, but only because its inputs do */
    BLAME_OWN,       /* differs from a replay on the device's own inputs */
    BLAME_NOT_DUMPED,
    BLAME_SUSPECT /* lies in a region between dumps that differs as a whole */
};
const char *blame_verdict_name(enum blame_verdict v);

typedef struct blame_row {
    int node;  /* of the graph */
    int value; /* its first output */
    enum blame_verdict verdict;
    int64_t elements;             /* that were dumped */
    int64_t cumulative, isolated; /* how many differ from golden; from the replay */
    double lsb, sqnr;             /* against golden: greatest difference of codes, dB */
    double lsb_isolated, sqnr_isolated;
    bool on_sums; /* accumulators were dumped instead of codes: they are counted */
    bool cut;     /* the search for two causes, after that many hypotheses */
    int64_t tried;
    int region; /* of suspects: the row whose output was dumped; -1: none */
} blame_row;

#define BLAME_WORDS 960 /* of a cause: where it is a scheme, every name there is has room */

/* One cause. */
typedef struct blame_fault {
    int row;
    char class[BLAME_CLASS];
    char classes[BLAME_CLASSES][BLAME_CLASS]; /* full explanations, simplest first */
    int n_classes;
    char detail[BLAME_WORDS];
    char apart[3][280]; /* what would distinguish it from other full explanations, in words */
    int n_apart;
    int64_t elements, differing;
    int64_t left_out; /* elements of samples without a fault: the cause is of the others alone */
    char where[64];   /* those others, in words */
    double explained; /* share of the elements that were dumped */
    char common[240]; /* where the elements that differ lie, if that is telling */
    char sample[160]; /* one element that differs, in words */
    /* The hypothesis, and before it those that are taken as given. */
    struct blame_cause {
        const blame_family *family;
        int i;
    } cause[BLAME_PREFIX + 1];
    int n_causes;
    char (*scheme)[64]; /* schemes that explain it entirely */
    int n_schemes;
} blame_fault;

enum { BLAME_WORK = 10 }; /* the usual one */

typedef struct blame_options {
    unsigned hex_bits;
    int threads;
    double rel;                 /* relative difference allowed between floats; below 0: none */
    const char *const *schemes; /* tried in addition to the shipped ones */
    int n_schemes;
    double work;      /* that two causes of a node may take, in 10^9 steps (budget.h) */
    const char *only; /* a node's (or its output's) name: no other one's cause is sought */
    void (*step)(void *user, int done, int of);
    void *user;
} blame_options;

typedef struct blame_report {
    const char *golden, *path; /* as the caller named them, borrowed. path NULL: no device */
    blame_device device;
    blame_row *row; /* by node */
    blame_fault *fault;
    int n_faults;
    blame_schemes schemes; /* that were tried */
    int64_t work;          /* left for the searches for two causes (budget.h) */
    double rel;
} blame_report;

/* ASSAY_OK whether or not there is a fault. device NULL: the golden side alone, where nothing is
 * replayed and none is at fault. *out is to be freed by blame_free. */
assay_status blame_run(const char *golden, const char *device, const blame_options *o,
                       blame_report **out, assay_error *err);
void blame_free(blame_report *r);

/* The row of a node by its name or its first output's, followed by an element in brackets or
 * without; -1: there is none. */
int blame_find_row(const blame_report *r, const char *name);

/* judge.c: verdicts of all rows, after each replay. */
assay_status blame_judge(blame_report *r, double rel, assay_error *err);

/* common.c: where the elements lie that differ from what s replays: "; they lie at ...", or nothing
 * where they are everywhere. */
void blame_say_common(const blame_search *s, char *text, size_t size);

/* Its detail; where one before it says the same schemes, which (report.c). */
const char *blame_say_detail(const blame_report *r, const blame_fault *f, char *text, size_t size);
/* For a report without faults: says so, and for how many nodes this is known. */
void blame_say_clean(const blame_report *r, FILE *f);
void blame_print(const blame_report *r, FILE *f);
/* A new reference, NULL when out of memory; and as a file, "-": standard output. */
json_t *blame_json(const blame_report *r);
assay_status blame_write_json(const blame_report *r, const char *path, assay_error *err);
#endif
