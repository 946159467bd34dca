/* All samples in one file: .npy, IDX, CIFAR-10 binary and raw. Each format comes down to an offset,
 * a stride and a byte order; samples are fetched with pread, so that nothing is shared. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/internal.h"
#include "datasets/npz.h"
#include "graph/core/slurp.h"
#include "graph/memory.h"

#define CIFAR_RECORD (1 + 3 * 32 * 32)

static bool little_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

static assay_status read_at(const assay_dataset *d, int64_t offset, void *to, size_t n,
                            assay_error *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(d->fd, (char *)to + done, n - done, (off_t)offset + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return assay_fail(err, ASSAY_ERR_IO, "%s: cannot read %zu bytes at %" PRId64 ": %s",
                              d->path, n, offset, got < 0 ? strerror(errno) : "the file ends");
        done += (size_t)got;
    }
    return ASSAY_OK;
}

assay_status dataset_split_samples(assay_dataset *d, assay_npy_type type, int rank,
                                   const int64_t *shape, assay_error *err)
{
    if (rank < 1 || shape[0] < 1)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: holds no samples", d->path);
    d->count = shape[0];
    d->type.type = type;
    d->type.rank = rank - 1;
    memcpy(d->type.shape, shape + 1, (size_t)(rank - 1) * sizeof *shape);
    d->stride = (int64_t)text_npy_type_size(type);
    for (int i = 1; i < rank; i++) {
        if (shape[i] < 1 || shape[i] > ((int64_t)1 << 40) / d->stride)
            return assay_fail(err, ASSAY_ERR_LIMIT,
                              "%s: dimension %d of a sample is %" PRId64
                              "; expected 1 or more and at most 2^40 bytes in all",
                              d->path, i - 1, shape[i]);
        d->stride *= shape[i];
    }
    return ASSAY_OK;
}

static assay_status check_size(const assay_dataset *d, int64_t size, assay_error *err)
{
    if (d->count <= (size - d->offset) / d->stride && d->count * d->stride == size - d->offset)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: the header promises %" PRId64 " samples of %" PRId64
                      " bytes, the file has %" PRId64 " bytes after it",
                      d->path, d->count, d->stride, size - d->offset);
}

/* An array of `bytes` bytes from `start` on. */
static assay_status open_npy(assay_dataset *d, int64_t start, int64_t bytes, assay_error *err)
{
    assay_npy_header h;
    size_t n = bytes < ASSAY_NPY_MAX_HEADER ? (size_t)bytes : ASSAY_NPY_MAX_HEADER;
    unsigned char *head = malloc(n);
    if (!head)
        return assay_out_of_memory_for(err, "%s", d->path);
    assay_status status = read_at(d, start, head, n, err);
    if (!status)
        status = text_npy_parse_header(head, n, d->path, &h, err);
    free(head);
    if (!status && h.fortran)
        status = assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                            "%s: its samples are not one after another (Fortran order); save it "
                            "with numpy.ascontiguousarray",
                            d->path);
    if (!status)
        status = dataset_split_samples(d, h.type, h.rank, h.shape, err);
    if (status)
        return status;
    d->offset = start + (int64_t)h.offset;
    d->swap = h.swap;
    return check_size(d, start + bytes, err);
}

static assay_status open_npz(assay_dataset *d, int64_t size, assay_error *err)
{
    assay_npz_member m = {0};
    const assay_status status =
        dataset_npz_find(d->fd, size, d->path, d->array ? d->array : "", &m, err);

    if (!status && m.deflated)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "%s: its arrays are compressed, and samples are read one by one; save "
                          "them with numpy.savez, or one .npz per sample in a folder",
                          d->path);
    return status ? status : open_npy(d, m.offset, m.bytes, err);
}

