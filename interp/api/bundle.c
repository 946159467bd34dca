/* Golden bundles: written sample by sample, read back tensor by tensor, verified. */
#include <string.h>

#include "interp/api/options.h"
#include "interp/api/program.h"
#include "interp/golden/bundle.h"

/* ---- writing ---- */

static assay_status parse_formats(const char *text, unsigned *forms, assay_error *err)
{
    while (text && *text) {
        const size_t n = strcspn(text, ",");
        const unsigned form = golden_dump_find(text, n);
        if (!form)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "formats takes a list of " ASSAY_DUMP_NAMES "not '%.*s'", (int)n,
                              text);
        *forms |= form;
        text += n + (text[n] == ',');
    }
    return ASSAY_OK;
}

assay_status assay_golden_begin(const assay_program *p, const assay_golden_options *options,
                                assay_bundle_writer **out, assay_error *err)
{
    assay_golden_options o;
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);
    assay_bundle_options own = {.dir = o.dir,
                                .replace = o.replace,
                                .digests_only = o.digests_only,
                                .accumulators = o.accumulators,
                                .samples = o.samples > 0 ? o.samples : 1,
                                .sequence = o.sequence && o.samples > 1,
                                .hex_bits = o.hex_bits,
                                .model_file = o.model ? o.model : p->graph->name,
                                .preprocessing = o.preprocessing};

    *out = NULL;
    if (!status && !o.dir)
        status = assay_fail(err, ASSAY_ERR_INPUT, "a bundle needs a folder: dir");
    if (!status)
        status = parse_formats(o.formats, &own.forms, err);
    if (!status && o.hex_bits && !(own.forms & ASSAY_DUMP_HEX))
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "hex_bits applies to the format hex, which is not asked for");
    return status ? status : golden_bundle_begin(&own, p, out, err);
}

assay_status assay_golden_add(assay_bundle_writer *w, assay_run *r, int64_t sample,
                              assay_error *err)
{
    return golden_bundle_sample(w, r, sample, NULL, err);
}

assay_status assay_golden_commit(assay_bundle_writer *w, char *digest, assay_error *err)
{
    return golden_bundle_commit(w, digest, err);
}

void assay_golden_abort(assay_bundle_writer *w)
{
    golden_bundle_abort(w);
}

/* ---- reading ---- */

assay_status assay_bundle_open(const char *dir, assay_bundle **out, assay_error *err)
{
    *out = NULL;
    return golden_bundle_open(dir, out, err);
}

void assay_bundle_close(assay_bundle *b)
{
    golden_bundle_free(b);
}

assay_status assay_bundle_manifest(const assay_bundle *b, char **json, assay_error *err)
{
    return assay_text_of_json(json_incref(b->manifest), json, err);
}

int assay_bundle_count(const assay_bundle *b)
{
    return b->n_tensors;
}

static assay_status check_index(const assay_bundle *b, int i, assay_error *err)
{
    return i >= 0 && i < b->n_tensors
               ? ASSAY_OK
               : assay_fail(err, ASSAY_ERR_INPUT, "%s: tensor %d of %d", b->dir, i, b->n_tensors);
}

assay_status assay_bundle_get(const assay_bundle *b, int i, assay_stored *out, assay_error *err)
{
    const assay_status status = check_index(b, i, err);
    if (status)
        return status;
    const assay_bundle_tensor *t = &b->tensor[i];
    *out = (assay_stored){.sample = t->sample,
                          .index = t->index,
                          .name = t->name,
                          .op = t->op,
                          .digest = t->digest,
                          .type = &t->type,
                          .has_data = golden_bundle_has_elements(b, i),
                          .has_sums = t->sums_file};
    return ASSAY_OK;
}

assay_status assay_bundle_read(const assay_bundle *b, int i, bool sums, void **data,
                               assay_error *err)
{
    assay_type type;
    const assay_status status = check_index(b, i, err);

    *data = NULL;
    if (status)
        return status;
    if (!(sums ? b->tensor[i].sums_file != NULL : golden_bundle_has_elements(b, i)))
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: no %s of '%.200s' are in the bundle", b->dir,
                          sums ? "accumulators" : "elements", b->tensor[i].name);
    return sums ? golden_bundle_read_sums(b, i, &type, data, err)
                : golden_bundle_read(b, i, data, err);
}

/* ---- verifying ---- */

assay_status assay_verify(const char *dir, const assay_engine_options *replay,
                          void (*fault)(void *user, const char *line), void *user,
                          assay_verified *out, assay_error *err)
{
    assay_engine_options o;
    assay_program_options own;
    assay_verify_result r;
    assay_status status = assay_engine_take(replay, &o, &own, err);

    if (!status)
        status = golden_bundle_verify(dir, replay ? &own : NULL, fault, user, &r, err);
    if (!status)
        *out = (assay_verified){.tensors = r.tensors,
                                .files_bad = r.files_bad,
                                .replay_bad = r.replay_bad,
                                .entries_bad = r.entries_bad};
    return status;
}
