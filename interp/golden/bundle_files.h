/* Files that a golden bundle is made of. */
#ifndef ASSAY_INTERP_BUNDLE_FILES_H
#define ASSAY_INTERP_BUNDLE_FILES_H

#include <sys/stat.h>

#include "interp/golden/bundle.h"

/* A list of paths below the bundle, sorted. */
typedef struct assay_bundle_list {
    char **path;
    size_t n, room;
    bool short_of_memory;
} assay_bundle_list;
void golden_bundle_list_free(assay_bundle_list *l);
bool golden_bundle_list_has(const assay_bundle_list *l, const char *path);

/* The files that a manifest names, in the forms that it says; of a manifest that says none, in all
 * of them. */
assay_status golden_bundle_list_files(const assay_bundle *b, assay_bundle_list *out,
                                      assay_error *err);

/* Calls `visit` for everything below the folder that is neither one of the bundle's own folders nor
 * a regular file that `known` has. */
assay_status golden_bundle_strangers(int folder, const char *shown, const assay_bundle_list *known,
                                     void (*visit)(void *user, const char *path), void *user,
                                     assay_error *err);

/* The manifest of a folder that --force may take away, as last read, and the files that it names.
 * Zeros before the first look. */
typedef struct assay_bundle_seen {
    struct stat manifest;
    assay_bundle_list files;
} assay_bundle_seen;

/* Whether --force may take the folder away: a golden bundle, and no other file in it. Else says
 * what it is, and names one. `seen` is an assay_bundle_seen whose files the caller frees: of a
 * manifest that has not changed since, the folder is looked through, but the manifest is not read
 * again. */
assay_status golden_bundle_may_replace(const char *folder, void *seen, assay_error *err);

/* Whether the folder holds nothing but what a bundle under work holds. */
bool golden_bundle_is_partial(const char *folder);

#endif
