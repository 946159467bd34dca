/* What is compared: golden bundles, folders of dumps, files. Internal to interp/diff*.c. */
#ifndef ASSAY_INTERP_DIFF_SIDE_H
#define ASSAY_INTERP_DIFF_SIDE_H

#include "interp/golden/bundle.h"

/* One side: a bundle, or loose dumps found by name. */
typedef struct assay_diff_side {
    const char *path;
    assay_bundle *bundle;
    char **file; /* loose dumps: names in the folder, sorted */
    int n_files;
} assay_diff_side;

/* Close it whatever the status. */
assay_status assay_diff_side_open(const char *path, assay_diff_side *s, assay_error *err);
void assay_diff_side_close(assay_diff_side *s);
bool assay_is_folder(const char *path);

/* A file name is a dump of the tensor when, without its extension, it is the tensor's name or its
 * name in a bundle ("0007_conv_NAME"), with characters that file systems dislike made '_'. */
bool assay_diff_names(const char *file, const assay_bundle_tensor *t);

/* A loose dump: .npy carries its own type; anything else is raw little-endian bytes of `like`
 * (NULL: none is known). *data is the caller's to free. */
assay_status assay_diff_read_loose(const char *path, const assay_type *like, assay_type *t,
                                   void **data, assay_error *err);

#endif
