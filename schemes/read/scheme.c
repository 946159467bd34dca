/* Opening schemes, and what the quantizer asks of them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "schemes/derive/derive.h"
#include "schemes/mac/scheme.h"
#include "schemes/prepare/prepare.h"
#include "schemes/read/read.h"
#include "schemes/record/data.h"
#include "schemes/record/guess.h"
#include "schemes/record/tree.h"

static void set_digest(assay_scheme *s)
{
    XXH128_hash_t h = XXH3_128bits(s->text, strlen(s->text));
    snprintf(s->digest, sizeof s->digest, "%016llx%016llx", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
}

assay_status assay_scheme_parse_whole(const char *file, const char *text, size_t length,
                                      assay_scheme **out, assay_error *err)
{
    assay_tree *tree;
    assay_status s = assay_tree_parse(file, text, length, &tree, err);
    *out = NULL;
    if (s)
        return s;
    if (tree->kind == ASSAY_TREE_MAP && assay_tree_get(tree, "extends"))
        s = assay_fail(err, ASSAY_ERR_INPUT,
                       "%s: this scheme extends another; the scheme in a bundle must be complete",
                       file);
    assay_tree_free(tree);
    return !s ? assay_scheme_parse(file, text, length, out, err) : s;
}

static assay_status parse(const char *file, const char *text, size_t length, enum assay_vouched by,
                          assay_scheme **out, assay_error *err)
{
    *out = NULL;
    bool mac;
    assay_status status = mac_scheme_is(text, length, &mac, err);
    if (status || mac)
        return status ? status : mac_scheme_parse(file, text, length, out, err);
    assay_scheme *s = calloc(1, sizeof *s);
    assay_scheme_data *d = assay_scheme_data_new();
    status = !s || !d ? assay_out_of_memory_for(err, "%s", file)
                      : assay_scheme_read(file, text, length, by, d, 0, err);
    char *canonical = !status ? assay_scheme_text(d) : NULL;
    if (!status && !canonical)
        status = assay_out_of_memory_for(err, "%s", file);
    if (status) {
        assay_scheme_data_free(d);
        free(s);
        return status;
    }
    *s = (assay_scheme){.vt = &assay_family_vtable,
                        .name = d->name,
                        .description = d->description,
                        .text = canonical,
                        .record = d};
    set_digest(s);
    *out = s;
    return ASSAY_OK;
}

assay_status assay_scheme_parse(const char *file, const char *text, size_t length,
                                assay_scheme **out, assay_error *err)
{
    return parse(file, text, length, ASSAY_VOUCHED_NOT, out, err);
}

void assay_scheme_free(assay_scheme *s)
{
    if (!s)
        return;
    if (s->vt == &assay_family_vtable)
        assay_scheme_data_free((assay_scheme_data *)s->record);
    free((char *)s->text);
    free((void *)s->mac);
    if (s->plugin_handle)
        dlclose(s->plugin_handle);
    free(s);
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* A shared object exports assay_scheme_plugin(); its vtable is checked before anything is called.
 */
static assay_status open_plugin(const char *path, assay_scheme **out, assay_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) /* dlopen would wait for a pipe */
        return assay_fail(err, ASSAY_ERR_IO, "%s: not a regular file", path);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        const bool named = strncmp(why, path, strlen(path)) == 0;
        return assay_fail(err, ASSAY_ERR_SCHEME, "%s%s%s", named ? "" : path, named ? "" : ": ",
                          why);
    }
    const assay_scheme_vtable *(*entry)(void);
    *(void **)&entry = dlsym(handle, "assay_scheme_plugin");
    const assay_scheme_vtable *vt = entry ? entry() : NULL;
    assay_status status = ASSAY_OK;
    if (!vt)
        status = assay_fail(err, ASSAY_ERR_SCHEME,
                            "%s: no vtable; expected a function assay_scheme_plugin", path);
    else if (vt->abi != ASSAY_SCHEME_ABI)
        status = assay_fail(err, ASSAY_ERR_SCHEME, "%s: plugin ABI %u; this library speaks %u",
                            path, vt->abi, ASSAY_SCHEME_ABI);
    else if (vt->size != sizeof *vt)
        status = assay_fail(err, ASSAY_ERR_SCHEME, "%s: vtable of %u bytes; expected %zu", path,
                            vt->size, sizeof *vt);
    else if (!vt->name || !vt->prepare || !vt->release || !vt->params || !vt->accumulate ||
             !vt->apply_overflow)
        status = assay_fail(
            err, ASSAY_ERR_SCHEME,
            "%s: name, prepare, release, params, accumulate and apply_overflow must be set", path);
    assay_scheme *s = !status ? calloc(1, sizeof *s) : NULL;
    char *text = s ? malloc(strlen(vt->name) + 16) : NULL;
    if (!status && !text)
        status = assay_out_of_memory_for(err, "%s", path);
    if (status) {
        free(s);
        dlclose(handle);
        return status;
    }
    sprintf(text, "plugin: %s\n", vt->name);
    *s = (assay_scheme){.vt = vt,
                        .name = vt->name,
                        .description = vt->description,
                        .text = text,
                        .plugin_handle = handle};
    set_digest(s);
    *out = s;
    return ASSAY_OK;
}

