/* NumPy's .npz archives, read; see npz.h. */
#include "test/support/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "test/support/support.h"

struct member {
    char name[128];
    size_t offset; /* of its local header */
    size_t packed, unpacked;
    unsigned method; /* 0 stored, 8 deflated */
};

/* Conversions are kept in a list, to be freed with the archive. */
struct column {
    struct column *next;
    int64_t values[];
};

struct npz {
    char *path;
    uint8_t *bytes;
    size_t size;
    struct member *members;
    size_t count;
    struct column *columns;
};

static unsigned le16(const uint8_t *p)
{
    return p[0] | (unsigned)p[1] << 8;
}
static size_t le32(const uint8_t *p)
{
    return le16(p) | (size_t)le16(p + 2) << 16;
}

static void *complain(const struct npz *z, const char *column, const char *what)
{
    fprintf(stderr, "%s: %s%s%s\n", z->path, column, *column ? ": " : "", what);
    return NULL;
}

static int read_file(struct npz *z)
{
    FILE *f = fopen(z->path, "rb");
    if (!f)
        return 0;
    long size = fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    int ok = size >= 0 && fseek(f, 0, SEEK_SET) == 0 && (z->bytes = malloc((size_t)size + 1));
    if (ok) {
        z->size = (size_t)size;
        ok = fread(z->bytes, 1, z->size, f) == z->size;
    }
    fclose(f);
    return ok;
}

/* PKWARE APPNOTE 4.3.16: the end-of-central-directory record, and 4.3.12: the directory. */
static int read_directory(struct npz *z)
{
    enum { END_SIZE = 22, ENTRY_SIZE = 46 };
    if (z->size < END_SIZE)
        return 0;
    size_t end = z->size - END_SIZE;
    while (memcmp(z->bytes + end, "PK\5\6", 4) != 0)
        if (end-- == 0)
            return 0;
    size_t count = le16(z->bytes + end + 10);
    size_t at = le32(z->bytes + end + 16);
    z->members = calloc(count + 1, sizeof *z->members);
    if (!z->members)
        return 0;
    for (; z->count < count; z->count++) {
        const uint8_t *e = z->bytes + at;
        if (at > end || end - at < ENTRY_SIZE || memcmp(e, "PK\1\2", 4) != 0)
            return 0;
        struct member *m = &z->members[z->count];
        size_t name = le16(e + 28);
        *m = (struct member){.method = le16(e + 10),
                             .packed = le32(e + 20),
                             .unpacked = le32(e + 24),
                             .offset = le32(e + 42)};
        if (end - at - ENTRY_SIZE < name || name >= sizeof m->name)
            return 0;
        memcpy(m->name, e + ENTRY_SIZE, name);
        if (name > 4 && strcmp(m->name + name - 4, ".npy") == 0)
            m->name[name - 4] = 0;
        at += ENTRY_SIZE + name + le16(e + 30) + le16(e + 32);
    }
    return 1;
}

struct npz *npz_open(const char *path)
{
    struct npz *z = calloc(1, sizeof *z);
    if (!z || !(z->path = strdup(path)) || !read_file(z) || !read_directory(z)) {
        fprintf(stderr, "%s: not a readable .npz archive\n", path);
        npz_close(z);
        return NULL;
    }
    return z;
}

void npz_close(struct npz *z)
{
    if (!z)
        return;
    while (z->columns) {
        struct column *next = z->columns->next;
        free(z->columns);
        z->columns = next;
    }
    free(z->members);
    free(z->bytes);
    free(z->path);
    free(z);
}

size_t npz_count(const struct npz *z)
{
    return z->count;
}

const char *npz_name(const struct npz *z, size_t index)
{
    return z->members[index].name;
}

static const struct member *find(const struct npz *z, const char *name)
{
    for (size_t i = 0; i < z->count; i++)
        if (strcmp(z->members[i].name, name) == 0)
            return &z->members[i];
    return NULL;
}

int npz_has(const struct npz *z, const char *name)
{
    return find(z, name) != NULL;
}

/* The uncompressed bytes of a member, malloc'd with a final zero byte. */
static uint8_t *unpack(const struct npz *z, const struct member *m)
{
    enum { HEADER = 30 };
    const uint8_t *h = z->bytes + m->offset;
    if (m->offset > z->size || z->size - m->offset < HEADER || memcmp(h, "PK\3\4", 4) != 0)
        return NULL;
    size_t data = m->offset + HEADER + le16(h + 26) + le16(h + 28);
    if (data > z->size || z->size - data < m->packed || m->unpacked > (size_t)1 << 30)
        return NULL;
    uint8_t *out = malloc(m->unpacked + 1);
    if (!out)
        return NULL;
    out[m->unpacked] = 0;
    if (m->method == 0 && m->packed == m->unpacked) {
        memcpy(out, z->bytes + data, m->unpacked);
        return out;
    }
    z_stream s = {.next_in = z->bytes + data,
                  .avail_in = (uInt)m->packed,
                  .next_out = out,
                  .avail_out = (uInt)m->unpacked};
    int ok = m->method == 8 && inflateInit2(&s, -MAX_WBITS) == Z_OK;
    if (ok) {
        ok = inflate(&s, Z_FINISH) == Z_STREAM_END && s.total_out == m->unpacked;
        inflateEnd(&s);
    }
    if (!ok) {
        free(out);
        return NULL;
    }
    return out;
}

