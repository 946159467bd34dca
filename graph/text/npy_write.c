/* Writing .npy: version 1, little-endian, C order. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "graph/files/files.h"
#include "graph/memory.h"
#include "graph/text/npy.h"

#define HEADER_MAX 256 /* 8 dimensions of 19 digits fit */

static const char *const descr[] = {
    [ASSAY_NPY_BOOL] = "|b1", [ASSAY_NPY_I1] = "|i1", [ASSAY_NPY_U1] = "|u1",
    [ASSAY_NPY_I2] = "<i2",   [ASSAY_NPY_U2] = "<u2", [ASSAY_NPY_I4] = "<i4",
    [ASSAY_NPY_U4] = "<u4",   [ASSAY_NPY_I8] = "<i8", [ASSAY_NPY_U8] = "<u8",
    [ASSAY_NPY_F2] = "<f2",   [ASSAY_NPY_F4] = "<f4", [ASSAY_NPY_F8] = "<f8",
};

/* Fills `header` and returns its size: 64, 128, ... bytes. */
static size_t make_header(const assay_npy *a, char header[HEADER_MAX + 64])
{
    size_t n = 10;
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    n += (size_t)snprintf(header + n, HEADER_MAX - n,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (", descr[a->type]);
    for (int i = 0; i < a->rank; i++)
        n += (size_t)snprintf(header + n, HEADER_MAX - n, "%s%" PRId64 "%s", i ? " " : "",
                              a->shape[i], i + 1 < a->rank || a->rank == 1 ? "," : "");
    n += (size_t)snprintf(header + n, HEADER_MAX - n, "), }");
    size_t size = (n + 1 + 63) / 64 * 64;
    memset(header + n, ' ', size - n - 1);
    header[size - 1] = '\n';
    header[8] = (char)((size - 10) & 255);
    header[9] = (char)((size - 10) >> 8);
    return size;
}

static bool big_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

assay_status text_npy_write_memory(const assay_npy *a, void **bytes, size_t *size, assay_error *err)
{
    char header[HEADER_MAX + 64];
    size_t header_size = make_header(a, header);
    size_t data_size = text_npy_bytes(a), element = text_npy_type_size(a->type);
    char *file = malloc(header_size + data_size);
    if (!file)
        return assay_out_of_memory_for(err, "an npy file of %zu bytes", header_size + data_size);
    memcpy(file, header, header_size);
    if (data_size)
        memcpy(file + header_size, a->data, data_size);
    if (big_endian())
        text_npy_swap(file + header_size, data_size / element, element);
    *bytes = file;
    *size = header_size + data_size;
    return ASSAY_OK;
}

/* Header and data in one call where the system takes them whole. */
static bool write_parts(int file, struct iovec part[2])
{
    for (int i = 0; i < 2;) {
        ssize_t written = writev(file, part + i, 2 - i);
        if (written < 0 && errno != EINTR)
            return false;
        for (; i < 2 && written >= (ssize_t)part[i].iov_len; i++)
            written -= (ssize_t)part[i].iov_len;
        if (i < 2 && written > 0) {
            part[i].iov_base = (char *)part[i].iov_base + written;
            part[i].iov_len -= (size_t)written;
        }
    }
    return true;
}

/* A golden bundle is thousands of small files: three system calls each, and no copy. */
static assay_status put_parts(const char *path, struct iovec part[2], assay_error *err)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot create: %s", path, strerror(errno));
    bool written = write_parts(file, part);
    int cause = errno;
    if (close(file) != 0 && written) {
        written = false;
        cause = errno;
    }
    if (written)
        return ASSAY_OK;
    remove(path);
    return assay_fail(err, ASSAY_ERR_IO, "%s: cannot write: %s", path, strerror(cause));
}

assay_status text_npy_put(const char *path, const assay_npy *a, assay_error *err)
{
    if (big_endian()) {
        struct iovec whole[2] = {{NULL, 0}, {NULL, 0}};
        assay_status status = text_npy_write_memory(a, &whole[0].iov_base, &whole[0].iov_len, err);
        void *bytes = whole[0].iov_base;
        if (!status) {
            status = put_parts(path, whole, err);
            free(bytes);
        }
        return status;
    }
    char header[HEADER_MAX + 64];
    struct iovec part[2] = {{header, make_header(a, header)}, {a->data, text_npy_bytes(a)}};
    return put_parts(path, part, err);
}

assay_status text_npy_write_file(const char *path, const assay_npy *a, assay_error *err)
{
    void *bytes = NULL;
    size_t size = 0;
    assay_status status = text_npy_write_memory(a, &bytes, &size, err);

    if (!status)
        status = file_write_file(path, bytes, size, err);
    free(bytes);
    return status;
}
