/* The findings as a scheme file, text and JSON; see infer.h. */
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "interp/infer/reach.h"
#include "interp/page/json.h"
#include "schemes/record/reads.h"

static const char *const verdicts[] = {"unique", "class", "none"};
/* Fields that rows of a kind cannot reveal. */
static const char *const unseen_multiplier[] = {"scale",
                                                "encoding",
                                                "multiplier_round",
                                                "multiplier_renormalise",
                                                "common_shift",
                                                "below_shift_min",
                                                "beyond_shift_max",
                                                "denormal_round",
                                                "exponent_by_log",
                                                "negative_scale",
                                                "zero_shift",
                                                "shift_sign",
                                                NULL};
static const char *const unseen_scale[] = {"common_shift", "shift_sign", NULL};

static const char *const *unseen(const infer_options *o)
{
    return o->kind == INFER_MULTIPLIER ? unseen_multiplier : unseen_scale;
}

/* ---- the scheme file ---- */

void infer_print_scheme(FILE *f, const void *asked)
{
    const infer_options *o = ((const infer_asked *)asked)->o;
    const infer_result *r = ((const infer_asked *)asked)->r;
    assay_record rec, plain;
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    const char *section = "";
    infer_record_of(&r->found, o->type, o->acc_bits, &rec);
    assay_reads_normalize(&rec); /* fields that nothing reads must not be in a file */
    assay_record_default(&plain);
    fprintf(f, "scheme: found\ndescription: %s of assay infer, from %zu rows\n",
            r->n_against > 0 ? "the nearest" : "a record", r->rows);
    for (size_t i = 0; i < n; i++) {
        char value[128];
        const assay_field_value v = assay_record_get(&rec, &fields[i]);
        const bool shift_sign =
            strcmp(fields[i].name, "shift_sign") == 0 && o->kind == INFER_MULTIPLIER;
        if (!shift_sign && assay_field_equal(&fields[i], v, assay_record_get(&plain, &fields[i])))
            continue;
        if (strcmp(section, fields[i].section) != 0)
            fprintf(f, "%s:\n", section = fields[i].section);
        assay_field_print(&fields[i], v, value, sizeof value);
        fprintf(f, "  %s: %s\n", fields[i].name, value);
    }
}

/* ---- values of a field among the rules that are left ---- */

#define MAX_VALUES 80

typedef struct values {
    char text[MAX_VALUES][64];
    int n;
} values;

static void values_of(const infer_options *o, const infer_result *r, const assay_field *f,
                      values *out)
{
    assay_record rec;
    out->n = 0;
    infer_record_of(&r->found, o->type, o->acc_bits, &rec);
    for (size_t i = 0; i < r->n_left && out->n < MAX_VALUES; i++) {
        char text[64];
        int k = 0;
        rec.rescale = r->left[i];
        assay_field_print(f, assay_record_get(&rec, f), text, sizeof text);
        while (k < out->n && strcmp(out->text[k], text) != 0)
            k++;
        if (k == out->n)
            memcpy(out->text[out->n++], text, sizeof text);
    }
}

/* Whether the field has several values among the rules that are left: *v. */
static bool is_open(const infer_options *o, const infer_result *r, const assay_field *f, values *v)
{
    if (strcmp(f->section, "rescale") != 0)
        return false;
    values_of(o, r, f, v);
    return v->n > 1;
}

/* ---- what a proof rests on ---- */

/* The proofs by their names in interp/infer/README.md. */
static const char *const proof_multiplier[] = {"search", "range", "ends",  "low-bits", "refusal",
                                               "store",  "steps", "boxes", NULL};
static const char *const proof_floats[] = {"search",   "encodings", "drift", "range", "ends",
                                           "low-bits", "refusal",   "store", "sign",  NULL};
static const char *const proof_scale[] = {"search", "encodings", "cores",    "twins",   "limits",
                                          "range",  "ends",      "low-bits", "refusal", "store",
                                          "steps",  "boxes",     NULL};

