/* Arrays of .npz archives; see npz.h. */
#include "datasets/npz.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "graph/core/slurp.h"
#include "graph/memory.h"

/* Of APPNOTE 6.3: signatures, sizes of fixed parts, and offsets in them. */
#define END_SIGNATURE     0x06054b50u
#define END_BYTES         22
#define END_SPAN          (END_BYTES + 65535) /* with the longest comment */
#define CENTRAL_SIGNATURE 0x02014b50u
#define CENTRAL_BYTES     46
#define LOCAL_SIGNATURE   0x04034b50u
#define LOCAL_BYTES       30
#define ZIP64_EXTRA       1
#define SATURATED         0xffffffffu /* the number is in the ZIP64 extra field */
#define MAX_DIRECTORY     (64 << 20)
#define MAX_ARRAY         (INT64_C(1) << 40)
/* Deflate gives at most 1032 bytes for one (zlib's technical details). */
#define MAX_RATIO 1032

static uint32_t number16(const unsigned char *b)
{
    return b[0] | (uint32_t)b[1] << 8;
}

static uint32_t number32(const unsigned char *b)
{
    return number16(b) | number16(b + 2) << 16;
}

static uint64_t number64(const unsigned char *b)
{
    return number32(b) | (uint64_t)number32(b + 4) << 32;
}

/* An archive while an array is looked for. */
typedef struct archive {
    int fd;
    int64_t size;
    const char *path;
    unsigned char *directory; /* the central one */
    size_t bytes;
    assay_error *err;
} archive;

static assay_status damaged(const archive *a, const char *what)
{
    return assay_fail(a->err, ASSAY_ERR_INPUT, "%s: not an .npz archive: %s", a->path, what);
}

static assay_status read_at(const archive *a, int64_t offset, void *to, size_t n)
{
    if (offset < 0 || offset > a->size || (int64_t)n > a->size - offset)
        return damaged(a, "the file ends too early");
    for (size_t done = 0; done < n;) {
        const ssize_t got = pread(a->fd, (char *)to + done, n - done, (off_t)offset + (off_t)done);
        if (got <= 0)
            return assay_fail(a->err, ASSAY_ERR_IO, "%s: cannot read %zu bytes at %" PRId64,
                              a->path, n, offset);
        done += (size_t)got;
    }
    return ASSAY_OK;
}

/* The central directory, which the last record names. Archives of more than 4 GB have a ZIP64
 * record too: where the offset is saturated the directory ends where that record begins, whose
 * locator of 20 bytes stands before the last record. */
static assay_status place_directory(archive *a, const unsigned char *end, int64_t at,
                                    int64_t *offset)
{
    unsigned char zip64[56];
    assay_status status = ASSAY_OK;

    a->bytes = number32(end + 12);
    *offset = number32(end + 16);
    if (number32(end + 16) != SATURATED)
        return ASSAY_OK;
    status = read_at(a, at - 20, zip64, 20);
    if (!status)
        status = read_at(a, (int64_t)(number64(zip64 + 8) & INT64_MAX), zip64, sizeof zip64);
    a->bytes = status ? 0 : (size_t)number64(zip64 + 40);
    *offset = status ? 0 : (int64_t)(number64(zip64 + 48) & INT64_MAX);
    return status;
}

static assay_status read_directory(archive *a)
{
    const size_t span = a->size < END_SPAN ? (size_t)a->size : END_SPAN;
    unsigned char *tail = malloc(span + 1);
    assay_status status = tail ? read_at(a, a->size - (int64_t)span, tail, span)
                               : assay_out_of_memory_for(a->err, "%s", a->path);
    int64_t offset = 0;
    size_t at = span < END_BYTES ? 0 : span - END_BYTES + 1;

    while (!status && at > 0 && number32(tail + at - 1) != END_SIGNATURE)
        at--;
    if (!status && at == 0)
        status = damaged(a, "it has no end of central directory");
    if (!status)
        status = place_directory(a, tail + at - 1, a->size - (int64_t)(span - at + 1), &offset);
    free(tail);
    if (!status && a->bytes > MAX_DIRECTORY)
        status = damaged(a, "its directory has more than 64 MiB");
    if (!status && !(a->directory = malloc(a->bytes + 1)))
        status = assay_out_of_memory_for(a->err, "%s", a->path);
    return status ? status : read_at(a, offset, a->directory, a->bytes);
}

/* The entry at *at, and *at behind it; NULL at the end or where the rest is none. */
static const unsigned char *next_entry(const archive *a, size_t *at)
{
    const unsigned char *e = a->directory + *at;
    size_t bytes;

    if (a->bytes - *at < CENTRAL_BYTES || number32(e) != CENTRAL_SIGNATURE)
        return NULL;
    bytes = CENTRAL_BYTES + (size_t)number16(e + 28) + number16(e + 30) + number16(e + 32);
    if (bytes > a->bytes - *at)
        return NULL;
    *at += bytes;
    return e;
}

/* Length of the array's name: the member's without ".npy"; 0 where it is another file. */
static size_t array_name(const unsigned char *entry)
{
    const size_t n = number16(entry + 28);
    return n > 4 && memcmp(entry + CENTRAL_BYTES + n - 4, ".npy", 4) == 0 ? n - 4 : 0;
}

static assay_status not_there(const archive *a, const char *name)
{
    char names[300] = "";
    size_t at = 0, used = 0;
    const unsigned char *e;

    while ((e = next_entry(a, &at)) && used < sizeof names) {
        const size_t n = array_name(e);
        const int wrote = snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "",
                                   (int)n, (const char *)e + CENTRAL_BYTES);
        used += n && wrote > 0 ? (size_t)wrote : 0;
    }
    return assay_fail(a->err, ASSAY_ERR_INPUT, "%s: holds no array '%s'; it holds %.250s", a->path,
                      name, *names ? names : "none");
}