/* A file may repeat a preset, but not give its name to another record: reports and bundles would
 * hold two schemes of one name. */
static assay_status check_name(const char *path, const assay_scheme *s, assay_error *err)
{
    size_t length;
    assay_scheme *preset;
    const char *text = assay_preset_text(s->name, &length);
    if (!text)
        text = assay_mac_scheme_text(s->name, &length);
    if (!text)
        return ASSAY_OK;
    assay_status status = parse(s->name, text, length, ASSAY_VOUCHED_TESTED, &preset, err);
    if (status)
        return status;
    if (strcmp(preset->digest, s->digest) != 0)
        status = assay_fail(err, ASSAY_ERR_SCHEME,
                            "%s: the name \"%s\" belongs to a preset with another record; choose "
                            "another name",
                            path, s->name);
    assay_scheme_free(preset);
    return status;
}

static assay_status open_file(const char *path, assay_scheme **out, assay_error *err)
{
    char *text;
    size_t length;
    assay_status s = assay_scheme_read_file(path, &text, &length, err);
    if (s)
        return s;
    s = assay_scheme_parse(path, text, length, out, err);
    free(text);
    if (!s && (s = check_name(path, *out, err))) {
        assay_scheme_free(*out);
        *out = NULL;
    }
    return s;
}

/* A name that no shipped scheme has: a matrix unit's, or none. */
static assay_status unknown(const char *name, assay_error *err)
{
    size_t length;
    char words[ASSAY_GUESS_WORDS];
    if (assay_mac_unit_text(name, &length))
        return assay_fail(err, ASSAY_ERR_SCHEME, "%s " ASSAY_READ_IS_UNIT, name, name);
    const char *const *const lists[] = {assay_scheme_presets(), assay_mac_schemes(),
                                        assay_mac_units()};
    assay_guess g = ASSAY_GUESS(name);
    for (int i = 0; i < 3; i++)
        for (const char *const *p = lists[i]; *p; p++)
            assay_guess_consider(&g, *p);
    return assay_fail(err, ASSAY_ERR_SCHEME,
                      "no scheme \"%s\"%s; `presets` names schemes and `units` matrix units (a "
                      "file needs a '/' or ends in .yaml, a plugin ends "
                      "in .so)",
                      name, assay_guess_words(&g, words));
}

assay_status assay_scheme_open(const char *name, assay_scheme **out, assay_error *err)
{
    *out = NULL;
    size_t length;
    if (ends_with(name, ".so"))
        return open_plugin(name, out, err);
    if (strchr(name, '/') || ends_with(name, ".yaml") || ends_with(name, ".yml"))
        return open_file(name, out, err);
    const char *text = assay_preset_text(name, &length);
    if (!text)
        text = assay_mac_scheme_text(name, &length);
    if (!text)
        return unknown(name, err);
    return parse(name, text, length, ASSAY_VOUCHED_TESTED, out, err);
}

/* ---- what the quantizer asks ---- */

void assay_scheme_get_caps(const assay_scheme *s, assay_scheme_caps *caps)
{
    assay_record r;
    assay_record_default(&r);
    if (s->record)
        r = assay_data(s)->base;
    const assay_rule_types *t = &r.types;
    *caps = (assay_scheme_caps){
        .activation_bits = (unsigned)t->activation_bits,
        .weight_bits = (unsigned)t->weight_bits,
        .bias_bits = (unsigned)t->bias_bits,
        .activation_signed = t->activation_signed != 0,
        .weight_signed = t->weight_signed != 0,
        .activation_zero_point = t->activation_zero_point != ASSAY_ZERO_POINT_NONE,
        .wide_zero_point =
            t->activation_zero_point != ASSAY_ZERO_POINT_NONE && t->wide_zero_point != 0,
        .zero_point_middle_only = t->activation_zero_point == ASSAY_ZERO_POINT_MIDDLE,
        .weight_zero_point = t->weight_zero_point != ASSAY_ZERO_POINT_NONE,
        .weight_narrow = t->weight_narrow != 0,
        .per_channel = t->weight_scales != ASSAY_PER_TENSOR,
        .block = t->weight_scales == ASSAY_PER_BLOCK ? r.blocks.size : 0,
        .power_of_two = t->power_of_two_scales != 0,
        .activation_either_sign = r.accepts.activation_either_sign != 0,
        .weight_either_sign = r.accepts.weight_either_sign != 0,
        .weight_least_code = r.accepts.weight_least_code != 0,
        .constant_round = (enum assay_rounding)t->constant_round,
    };
}