/* The header of a .npy file: a Python dictionary such as
 * {'descr': '<i4', 'fortran_order': False, 'shape': (3, 4), }. Returns the offset of the data, 0
 * when it is not one that we read. */
static size_t parse_header(const uint8_t *bytes, size_t size, struct npz_shape *shape,
                           size_t *count)
{
    if (size < 12 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return 0;
    size_t start = bytes[6] == 1 ? 10 : 12;
    size_t length = bytes[6] == 1 ? le16(bytes + 8) : le32(bytes + 8);
    if (length > size - start)
        return 0;
    const char *text = (const char *)bytes + start;
    const char *descr = strstr(text, "'descr':"), *dims = strstr(text, "'shape':");
    const char *fortran = strstr(text, "'fortran_order': True");
    *shape = (struct npz_shape){0};
    char order;
    if (!descr || !dims ||
        sscanf(descr, "'descr': '%c%c%zu'", &order, &shape->kind, &shape->size) != 3)
        return 0;
    if (!strchr("<|", order) || !strchr("biuf", shape->kind) ||
        (shape->size != 1 && shape->size != 2 && shape->size != 4 && shape->size != 8))
        return 0;
    *count = 1;
    for (const char *p = strchr(dims, '('); p && *p != ')'; p = p + strcspn(p, ",)")) {
        p++;
        char *stop;
        size_t d = strtoul(p, &stop, 10);
        if (stop == p)
            continue;
        if (shape->ndim == 8 || (d != 0 && *count > ((size_t)1 << 40) / d))
            return 0;
        shape->dim[shape->ndim++] = d;
        *count *= d;
    }
    if (fortran && shape->ndim > 1)
        return 0;
    start += length;
    return *count > (size - start) / shape->size ? 0 : start;
}

static int64_t integer_at(const uint8_t *p, const struct npz_shape *shape)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < shape->size; i++)
        bits |= (uint64_t)p[i] << (8 * i);
    uint64_t sign = (uint64_t)1 << (8 * shape->size - 1);
    return (int64_t)(shape->kind == 'i' ? (bits ^ sign) - sign : bits);
}

static double real_at(const uint8_t *p, const struct npz_shape *shape)
{
    int64_t bits = integer_at(p, shape);
    if (shape->kind != 'f')
        return shape->kind == 'i' ? (double)bits : (double)(uint64_t)bits;
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return shape->size == 4 ? (double)f : d;
}

/* Reads a column into 64-bit slots: integers, or doubles stored bit for bit. */
static int64_t *read_column(struct npz *z, const char *name, int real, size_t *count,
                            struct npz_shape *shape)
{
    struct npz_shape found;
    const struct member *m = find(z, name);
    if (!m)
        return complain(z, name, "no such column");
    uint8_t *bytes = unpack(z, m);
    size_t start = bytes ? parse_header(bytes, m->unpacked, &found, count) : 0;
    struct column *c = start ? malloc(sizeof *c + (*count + 1) * sizeof c->values[0]) : NULL;
    if (c && (real ? found.kind != 'f' || found.size >= 4 : found.kind != 'f')) {
        for (size_t i = 0; i < *count; i++) {
            const uint8_t *p = bytes + start + i * found.size;
            double d = real ? real_at(p, &found) : 0;
            c->values[i] = integer_at(p, &found);
            if (real)
                memcpy(&c->values[i], &d, sizeof d);
        }
        if (shape)
            *shape = found;
        c->next = z->columns;
        z->columns = c;
    } else {
        free(c);
        c = complain(z, name, "damaged, or not of the element type that the test expects");
    }
    free(bytes);
    return c ? c->values : NULL;
}

const int64_t *npz_i64(struct npz *z, const char *name, size_t *count, struct npz_shape *shape)
{
    return read_column(z, name, 0, count, shape);
}

const double *npz_f64(struct npz *z, const char *name, size_t *count, struct npz_shape *shape)
{
    return (const double *)(const void *)read_column(z, name, 1, count, shape);
}

static int has_description(const char *path)
{
    char json[4096];
    size_t n = strlen(path);
    if (n < 4 || n + 2 > sizeof json)
        return 0;
    memcpy(json, path, n - 3);
    memcpy(json + n - 3, "json", 5);
    return access(json, R_OK) == 0;
}

const char *npz_vectors_path(const char *relative, int described, char *buf, size_t size)
{
    char below[4096];
    snprintf(below, sizeof below, "vectors/%s", relative);
    if (test_shared(below, buf, size))
        return buf;
    snprintf(below, sizeof below, "test/vectors/%s", relative);
    if (!test_source(below, buf, size) || access(buf, R_OK) != 0)
        return NULL;
    return !described || has_description(buf) ? buf : NULL;
}

struct npz *npz_vectors(const char *relative)
{
    char path[4096];
    if (npz_vectors_path(relative, 0, path, sizeof path))
        return npz_open(path);
    fprintf(stderr, "%s: neither in ASSAY_SHARED nor in test/vectors\n", relative);
    return NULL;
}