/* Sizes and offset of 64 bits, for those of 32 that are saturated, in this order. */
static void read_zip64(const unsigned char *entry, uint64_t number[3])
{
    const unsigned char *extra = entry + CENTRAL_BYTES + number16(entry + 28);
    const unsigned char *end = extra + number16(entry + 30);

    for (; end - extra >= 4; extra += 4 + number16(extra + 2)) {
        const unsigned char *next = extra + 4, *stop = next + number16(extra + 2);
        if (stop > end)
            return;
        for (int k = 0; k < 3 && number16(extra) == ZIP64_EXTRA; k++)
            if (number[k] == SATURATED && stop - next >= 8) {
                number[k] = number64(next);
                next += 8;
            }
    }
}

static assay_status take(const archive *a, const unsigned char *entry, assay_npz_member *m)
{
    const uint32_t method = number16(entry + 10);
    uint64_t number[3] = {number32(entry + 24), number32(entry + 20), number32(entry + 42)};
    unsigned char local[LOCAL_BYTES];
    assay_status status;

    read_zip64(entry, number);
    if (number16(entry + 8) & 1)
        return damaged(a, "its arrays are encrypted");
    if (method != 0 && method != 8)
        return damaged(a, "its arrays are neither stored nor deflated");
    if (number[0] > MAX_ARRAY || number[1] > (uint64_t)a->size || number[2] > (uint64_t)a->size ||
        (method == 0 ? number[0] != number[1] : number[0] / MAX_RATIO > number[1]))
        return damaged(a, "an array's sizes are impossible");
    status = read_at(a, (int64_t)number[2], local, sizeof local);
    if (!status && number32(local) != LOCAL_SIGNATURE)
        status = damaged(a, "an array is not where the directory says");
    if (status)
        return status;
    *m = (assay_npz_member){.offset = (int64_t)number[2] + LOCAL_BYTES + number16(local + 26) +
                                      number16(local + 28),
                            .stored = (int64_t)number[1],
                            .bytes = (int64_t)number[0],
                            .crc = number32(entry + 16),
                            .deflated = method == 8};
    return m->stored <= a->size - m->offset ? ASSAY_OK : damaged(a, "the file ends too early");
}

assay_status dataset_npz_find(int fd, int64_t size, const char *path, const char *name,
                              assay_npz_member *out, assay_error *err)
{
    archive a = {.fd = fd, .size = size, .path = path, .err = err};
    const size_t n = strlen(name);
    const unsigned char *e = NULL;
    size_t at = 0;
    assay_status status = read_directory(&a);

    while (!status && (e = next_entry(&a, &at)))
        if (n > 0 && array_name(e) == n && memcmp(e + CENTRAL_BYTES, name, n) == 0)
            break;
    if (!status)
        status = e ? take(&a, e, out) : not_there(&a, name);
    free(a.directory);
    return status;
}

/* ---- reading ---- */

/* Inflates a raw stream (no zlib header) that must give m->bytes. */
static bool inflate_all(const assay_npz_member *m, unsigned char *from, unsigned char *to)
{
    z_stream z = {0};
    uint64_t in = (uint64_t)m->stored, out = (uint64_t)m->bytes;
    int ended = Z_OK;

    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return false;
    z.next_in = from;
    z.next_out = to;
    while (ended == Z_OK) {
        const uInt step_in = in > UINT32_MAX ? UINT32_MAX : (uInt)in;
        const uInt step_out = out > UINT32_MAX ? UINT32_MAX : (uInt)out;
        z.avail_in = step_in;
        z.avail_out = step_out;
        ended = inflate(&z, Z_NO_FLUSH);
        in -= step_in - z.avail_in;
        out -= step_out - z.avail_out;
    }
    inflateEnd(&z);
    return ended == Z_STREAM_END && out == 0;
}

static uint32_t checksum(const unsigned char *bytes, int64_t n)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, (size_t)n);
}

/* The .npy that a member holds; *bytes is malloc'd. */
static assay_status unpack(const archive *a, const assay_npz_member *m, unsigned char **bytes)
{
    unsigned char *stored = malloc((size_t)m->stored + 1);
    unsigned char *plain = m->deflated ? malloc((size_t)m->bytes + 1) : stored;
    assay_status status = stored && plain ? read_at(a, m->offset, stored, (size_t)m->stored)
                                          : assay_out_of_memory_for(a->err, "%s", a->path);

    if (!status && m->deflated && !inflate_all(m, stored, plain))
        status = damaged(a, "an array cannot be inflated to the size that the directory states");
    if (!status && checksum(plain, m->bytes) != m->crc)
        status = damaged(a, "an array's checksum is wrong");
    if (plain != stored)
        free(stored);
    if (status)
        free(plain);
    *bytes = status ? NULL : plain;
    return status;
}

assay_status dataset_npz_read(const char *path, const char *name, assay_npy *out, assay_error *err)
{
    archive a = {.path = path, .err = err};
    unsigned char *bytes = NULL;
    assay_npz_member m;
    size_t size;
    assay_status status = assay_open_regular(path, &a.fd, &size, err);

    *out = (assay_npy){0};
    if (status)
        return status;
    a.size = (int64_t)size;
    status = dataset_npz_find(a.fd, a.size, path, name, &m, err);
    if (!status)
        status = unpack(&a, &m, &bytes);
    close(a.fd);
    if (!status)
        status = text_npy_read_memory(bytes, (size_t)m.bytes, path, out, err);
    free(bytes);
    return status;
}
