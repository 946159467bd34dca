/* The files of a bundle against its manifest. The .npy of an array is compared by its digest; the
 * bytes of every form, .npy itself included, with those that the elements are written as. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/slurp.h"
#include "graph/memory.h"
#include "graph/text/constant.h"
#include "interp/golden/bundle_files.h"
#include "interp/golden/digest.h"
#include "interp/golden/verify.h"

/* A file's fault is counted and reported (once, although its reader names it too); an error that
 * keeps it from being read is not the file's fault. */
static assay_status fault_or_trouble(const assay_verifier *c, const char *file, assay_status status,
                                     const assay_error *inner, assay_error *err)
{
    if (status == ASSAY_ERR_IO || status == ASSAY_ERR_MEMORY) {
        if (err)
            *err = *inner;
        return status;
    }
    if (status) {
        const size_t n = strlen(file);
        const bool named = strncmp(inner->text, file, n) == 0 && inner->text[n] == ':';
        c->out->files_bad++;
        golden_verifier_say(c, file, "%s", named ? inner->text + n + 2 : inner->text);
    }
    return ASSAY_OK;
}

static assay_status compare_bytes(const assay_verifier *c, const char *file,
                                  const unsigned char *wanted, size_t size, assay_error *err)
{
    unsigned char *bytes;
    size_t found;
    assay_error inner;
    assay_status status =
        assay_slurp_inside(c->bundle->folder, c->bundle->dir, file, &bytes, &found, &inner);
    if (status)
        return fault_or_trouble(c, file, status, &inner, err);
    if (found != size || memcmp(bytes, wanted, size) != 0) {
        c->out->files_bad++;
        golden_verifier_say(c, file, "not what writing the tensor's elements gives");
    }
    free(bytes);
    return ASSAY_OK;
}

/* A constant's file that the manifest says is packed. */
static assay_status compare_packed(const assay_verifier *c, const char *file,
                                   const assay_type *type, const void *data, assay_error *err)
{
    void *wanted;
    size_t size;
    assay_status status = text_constant_render(type, data, &wanted, &size, err);
    if (!status)
        status = compare_bytes(c, file, wanted, size, err);
    free(wanted);
    return status;
}

/* STEM in some forms, against elements. */
static assay_status compare_forms(const assay_verifier *c, const char *stem, unsigned forms,
                                  const assay_type *type, const void *data, assay_error *err)
{
    assay_status status = ASSAY_OK;
    char file[1200];
    for (unsigned form = 1; form & ASSAY_DUMP_ALL && !status; form <<= 1) {
        unsigned char *wanted;
        size_t size;
        if (!(forms & form))
            continue;
        snprintf(file, sizeof file, "%s.%s", stem,
                 golden_dump_extension((enum assay_dump_format)form));
        status = golden_dump_render((enum assay_dump_format)form, stem, c->bundle->hex_bits, type,
                                    data, &wanted, &size, err);
        if (!status)
            status = compare_bytes(c, file, wanted, size, err);
        free(wanted);
    }
    return status;
}

/* An array that the manifest names by its .npy and the digest of its elements. */
static assay_status check_array(const assay_verifier *c, const char *file, const assay_type *type,
                                const char *digest, bool packed, assay_error *err)
{
    unsigned forms = c->bundle->forms ? c->bundle->forms : ASSAY_DUMP_NPY;
    char stem[1000], hex[33];
    void *data;
    assay_error inner;
    assay_status status;

    if (!golden_bundle_stem_of(file, stem, sizeof stem)) {
        c->out->files_bad++;
        golden_verifier_say(c, file, "is not the name of an .npy file");
        return ASSAY_OK;
    }
    status = golden_bundle_read_array(c->bundle, file, type, &data, &inner);
    if (status)
        return fault_or_trouble(c, file, status, &inner, err);
    status = golden_digest_tensor(type, data, hex, err);
    if (!status && (!digest || strcmp(hex, digest) != 0)) {
        c->out->files_bad++;
        golden_verifier_say(c, file, "the file's digest is not the manifest's");
    }
    if (packed && forms & ASSAY_DUMP_NPY) {
        forms &= ~(unsigned)ASSAY_DUMP_NPY;
        status = status ? status : compare_packed(c, file, type, data, err);
    }
    if (!status)
        status = compare_forms(c, stem, forms, type, data, err);
    free(data);
    return status;
}

static assay_status check_tensors(const assay_verifier *c, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < c->bundle->n_tensors && !status; i++) {
        const assay_bundle_tensor *t = &c->bundle->tensor[i];
        const assay_type sums = golden_bundle_sums_type(&t->type);
        if (t->file)
            status = check_array(c, t->file, &t->type, t->digest, false, err);
        if (!status && t->sums_file)
            status = check_array(c, t->sums_file, &sums, t->sums_digest, false, err);
    }
    return status;
}

/* The file that stands for a list of numbers, where one does. */
static assay_status check_listed(const assay_verifier *c, const json_t *o, assay_error *err)
{
    const char *file = json_string_value(json_object_get(o, "file"));
    assay_type type;
    assay_error inner;
    void *data;
    if (!file)
        return ASSAY_OK;
    assay_status status = golden_bundle_read_numbers(c->bundle, o, &type, &data, &inner);
    free(data);
    if (status)
        return fault_or_trouble(c, file, status, &inner, err);
    return check_array(c, file, &type, json_string_value(json_object_get(o, "xxh3")), false, err);
}

