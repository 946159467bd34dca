/* Shards of an evaluation: what they are parts of; see shard.h. */
#include "interp/api/shard.h"

#include <stdlib.h>

#include "graph/text/text.h"
#include "interp/api/options.h"
#include "interp/golden/contract.h"
#include "interp/golden/digest.h"
#include "interp/page/json.h"

static assay_status put_nowhere(void *user, const assay_graph *g, const assay_text_array *a,
                                const char *file, const char *digest, assay_error *err)
{
    (void)user, (void)g, (void)a, (void)file, (void)digest, (void)err;
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

static void print_contract(FILE *f, const void *what)
{
    golden_contract_print(what, f);
}

assay_status assay_shard_contract(const assay_program *p, char **text, assay_error *err)
{
    return assay_text_of(print_contract, p, text, err);
}

json_t *assay_shard_describe(const assay_shard_of *s)
{
    const assay_program *p = s->program;
    char *contract;
    const bool whole = !assay_shard_contract(p, &contract, NULL);
    json_t *o = json_object();

    page_json_set(&o, "scheme", page_json_text(p->scheme ? p->scheme->name : "float"));
    page_json_set(&o, "record", json_string(p->scheme ? p->scheme->digest : ""));
    page_json_set(&o, "network", network_digest(p->graph));
    page_json_set(&o, "twin", s->twin ? network_digest(s->twin) : json_null());
    page_json_set(&o, "dataset", page_json_text(s->dataset));
    page_json_set(&o, "preprocessing", page_json_text(s->preprocessing));
    page_json_set(&o, "first", json_integer(s->first));
    page_json_set(&o, "count", json_integer(s->count));
    page_json_set(&o, "labelled", json_boolean(s->labelled));
    page_json_set(&o, "pixels", json_boolean(s->maps));
    page_json_set(&o, "by_agreement", json_boolean(s->samples->by_agreement));
    page_json_set(&o, "class_axis", json_integer(s->samples->class_axis - 1));
    page_json_set(&o, "ignore_label", json_integer(s->ignored));
    page_json_set(&o, "contract", whole ? page_json_text(contract) : NULL);
    free(contract);
    return o;
}

assay_status assay_shard_read(const assay_part_file *f, assay_shard_said *out, assay_error *err)
{
    const json_t *of = f->of;

    *out = (assay_shard_said){
        .scheme = json_string_value(json_object_get(of, "scheme")),
        .contract = json_string_value(json_object_get(of, "contract")),
        .first = json_integer_value(json_object_get(of, "first")),
        .count = json_integer_value(json_object_get(of, "count")),
        .labelled = json_is_true(json_object_get(of, "labelled")),
        .by_agreement = json_is_true(json_object_get(of, "by_agreement")),
        .judge = {.maps = json_is_true(json_object_get(of, "pixels")), .tokens = f->part.tokens}};
    return out->scheme && out->contract
               ? ASSAY_OK
               : assay_fail(err, ASSAY_ERR_INPUT,
                            "%s: not a shard of assay eval, or a damaged one: \"of\" does not have "
                            "the expected content",
                            f->path);
}
