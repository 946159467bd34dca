/* Files of rows: read whole, lengths checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

static bool refuse(const char *path, const char *why)
{
    fprintf(stderr, "cuda: %s: %s\n", path, why);
    return false;
}

static uint32_t word(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint8_t *read_all(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb"), *copy;
    char *all = NULL, part[4096];
    size_t n;
    if (!f)
        return NULL;
    copy = open_memstream(&all, size);
    if (!copy)
        abort();
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        fwrite(part, 1, n, copy);
    fclose(copy);
    fclose(f);
    return (uint8_t *)all;
}

bool rows_read(const char *path, const struct instruction *in, struct rows *r)
{
    size_t size, used = 8;
    *r = (struct rows){.all = read_all(path, &size)};
    if (!r->all)
        return refuse(path, "cannot be read");
    if (size < used)
        return refuse(path, "is too short");
    r->n = word(r->all);
    r->steps = word(r->all + 4);
    const size_t each = (size_t)r->n * r->steps, scales = in->scales > 0 ? each * 4 : 0;
    const size_t bytes[ROWS_COLUMNS] = {each * instruction_bytes(in), each * instruction_bytes(in),
                                        (size_t)r->n * instruction_word(in), scales, scales};
    for (int i = 0; i < ROWS_COLUMNS; i++) {
        r->column[i] = r->all + used;
        r->bytes[i] = bytes[i];
        used += bytes[i];
    }
    return (each > 0 && used == size) || refuse(path, "has not the length that its head says");
}

bool rows_write(const char *path, const void *d, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        return refuse(path, "cannot be written");
    const bool whole = fwrite(d, 1, bytes, f) == bytes;
    return (fclose(f) == 0 && whole) || refuse(path, "cannot be written");
}
