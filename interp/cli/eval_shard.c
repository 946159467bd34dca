/* Shards of an evaluation; see eval.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/cli/eval.h"
#include "interp/golden/digest.h"
#include "interp/page/json.h"

static assay_status put_nowhere(void *user, const assay_graph *g, int value, const char *file,
                                const char *digest, assay_error *err)
{
    (void)user, (void)g, (void)value, (void)file, (void)digest, (void)err;
    return ASSAY_OK;
}

/* Digest of a network as text, in which large constants stand as the digests of their elements. */
static json_t *network_digest(const assay_graph *g)
{
    const assay_text_options options = {
        .inline_limit = ASSAY_TEXT_INLINE, .named_by_digest = true, .put = put_nowhere};
    assay_buf text = {0};
    char hex[33];
    const assay_status status = text_graph_print_with(g, &options, &text, NULL);

    if (!status)
        golden_digest_bytes(text.text, text.length, hex);
    free(text.text);
    return status ? NULL : json_string(hex);
}

/* What all shards of an evaluation have in common. */
static json_t *describe(const cli_evaluation *e, const cli_session *s, const assay_graph *twin,
                        const cli_data *d, const assay_samples *whole)
{
    json_t *o = json_object();
    char *names = cli_data_names(d);

    page_json_set(&o, "scheme", page_json_text(e->name));
    page_json_set(&o, "record", json_string(s->scheme ? s->scheme->digest : ""));
    page_json_set(&o, "network", network_digest(s->graph));
    page_json_set(&o, "twin", twin ? network_digest(twin) : json_null());
    page_json_set(&o, "dataset", names ? page_json_text(names) : NULL);
    page_json_set(&o, "preprocessing", page_json_text(d->preprocessing));
    page_json_set(&o, "first", json_integer(whole->first));
    page_json_set(&o, "count", json_integer(whole->count));
    page_json_set(&o, "labelled", json_boolean(e->labelled));
    page_json_set(&o, "pixels", json_boolean(e->judge.maps));
    page_json_set(&o, "by_agreement", json_boolean(e->by_agreement));
    page_json_set(&o, "class_axis", json_integer(whole->class_axis - 1));
    page_json_set(&o, "ignore_label", json_integer(d->ignored));
    page_json_set(&o, "contract", page_json_text(e->contract));
    free(names);
    return o;
}

int cli_shard_save(const cli_evaluation *e, const cli_session *s, const assay_graph *twin,
                   const cli_data *d, const assay_samples *whole, const assay_part *part)
{
    const assay_part_file f = {.path = cli_value(e->args, "output", NULL),
                               .of = describe(e, s, twin, d, whole),
                               .part = *part};
    assay_error err;
    const assay_status status = measure_part_save(&f, &err);

    json_decref(f.of);
    if (status)
        return cli_failed(&err);
    fprintf(cli_notes(f.path),
            "%s: samples %" PRId64 " to %" PRId64 " of [%" PRId64 ", %" PRId64 ")\n", f.path,
            part->first, part->first + part->count - 1, whole->first, whole->first + whole->count);
    return CLI_OK;
}
