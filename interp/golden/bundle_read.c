/* Reading a golden bundle back. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/core/slurp.h"
#include "graph/memory.h"
#include "interp/golden/bundle.h"
#include "interp/golden/bundle_writer.h"
#include "interp/golden/hex.h"

static assay_status read_entry(const assay_bundle *b, const json_t *o, const char *where,
                               assay_bundle_tensor *t, assay_error *err)
{
    const json_t *sums = json_object_get(o, "accumulators");

    t->name = json_string_value(json_object_get(o, "name"));
    t->op = json_string_value(json_object_get(o, "op"));
    t->digest = json_string_value(json_object_get(o, "xxh3"));
    t->file = json_string_value(json_object_get(o, "file"));
    t->of_constants = !t->file && json_is_true(json_object_get(o, "of_constants"));
    t->sample = json_integer_value(json_object_get(o, "sample"));
    const json_int_t index = json_integer_value(json_object_get(o, "index"));
    t->index = index == (int)index ? (int)index : -1;
    t->sums_digest = json_string_value(json_object_get(sums, "xxh3"));
    t->sums_file = json_string_value(json_object_get(sums, "file"));
    if (!t->name || !t->digest || !json_is_integer(json_object_get(o, "index")) || t->index < 0 ||
        (sums && !t->sums_digest))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: an entry of \"tensors\" lacks name, index or xxh3", where);
    char what[800];
    snprintf(what, sizeof what, "%s: tensor '%.160s'", where, t->name);
    return golden_json_type_read(b, o, what, &t->type, err);
}

static assay_status read_tensors(assay_bundle *b, const char *path, assay_error *err)
{
    const json_t *tensors = json_object_get(b->manifest, "tensors");
    assay_status status = ASSAY_OK;

    if (!json_is_array(tensors))
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: no \"tensors\" list: not a golden bundle",
                          path);
    b->tensor = calloc(json_array_size(tensors) + 1, sizeof *b->tensor);
    if (!b->tensor)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < json_array_size(tensors) && !status; i++) {
        status = read_entry(b, json_array_get(tensors, i), path, &b->tensor[i], err);
        if (!status)
            b->n_tensors++;
    }
    return status;
}

/* Refuses a list that has one name twice (in one sample): which of the two is meant, nobody knows.
 */
static assay_status read_names_once(const assay_bundle *b, const char *list, const char *path,
                                    assay_error *err)
{
    json_t *seen = json_object(), *entry;
    size_t i;
    assay_status status = seen ? ASSAY_OK : assay_out_of_memory(err);

    json_array_foreach(json_object_get(b->manifest, list), i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        json_t *sample =
            json_sprintf("%" JSON_INTEGER_FORMAT " %s",
                         json_integer_value(json_object_get(entry, "sample")), name ? name : "");
        if (!status && json_object_get(seen, json_string_value(sample)))
            status = assay_fail(err, ASSAY_ERR_INPUT, "%s: \"%s\" lists '%.200s' twice", path, list,
                                name ? name : "");
        if (!status && json_object_set(seen, json_string_value(sample), json_null()) != 0)
            status = assay_out_of_memory(err);
        json_decref(sample);
    }
    json_decref(seen);
    return status;
}

static assay_status read_forms(assay_bundle *b, const char *path, assay_error *err)
{
    const json_t *list = json_object_get(b->manifest, "forms"), *o;
    const json_int_t hex_bits = json_integer_value(json_object_get(b->manifest, "hex_bits"));
    size_t i;

    json_array_foreach(list, i, o)
    {
        const char *name = json_string_value(o);
        const unsigned form = name ? golden_dump_find(name, strlen(name)) : 0;
        if (!form)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: \"forms\" names no format: %.40s", path,
                              name ? name : "no text");
        b->forms |= form;
    }
    if (hex_bits < 0 || hex_bits > ASSAY_HEX_MAX_BITS)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: \"hex_bits\" is not from 1 to %d", path,
                          ASSAY_HEX_MAX_BITS);
    b->hex_bits = (unsigned)hex_bits;
    return ASSAY_OK;
}

/* Whether no list per block of a constant is in a file, and none is packed. */
static void read_form_of_constants(assay_bundle *b)
{
    size_t i;
    json_t *o;
    b->lists = b->wide = true;
    json_array_foreach(json_object_get(b->manifest, "constants"), i, o)
    {
        b->lists &= !json_is_object(json_object_get(o, "scale"));
        b->wide &= !json_is_true(json_object_get(o, "packed"));
    }
}

