/* Both sides of a blame: a golden bundle with its network ready to be replayed, and what a device
 * gave for each of its values, in the bundle's types and layout. */
#ifndef ASSAY_INTERP_BLAME_DEVICE_H
#define ASSAY_INTERP_BLAME_DEVICE_H

#include "interp/golden/bundle.h"
#include "interp/golden/numbers.h"
#include "interp/run/program.h"

/* One value in one sample; all in native storage. */
typedef struct blame_tensor {
    void *golden;
    void *device;        /* NULL: not dumped */
    bool shapeless;      /* its dump, bytes or hex, says no shape */
    uint8_t *mask;       /* an entry per element, 0: not observed; NULL: all are */
    bool mask_shapeless; /* the mask's dump says none: its order is that of the tensor's dump */
    void *replayed;      /* the result of its node for the assumed inputs */
    void *believed;      /* the device's where it was observed, else replayed: what consumers are
                            replayed from; borrowed, or `merged` */
    void *merged;
    /* Of a tensor at fault that was observed in part: what its cause makes of it, which is believed
     * where it was not observed; or, where there is no such cause, that nobody knows. */
    void *caused;
    bool unknown;
    /* Of a node whose output was not dumped, but what it adds up before its rescale: the device's
     * (NULL: neither was), the golden one and the replay's. */
    int64_t *sums, *golden_sums, *replayed_sums;
    /* The device's, dumped beside its output: compared, and no more. */
    int64_t *beside;
    /* Of float sums, where floats need not be to the bit (floats.h): how far another order of them
     * may be from the replay's. */
    float *slack;
} blame_tensor;

typedef struct blame_device {
    assay_bundle *bundle;
    assay_graph *graph;
    assay_scheme *scheme; /* NULL for a float run */
    assay_program *program;
    bool sequence; /* samples are steps: the network's state goes on between them */
    int *index;    /* by value: the manifest's index, -1: it has none */
    int n_samples;
    int64_t *number;      /* by sample: its number in the bundle */
    blame_tensor *tensor; /* [sample][value] */
    int64_t dumped;       /* how many tensors were found */
    json_t *extra;        /* names of files that belong to no tensor (interp/golden/extra.h) */
    json_t *unread;       /* and of those of tensors that were not read */
    json_t *numbers;      /* constants and parameters that differ (interp/golden/numbers.h) */
    void **constant;      /* by value: a constant that differs; NULL: the same, or not dumped */
} blame_device;

static inline blame_tensor *blame_at(const blame_device *d, int sample, int value)
{
    return &d->tensor[(size_t)sample * (size_t)d->graph->n_values + (size_t)value];
}

/* Opens both and reads every tensor. ASSAY_ERR_INPUT: a dump of another shape or type than the
 * golden tensor, nothing in common, NaN where the golden has none; the tensor is named. device
 * NULL: the golden side alone. */
assay_status blame_device_open(const char *golden, const char *device, unsigned hex_bits,
                               int threads, blame_device *out, assay_error *err);
/* dumped.c: fills numbers and constant; `other` is the device's bundle, or NULL: dumps. */
assay_status blame_device_numbers(blame_device *d, const assay_bundle *other,
                                  const assay_dumps *dumps, assay_error *err);
/* What the device gave at another time: of values that were not dumped yet, from a folder of dumps.
 * On failure d is closed. */
assay_status blame_device_add(blame_device *d, const char *folder, assay_error *err);
/* Without a replay: every value is assumed to be the golden one. */
void blame_device_trust(blame_device *d);
void blame_device_close(blame_device *d);
/* Fills replayed and believed of every value, node by node, again if already filled.
 * step (may be NULL) is called after each node. */
assay_status blame_device_replay(blame_device *d, void (*step)(void *), void *user,
                                 assay_error *err);
/* Whether a value was observed in some sample, or the accumulators that it is made of. */
bool blame_is_dumped(const blame_device *d, int value);
/* Whether a value is judged by its accumulators: no output of it was dumped, or only of samples
 * that are right, and the accumulators of another are wrong. After the replay. */
bool blame_is_on_sums(const blame_device *d, int value, double rel);
/* Adds to d->numbers the accumulators of a value that were dumped beside its output and are not the
 * replay's. */
assay_status blame_sums_note(blame_device *d, int value, assay_error *err);

#endif