/* Plugins hold what TFLite holds, until they say otherwise. */
static void record_for(const assay_scheme *s, const char *op, bool wide, assay_record *r)
{
    assay_record_default(r);
    if (s->record)
        assay_effective_record(assay_data(s), op, "", wide, r);
}

bool assay_scheme_fixed_output(const assay_scheme *s, const char *op, assay_elem out, float *scale,
                               int32_t *zero_point)
{
    assay_record r;
    record_for(s, op, out.bits > 8, &r);
    return assay_fixed_output(&r, assay_op_find(op), out, scale, zero_point);
}

static bool shifts_sums(const assay_scheme *s, const char *op, unsigned bits, assay_record *r)
{
    const enum assay_op id = assay_op_find(op);
    record_for(s, op, bits > 8, r);
    return (id == ASSAY_OP_ADD_N || id == ASSAY_OP_CUMSUM) && r->add.kind == ASSAY_ADD_LEFT_SHIFT;
}

bool assay_scheme_wants_no_zero_point(const assay_scheme *s, const char *op, unsigned bits)
{
    assay_record r;
    return shifts_sums(s, op, bits, &r) && r.add.extra_zero_point;
}

int64_t assay_scheme_sum_room(const assay_scheme *s, const char *op, unsigned bits)
{
    assay_record r;
    const bool shifts = shifts_sums(s, op, bits, &r);
    const int32_t max = 31 - (int32_t)bits, shift = r.add.bits < max ? r.add.bits : max;
    return shifts && shift > 0 ? (INT64_C(1) << (32 - shift)) - 1 : INT64_MAX;
}

unsigned assay_scheme_bias_bits(const assay_scheme *s, const char *op, bool wide)
{
    assay_record r;
    if (!s->record)
        return 32;
    record_for(s, op, wide, &r);
    return r.types.bias_bits > 32 || (wide && r.accumulator.bits > 32) ? 64 : 32;
}

unsigned assay_scheme_accumulator_bits(const assay_scheme *s, const char *op, bool wide)
{
    assay_record r;
    record_for(s, op, wide, &r);
    return (unsigned)r.accumulator.bits;
}

bool assay_scheme_floats_in_turn(const assay_scheme *s)
{
    return s->record && assay_data(s)->base.convert.floats_in_turn;
}

bool assay_scheme_counts_overhang(const assay_scheme *s)
{
    assay_record r;
    if (!s->record)
        return false;
    record_for(s, assay_op_get(ASSAY_OP_AVG_POOL)->name, false, &r);
    return r.pool.count_overhang;
}

bool assay_scheme_same_params(const assay_scheme *s, const char *op)
{
    assay_record r;
    record_for(s, op, false, &r);
    switch (assay_op_find(op)) {
    case ASSAY_OP_AVG_POOL:
    case ASSAY_OP_GLOBAL_AVG_POOL:
    case ASSAY_OP_REDUCE_MEAN:
        return r.pool.kind == ASSAY_POOL_DIVIDE || r.pool.kind == ASSAY_POOL_RECIPROCAL ||
               r.pool.kind == ASSAY_POOL_TWO_STAGE;
    case ASSAY_OP_ADD:
    case ASSAY_OP_SUB:
        return r.add.kind == ASSAY_ADD_PLAIN;
    default:
        return false;
    }
}

void assay_scheme_norm_codes(const assay_scheme *s, bool wide, unsigned *gamma_bits,
                             unsigned *beta_shift)
{
    assay_record r;
    record_for(s, "layer_norm", wide, &r);
    *gamma_bits = (unsigned)r.softmax.layer_norm_gamma_bits;
    *beta_shift = (unsigned)r.softmax.layer_norm_fraction;
}

assay_status assay_scheme_weight_units(const assay_scheme *s, const assay_unit_spec *spec,
                                       float *unit, size_t *n, assay_error *err)
{
    const assay_qparams *q = &spec->in[1].q;
    if (s->record)
        return derive_family_weight_units(s, spec, unit, n, err);
    if (q->granularity == ASSAY_Q_BLOCK)
        return assay_fail(err, ASSAY_ERR_SCHEME,
                          "scheme %s, node %s (%s): a plugin does not say what the accumulators of "
                          "weights with a scale per block are worth",
                          s->name, spec->node, spec->op);
    memcpy(unit, q->scale, q->count * sizeof *unit);
    *n = q->count;
    return ASSAY_OK;
}

bool assay_scheme_supports(const assay_scheme *s, const assay_unit_spec *spec, char *why, size_t n)
{
    if (s->record)
        return derive_family_supports(s, spec, why, n);
    assay_unit *u = NULL;
    assay_error err;
    memset(&err, 0, sizeof err);
    if (s->vt->prepare(s, spec, &u, &err)) {
        snprintf(why, n, "%s", err.text);
        return false;
    }
    s->vt->release(u);
    return true;
}