static const char *const *proof(const infer_options *o, const infer_result *r)
{
    return o->kind == INFER_MULTIPLIER                    ? proof_multiplier
           : r->found.encoding == ASSAY_ENCODE_MULTIPLIER ? proof_scale
                                                          : proof_floats;
}

static void print_unique(FILE *f, const infer_options *o, const infer_result *r)
{
    fprintf(f, "  every record that agrees gives one code on every row of the domain; proof:");
    for (const char *const *name = proof(o, r); *name; name++)
        fprintf(f, " %s", *name);
    if (r->spellings > 1)
        fprintf(f, "\n  %zu spellings of it; one is shown", r->spellings);
    fprintf(f, "\n  if no record describes the device, this says nothing beyond these rows\n");
}

/* ---- text ---- */

static void print_code(FILE *f, int64_t code)
{
    if (code == INT64_MIN)
        fprintf(f, "refused");
    else
        fprintf(f, "%lld", (long long)code);
}

static void print_open(FILE *f, const infer_options *o, const infer_result *r)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    values v;
    if (r->n_left == 0) {
        fprintf(
            f,
            "  the record found agrees with every row; the search ended before it was reached\n");
        return;
    }
    if (r->n_left == 1) {
        fprintf(f, "  one record agrees with every row; that no other does is not proved\n");
        return;
    }
    fprintf(f, "  open, of %zu records that agree with every row:\n", r->n_left);
    for (size_t i = 0; i < n; i++) {
        if (!is_open(o, r, &fields[i], &v))
            continue;
        fprintf(f, "    %-24s", fields[i].name);
        for (int k = 0; k < v.n && k < 6; k++)
            fprintf(f, "%s %s", k ? "," : "", v.text[k]);
        fprintf(f, v.n > 6 ? ", ... (%d)\n" : "\n", v.n);
    }
}

/* Whether the claim is restricted to R within bounds, as it is for rules with a multiplier. */
static bool has_range(const infer_options *o, const infer_result *r)
{
    return o->kind == INFER_SCALE && r->verdict == INFER_UNIQUE &&
           r->found.encoding == ASSAY_ENCODE_MULTIPLIER;
}

static void print_domain(FILE *f, const infer_options *o, const infer_result *r)
{
    char elem[8];
    fprintf(f, "  domain: accumulators of %d bits, zero points of %s", o->acc_bits,
            assay_elem_print(o->type, elem));
    if (o->kind == INFER_MULTIPLIER)
        fprintf(f, ", multipliers %lld..%lld, right shifts %d..%d", (long long)r->multiplier_lo,
                (long long)r->multiplier_hi, r->shift_lo, r->shift_hi);
    else
        fprintf(f, ", scales that the device does not refuse");
    if (has_range(o, r))
        fprintf(f, ", R from 2^%d on, below 2^%d", r->real_lo, r->real_hi);
    fprintf(f, "\n  unobservable by these rows:");
    for (int i = 0; unseen(o)[i]; i++)
        fprintf(f, " %s", unseen(o)[i]);
    fprintf(f, "\n");
}

static void print_none(FILE *f, const infer_options *o, const infer_result *r)
{
    if (r->verdict == INFER_CLASS)
        fprintf(f,
                "  none of the records that were tried agrees, and not all were tried: nothing is "
                "decided%s\n",
                o->kind == INFER_MULTIPLIER ? "; narrow the range of multipliers or of shifts"
                                            : "");
    else
        fprintf(f, "  no record gives these answers\n");
    fprintf(f, "  the nearest is contradicted by %zu rows:\n", r->n_against);
    for (size_t i = 0; i < r->n_against && i < INFER_FIRST_ROWS; i++) {
        fprintf(f, "    %s: device ", r->against[i].row);
        print_code(f, r->against[i].device);
        fprintf(f, ", record ");
        print_code(f, r->against[i].record);
        fprintf(f, "\n");
    }
}

