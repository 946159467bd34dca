/* A device's dumps: tensors in files that are found by their names.
 *
 *   NAME.EXT                       one sample, flat
 *   s00003/NAME.EXT                sample 3
 *   tensors/[s00003/]NAME.EXT      laid out like a golden bundle; accumulators/ likewise
 *   s00003/tensors/NAME.EXT        the same; accumulators/, constants/ and parameters/ likewise
 *   constants/NAME.EXT             weights, biases
 *   parameters/NODE.KEY.EXT        a node's integers: multiplier, shift, zero_point, ...
 *
 * NODE is a node's name or, as in a bundle, that of its first output.
 * NAME is a tensor's name or its name in a bundle ("0007_conv_NAME"), with what file systems
 * dislike made '_'. EXT: .npy carries its own type; .hex and .mem are $readmemh text (hex.h); .h is
 * passed over; anything else is raw: the container's little-endian bytes, or, of elements of less
 * than 8 bits, those bits packed without gaps, the first element in the least significant bits of
 * the first byte; a single one of less than 8 bits may have zeros or copies of its sign above. Of
 * several files of one tensor .npy goes before raw, and raw before .hex. */
#ifndef ASSAY_INTERP_GOLDEN_DUMPS_H
#define ASSAY_INTERP_GOLDEN_DUMPS_H

#include "interp/golden/bundle.h"

/* What a dump is of, which the folder that it lies in says. */
enum assay_dump_kind {
    ASSAY_DUMP_TENSOR,
    ASSAY_DUMP_SUMS,
    ASSAY_DUMP_CONSTANT,
    ASSAY_DUMP_PARAMETER
};

typedef struct assay_dump {
    char *path;     /* below the folder */
    int64_t sample; /* -1: the folder holds one sample, which it does not number */
    enum assay_dump_kind kind;
    bool folder;     /* one that has no meaning: nothing of it is read */
    const char *odd; /* why a file is never read; NULL: it may be */
    bool read;       /* by golden_dumps_read */
} assay_dump;

typedef struct assay_dumps {
    char *folder;
    unsigned hex_bits; /* width of a .hex word; 0: as the digits and the count of words say */
    assay_dump *dump;  /* in the order of preference, then of paths */
    int n;
} assay_dumps;

assay_status golden_dumps_open(const char *folder, unsigned hex_bits, assay_dumps *out,
                               assay_error *err);
void golden_dumps_close(assay_dumps *d);

/* The dump of a tensor of `first` (the bundle's first sample, which what is not numbered is) or of
 * its accumulators: its index, or -1. */
int golden_dumps_find(const assay_dumps *d, const assay_bundle_tensor *t, int64_t first, bool sums);

/* The dump of tensor i of the bundle, which no other tensor of its sample fits better: *dump, or
 * -1. ASSAY_ERR_INPUT where two tensors fit it alike. Floats with the name of codes are those of
 * the output that the codes become, where that has no dump of its own. */
assay_status golden_dumps_match(const assay_dumps *d, const assay_bundle *b, int i, int *dump,
                                assay_error *err);

/* How well a dump's name fits a tensor: 4 its name in a bundle, 3 its name, 2 its name with '_' for
 * what file systems dislike, 1 its name in a bundle of other numbers and ops ("0009_conv_NAME") or
 * that of an output's codes in an exported network, 0 not at all. */
int golden_dumps_fit(const assay_dumps *d, int i, const assay_bundle_tensor *t);

/* The dump of a constant, an entry of a manifest, and of an integer list of a node's parameters
 * there: its index, or -1. */
int golden_dumps_constant(const assay_dumps *d, const json_t *entry);
int golden_dumps_parameter(const assay_dumps *d, const json_t *node, const char *key);
/* Whether dump i is one of these. */
bool golden_dumps_is_number(const assay_dumps *d, int i, const assay_bundle *b);

/* Whether a dump is of some tensor of the bundle, or, with `masks`, of the mask of one
 * ("NAME.mask"). */
bool golden_dumps_is_known(const assay_dumps *d, int i, const assay_bundle *b, bool masks);

/* The mask of dump i, which is one of tensor t: the dump beside it whose name is the same with
 * ".mask" before the extension, or that of another name of the tensor: its index, or -1. */
int golden_dumps_mask(const assay_dumps *d, int i, const assay_bundle_tensor *t, int64_t first);

/* Elements of a dump, malloc'd; `like` is the tensor's type in the bundle, *t what the dump holds.
 */
assay_status golden_dumps_read(const assay_dumps *d, int i, const assay_type *like, assay_type *t,
                               void **data, assay_error *err);
/* The same for one .npy file; `like` may be NULL. */
assay_status golden_dump_read_npy(const char *path, const assay_type *like, assay_type *t,
                                  void **data, assay_error *err);
/* Whether dump i says its shape: .npy does, bytes and hex do not. */
bool golden_dumps_has_shape(const assay_dumps *d, int i);

#endif