/* http://yann.lecun.com/exdb/mnist: two zero bytes, type, rank, big-endian dimensions, data. */
static assay_status open_idx(assay_dataset *d, int64_t size, assay_error *err)
{
    unsigned char head[4 + 4 * ASSAY_NPY_MAX_RANK];
    int64_t shape[ASSAY_NPY_MAX_RANK];
    assay_npy_type type;
    assay_status status = read_at(d, 0, head, 4, err);
    if (status)
        return status;
    int rank = head[3];
    switch (head[2]) {
    case 0x08:
        type = ASSAY_NPY_U1;
        break;
    case 0x09:
        type = ASSAY_NPY_I1;
        break;
    case 0x0b:
        type = ASSAY_NPY_I2;
        break;
    case 0x0c:
        type = ASSAY_NPY_I4;
        break;
    case 0x0d:
        type = ASSAY_NPY_F4;
        break;
    case 0x0e:
        type = ASSAY_NPY_F8;
        break;
    default:
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: IDX type 0x%02x is unknown", d->path, head[2]);
    }
    if (rank > ASSAY_NPY_MAX_RANK)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "%s: IDX with %d dimensions; expected 1 to %d", d->path, rank,
                          ASSAY_NPY_MAX_RANK);
    status = read_at(d, 4, head + 4, 4 * (size_t)rank, err);
    if (status)
        return status;
    for (int i = 0; i < rank; i++) {
        const unsigned char *b = head + 4 + 4 * i;
        shape[i] = (int64_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
    }
    status = dataset_split_samples(d, type, rank, shape, err);
    if (status)
        return status;
    if (rank == 3) /* gray images */
        d->type.shape[d->type.rank++] = 1;
    d->offset = 4 + 4 * rank;
    d->swap = little_endian() && text_npy_type_size(type) > 1;
    return check_size(d, size, err);
}

/* https://www.cs.toronto.edu/~kriz/cifar.html, binary version: a label byte, then 32x32 bytes of
 * red, of green and of blue. */
static assay_status open_cifar(assay_dataset *d, int64_t size, assay_error *err)
{
    if (size == 0 || size % CIFAR_RECORD != 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: expected CIFAR-10 records of %d bytes, found %" PRId64
                          " bytes; for raw data state a type and shape",
                          d->path, CIFAR_RECORD, size);
    d->count = size / CIFAR_RECORD;
    d->type = (assay_sample_type){ASSAY_NPY_U1, 3, {3, 32, 32}, true};
    d->offset = 1;
    d->stride = CIFAR_RECORD;
    d->labels = malloc((size_t)d->count * sizeof *d->labels);
    if (!d->labels)
        return assay_out_of_memory_for(err, "%s: labels", d->path);
    for (int64_t i = 0; i < d->count; i++) {
        unsigned char label;
        assay_status status = read_at(d, i * CIFAR_RECORD, &label, 1, err);
        if (status)
            return status;
        if (label > 9)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: label of record %" PRId64 " is %d; expected 0 to 9", d->path, i,
                              label);
        d->labels[i] = label;
    }
    return ASSAY_OK;
}

/* "DIMxDIM..." to the end of the text: 1 to 7 dimensions of at most 9 digits. */
static bool parse_dims(const char *p, int64_t *dim, int *rank)
{
    for (*rank = 0; *rank < ASSAY_NPY_MAX_RANK - 1;) {
        size_t digits = strspn(p, "0123456789");
        if (digits == 0 || digits > 9)
            return false;
        dim[(*rank)++] = strtoll(p, NULL, 10);
        p += digits;
        if (*p == 0)
            return true;
        if (*p++ != 'x')
            return false;
    }
    return false;
}

/* spec is "TYPE:DIMxDIM...", or "TYPE" for samples of one element: little-endian samples, one after
 * another to the end of the file. */