static assay_status check_constant(const assay_verifier *c, const json_t *entry, assay_error *err)
{
    const char *file = json_string_value(json_object_get(entry, "file"));
    assay_type type;
    assay_error inner;
    assay_status status =
        golden_json_type_read(c->bundle, entry, file ? file : "no file", &type, &inner);

    if (!status && !file) {
        golden_json_type_free(&type);
        status = assay_fail(&inner, ASSAY_ERR_INPUT, "an entry names no file");
    }
    if (status)
        return fault_or_trouble(c, "constants", status, &inner, err);
    status = check_array(c, file, &type, json_string_value(json_object_get(entry, "xxh3")),
                         json_is_true(json_object_get(entry, "packed")), err);
    golden_json_type_free(&type);
    if (!status)
        status = check_listed(c, json_object_get(entry, "scale"), err);
    return !status ? check_listed(c, json_object_get(entry, "zero_point"), err) : status;
}

static assay_status check_constants(const assay_verifier *c, assay_error *err)
{
    const json_t *list = json_object_get(c->bundle->manifest, "constants");
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < json_array_size(list) && !status; i++)
        status = check_constant(c, json_array_get(list, i), err);
    return status;
}

static assay_status check_parameter(const assay_verifier *c, const char *stem, const char *name,
                                    const json_t *list, assay_error *err)
{
    const unsigned forms = c->bundle->forms & ~(unsigned)ASSAY_DUMP_NPY;
    char part[1000];
    assay_type type;
    void *data;
    assay_error inner;

    snprintf(part, sizeof part, "%.600s.%.300s", stem, name);
    assay_status status = golden_bundle_parameter(c->bundle, name, list, &type, &data, &inner);
    if (status)
        return fault_or_trouble(c, part, status, &inner, err);
    status = compare_forms(c, part, forms, &type, data, err);
    free(data);
    return status;
}

static assay_status check_parameters(const assay_verifier *c, assay_error *err)
{
    assay_status status = ASSAY_OK;
    json_t *node, *list;
    const char *name;
    size_t i;
    json_array_foreach(json_object_get(c->bundle->manifest, "nodes"), i, node)
    {
        const char *stem = json_string_value(json_object_get(node, "parameter_files"));
        json_object_foreach(json_object_get(node, "parameters"), name, list)
        {
            if (!status && json_is_object(list))
                status = check_listed(c, list, err);
            else if (!status && stem)
                status = check_parameter(c, stem, name, list, err);
        }
    }
    return status;
}

/* graph.assay, by its digest. */
static assay_status check_graph(const assay_verifier *c, assay_error *err)
{
    const json_t *graph = json_object_get(c->bundle->manifest, "graph");
    const char *file = json_string_value(json_object_get(graph, "file"));
    const char *digest = json_string_value(json_object_get(graph, "xxh3"));
    unsigned char *bytes;
    size_t size;
    char hex[33];
    assay_error inner;
    assay_status status;

    if (!file)
        return ASSAY_OK;
    status = assay_slurp_inside(c->bundle->folder, c->bundle->dir, file, &bytes, &size, &inner);
    if (status)
        return fault_or_trouble(c, file, status, &inner, err);
    golden_digest_bytes(bytes, size, hex);
    free(bytes);
    if (!digest || strcmp(hex, digest) != 0) {
        c->out->files_bad++;
        golden_verifier_say(c, file, "the file's digest is not the manifest's");
    }
    return ASSAY_OK;
}

/* The manifest's digest of itself, and that over all tensors. */
static assay_status check_manifest(const assay_verifier *c, assay_error *err)
{
    const assay_bundle *b = c->bundle;
    const char *digest = json_string_value(json_object_get(b->manifest, "digest"));
    char *all = calloc((size_t)b->n_tensors + 1, 32), hex[33];

    if (!all)
        return assay_out_of_memory(err);
    for (int i = 0; i < b->n_tensors; i++)
        memcpy(all + 32 * (size_t)i, b->tensor[i].digest, strnlen(b->tensor[i].digest, 32));
    golden_digest_bytes(all, 32 * (size_t)b->n_tensors, hex);
    free(all);
    if (!b->sealed) {
        c->out->files_bad++;
        golden_verifier_say(
            c, "manifest.json",
            json_object_get(b->manifest, "xxh3")
                ? "the digest in its last line is not that of its bytes: it was edited"
                : "has no digest of itself: it was edited, or written by a version without one; "
                  "write the bundle again with golden");
    }
    if (!digest || strcmp(digest, hex) != 0) {
        c->out->files_bad++;
        golden_verifier_say(c, "manifest.json", "\"digest\" is not that of the tensors' digests");
    }
    if (b->n_tensors == 0) {
        c->out->files_bad++;
        golden_verifier_say(c, "manifest.json", "holds no tensors");
    }
    return ASSAY_OK;
}

static void count_stranger(void *user, const char *path)
{
    const assay_verifier *c = user;
    c->out->files_bad++;
    golden_verifier_say(c, path, "does not belong to the bundle: the manifest names no such file");
}

static assay_status check_strangers(const assay_verifier *c, assay_error *err)
{
    assay_bundle_list known;
    assay_verifier own = *c;
    assay_status status = golden_bundle_list_files(c->bundle, &known, err);
    if (!status)
        status = golden_bundle_strangers(c->bundle->folder, c->bundle->dir, &known, count_stranger,
                                         &own, err);
    golden_bundle_list_free(&known);
    return status;
}

assay_status golden_verify_files(const assay_verifier *c, assay_error *err)
{
    static assay_status (*const checks[])(const assay_verifier *, assay_error *) = {
        check_manifest,  check_graph,      check_tensors,
        check_constants, check_parameters, check_strangers};
    assay_status status = ASSAY_OK;
    for (size_t i = 0; i < sizeof checks / sizeof *checks && !status; i++)
        status = checks[i](c, err);
    return status;
}
