/* NumPy's .npz: a ZIP archive with an array a member, NAME.npy, stored or deflated.
 *
 * Formats: https://numpy.org/doc/stable/reference/generated/numpy.savez.html and PKWARE's APPNOTE
 * 6.3 (end of central directory, central directory header, local file header, ZIP64). */
#ifndef ASSAY_DATASETS_NPZ_H
#define ASSAY_DATASETS_NPZ_H

#include "graph/text/npy.h"

/* Where one array lies. */
typedef struct assay_npz_member {
    int64_t offset; /* of its bytes in the archive */
    int64_t stored; /* how many there are */
    int64_t bytes;  /* of the .npy that they hold */
    uint32_t crc;   /* CRC-32 of the .npy */
    bool deflated;
} assay_npz_member;

/* Finds array `name` of an open archive of `size` bytes; `path` is for messages. ASSAY_ERR_INPUT
 * where it is damaged or has no such array: the line lists those that it has. */
assay_status dataset_npz_find(int fd, int64_t size, const char *path, const char *name,
                              assay_npz_member *out, assay_error *err);

/* Reads array `name` of the archive at `path` as text_npy_read_file does. */
assay_status dataset_npz_read(const char *path, const char *name, assay_npy *out, assay_error *err);

#endif