static assay_status open_raw(assay_dataset *d, const char *spec, int64_t size, assay_error *err)
{
    static const struct {
        const char *name;
        assay_npy_type type;
    } types[] = {
        {"u8", ASSAY_NPY_U1},  {"i8", ASSAY_NPY_I1},  {"u16", ASSAY_NPY_U2},
        {"i16", ASSAY_NPY_I2}, {"u32", ASSAY_NPY_U4}, {"i32", ASSAY_NPY_I4},
        {"f16", ASSAY_NPY_F2}, {"f32", ASSAY_NPY_F4}, {"f64", ASSAY_NPY_F8},
    };
    const size_t type_count = sizeof types / sizeof types[0];
    int64_t shape[ASSAY_NPY_MAX_RANK] = {1};
    int rank = 0;
    size_t t = 0;
    const size_t name = strcspn(spec, ":");
    while (t < type_count &&
           (strlen(types[t].name) != name || memcmp(spec, types[t].name, name) != 0))
        t++;
    if (t == type_count || (spec[name] && !parse_dims(spec + name + 1, shape + 1, &rank)))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "raw sample type \"%s\": expected a type (u8 i8 u16 i16 u32 i32 f16 f32 "
                          "f64) and at most %d dimensions, such as u8:32x32x3, or none for tokens",
                          spec, ASSAY_NPY_MAX_RANK - 1);
    assay_status status = dataset_split_samples(d, types[t].type, rank + 1, shape, err);
    if (status)
        return status;
    if (size == 0 || size % d->stride != 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: %" PRId64 " bytes are not a whole number of samples of %" PRId64
                          " bytes (%s)",
                          d->path, size, d->stride, spec);
    d->count = size / d->stride;
    d->swap = !little_endian() && text_npy_type_size(types[t].type) > 1;
    return ASSAY_OK;
}

static assay_status open_text(assay_dataset *d, assay_error *err)
{
    const assay_status status = dataset_open_text(d, err);
    const int64_t count = d->count;
    return status ? status : dataset_split_samples(d, ASSAY_NPY_I8, 1, &count, err);
}

/* ---- choosing ----------------------------------------------------------------------------- */

static assay_status open_format(assay_dataset *d, const assay_dataset_options *o, assay_error *err)
{
    unsigned char magic[4] = {0};
    struct stat st;
    if (fstat(d->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return assay_fail(err, ASSAY_ERR_IO, "%s: not a regular file or folder", d->path);
    bool whole = pread(d->fd, magic, 4, 0) == 4;
    if (o->raw)
        return open_raw(d, o->raw, st.st_size, err);
    if (dataset_ends_with(d->path, ".bin"))
        return open_cifar(d, st.st_size, err);
    if (whole && memcmp(magic, "\x93NUM", 4) == 0)
        return open_npy(d, 0, st.st_size, err);
    if (whole && memcmp(magic, "PK\3\4", 4) == 0)
        return open_npz(d, st.st_size, err);
    if (dataset_ends_with(d->path, ".txt"))
        return open_text(d, err);
    if (whole && magic[0] == 0 && magic[1] == 0 && magic[3] > 0)
        return open_idx(d, st.st_size, err);
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: unknown data set format; expected a folder of PNG, .npy or .npz, a file "
                      "of .npy, .npz, IDX or CIFAR-10 (.bin), tokens in .txt, or raw data with a "
                      "stated type and shape",
                      d->path);
}

assay_status dataset_open_file(assay_dataset *d, const assay_dataset_options *options,
                               assay_error *err)
{
    size_t size;
    assay_status status = assay_open_regular(d->path, &d->fd, &size, err);
    if (!status)
        status = open_format(d, options, err);
    d->type.planar |= options->planar;
    return status;
}

assay_status dataset_read_elements(const assay_dataset *d, int64_t offset, size_t n, size_t size,
                                   void *out, assay_error *err)
{
    const assay_status status = read_at(d, offset, out, n * size, err);
    if (!status && d->swap)
        text_npy_swap(out, n, size);
    return status;
}

assay_status dataset_read_record(const assay_dataset *d, int64_t i, void *out, assay_error *err)
{
    return dataset_read_elements(d, d->offset + i * d->stride, dataset_sample_count(&d->type),
                                 text_npy_type_size(d->type.type), out, err);
}