void infer_print_report(FILE *f, const infer_options *o, const infer_result *r, const char *path)
{
    for (int i = 0; i < r->n_presets; i++)
        fprintf(f, "%s%s", i ? ", " : "this is ", r->preset[i]);
    if (r->n_presets > 0)
        fprintf(f, " (presets that agree with every row)\n");
    fprintf(f, "%s, from %zu rows\n", verdicts[r->verdict], r->rows);
    const bool agrees = r->n_against == 0;
    if (!agrees)
        print_none(f, o, r);
    if (r->verdict == INFER_UNIQUE)
        print_unique(f, o, r);
    if (r->verdict == INFER_CLASS && agrees)
        print_open(f, o, r);
    if (r->verdict == INFER_CLASS && agrees && !r->complete)
        fprintf(f, "    and perhaps others: that these are all is not proved\n");
    print_domain(f, o, r);
    if (r->note[0])
        fprintf(f, "  note: %s\n", r->note);
    if (path)
        fprintf(f, "  %s\n", path);
}

/* ---- JSON ---- */

static json_t *json_open(const infer_options *o, const infer_result *r)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    json_t *open = json_object();
    values v;
    for (size_t i = 0; i < n; i++) {
        if (!is_open(o, r, &fields[i], &v))
            continue;
        json_t *list = json_array();
        for (int k = 0; k < v.n; k++)
            page_json_add(&list, json_string(v.text[k]));
        page_json_set(&open, fields[i].name, list);
    }
    return open;
}

static json_t *json_texts(const char *const *text, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n && text[i]; i++)
        page_json_add(&list, json_string(text[i]));
    return list;
}

static json_t *json_domain(const infer_options *o, const infer_result *r)
{
    char elem[8];
    json_t *d = json_object();
    page_json_set(&d, "type", json_string(assay_elem_print(o->type, elem)));
    page_json_set(&d, "acc_bits", json_integer(o->acc_bits));
    page_json_set(&d, "zero_point",
                  json_pack("[I,I]", (json_int_t)assay_elem_min(o->type),
                            (json_int_t)assay_elem_max(o->type)));
    if (has_range(o, r))
        page_json_set(&d, "real_log2", json_pack("[i,i]", r->real_lo, r->real_hi));
    if (o->kind == INFER_SCALE)
        return d;
    page_json_set(&d, "multiplier",
                  json_pack("[I,I]", (json_int_t)r->multiplier_lo, (json_int_t)r->multiplier_hi));
    page_json_set(&d, "shift", json_pack("[i,i]", r->shift_lo, r->shift_hi));
    return d;
}

static json_t *json_code(int64_t code)
{
    return code == INT64_MIN ? json_string("refused") : json_integer(code);
}

static json_t *json_against(const infer_result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_against && i < INFER_FIRST_ROWS; i++)
        page_json_add(&list, json_pack("{s:s,s:o,s:o}", "row", r->against[i].row, "device",
                                       json_code(r->against[i].device), "record",
                                       json_code(r->against[i].record)));
    return list;
}

json_t *infer_json(const infer_options *o, const infer_result *r, const char *path)
{
    json_t *j = json_object();
    page_json_set(&j, "verdict", json_string(verdicts[r->verdict]));
    page_json_set(&j, "presets", json_texts(r->preset, (size_t)r->n_presets));
    page_json_set(&j, "found", path ? json_string(path) : json_null());
    page_json_set(&j, "open", json_open(o, r));
    page_json_set(&j, "unobservable", json_texts(unseen(o), SIZE_MAX));
    page_json_set(&j, "domain", json_domain(o, r));
    page_json_set(&j, "proof", json_texts(proof(o, r), r->verdict == INFER_UNIQUE ? SIZE_MAX : 0));
    page_json_set(&j, "spellings", json_integer((json_int_t)r->spellings));
    page_json_set(&j, "rows", json_integer((json_int_t)r->rows));
    page_json_set(&j, "complete", json_boolean(r->complete));
    page_json_set(&j, "member", json_boolean(r->n_against == 0));
    page_json_set(&j, "contradicted", json_integer((json_int_t)r->n_against));
    page_json_set(&j, "contradictions", json_against(r));
    if (r->note[0])
        page_json_set(&j, "note", json_string(r->note));
    return j;
}