/* Whether the text ends in the digest of what stands before that. */
static bool is_sealed(const char *text, size_t size)
{
    const size_t mark = strlen(ASSAY_BUNDLE_SEAL), tail = mark + 32 + strlen("\"\n}\n");
    const char *seal = size > tail ? text + size - tail : NULL;
    char hex[33];
    if (!seal || memcmp(seal, ASSAY_BUNDLE_SEAL, mark) != 0 ||
        memcmp(seal + mark + 32, "\"\n}\n", 4) != 0)
        return false;
    golden_digest_bytes(text, size - tail, hex);
    return memcmp(seal + mark, hex, 32) == 0;
}

static assay_status read_manifest(assay_bundle *b, assay_error *err)
{
    char path[600];
    json_error_t json_error;
    unsigned char *text;
    size_t size;
    assay_status status = assay_slurp_inside(b->folder, b->dir, "manifest.json", &text, &size, err);

    snprintf(path, sizeof path, "%.580s/manifest.json", b->dir);
    if (status == ASSAY_ERR_INPUT) {
        const assay_error inner = err ? *err : (assay_error){0};
        return assay_fail(err, ASSAY_ERR_IO, "%s: not a golden bundle%s", path,
                          err ? strstr(inner.text, "manifest.json") + strlen("manifest.json") : "");
    }
    if (status)
        return status;
    b->sealed = is_sealed((const char *)text, size);
    errno = 0;
    b->manifest = json_loadb((const char *)text, size, JSON_REJECT_DUPLICATES, &json_error);
    const bool short_of_memory =
        errno == ENOMEM; /* the reader calls a word that it cannot hold invalid */
    free(text);
    if (short_of_memory)
        return assay_out_of_memory_for(err, "%s", path);
    if (!b->manifest)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s:%d:%d: %s", path, json_error.line,
                          json_error.column, json_error.text);
    read_form_of_constants(b);
    status = read_forms(b, path, err);
    if (!status)
        status = read_tensors(b, path, err);
    if (!status)
        status = read_names_once(b, "tensors", path, err);
    return !status ? read_names_once(b, "constants", path, err) : status;
}

assay_status golden_bundle_open(const char *dir, assay_bundle **out, assay_error *err)
{
    assay_bundle *b = calloc(1, sizeof *b);
    assay_status status;

    *out = NULL;
    if (!b || !(b->dir = strdup(dir)) || !(b->network = calloc(1, sizeof *b->network))) {
        free(b ? b->dir : NULL);
        free(b);
        return assay_out_of_memory(err);
    }
    b->folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    status = b->folder >= 0
                 ? read_manifest(b, err)
                 : assay_fail(err, ASSAY_ERR_IO, "%s/manifest.json: not a golden bundle: %s", dir,
                              strerror(errno));
    if (status) {
        golden_bundle_free(b);
        return status;
    }
    *out = b;
    return ASSAY_OK;
}

void golden_bundle_free(assay_bundle *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->n_tensors; i++)
        golden_json_type_free(&b->tensor[i].type);
    free(b->tensor);
    golden_bundle_network_free(*b->network);
    free(b->network);
    json_decref(b->manifest);
    if (b->folder >= 0)
        close(b->folder);
    free(b->dir);
    free(b);
}

/* ---- arrays ---- */

assay_status golden_bundle_read(const assay_bundle *b, int i, void **data, assay_error *err)
{
    const assay_bundle_tensor *t = &b->tensor[i];

    *data = NULL;
    if (t->of_constants)
        return golden_bundle_compute(b, i, data, err);
    if (!t->file)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: tensor '%s' was kept as a digest only", b->dir,
                          t->name);
    return golden_bundle_read_array(b, t->file, &t->type, data, err);
}

assay_type golden_bundle_sums_type(const assay_type *tensor)
{
    assay_type t = *tensor;
    memset(&t.q, 0, sizeof t.q);
    t.elem = assay_int(64, true);
    return t;
}

assay_status golden_bundle_read_sums(const assay_bundle *b, int i, assay_type *type, void **data,
                                     assay_error *err)
{
    const assay_bundle_tensor *t = &b->tensor[i];

    *data = NULL;
    *type = golden_bundle_sums_type(&t->type);
    if (!t->sums_file)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: the accumulators of '%s' were not kept",
                          b->dir, t->name);
    return golden_bundle_read_array(b, t->sums_file, type, data, err);
}
