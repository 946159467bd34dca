/* Measures of nodes; see measure.h. */
#include "interp/report/measure.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const report_measure report_measures[] = {
    {"verdict of blame", REPORT_WORDS, REPORT_BLAME, "verdict"},
    {"verdict of diff", REPORT_WORDS, REPORT_DIFF, "verdict"},
    {"elements that differ, share", REPORT_SHARE, REPORT_DIFF, "mismatches", "elements"},
    {"SQNR of diff, dB", REPORT_DB, REPORT_DIFF, "sqnr_db"},
    {"SQNR of the device, isolated, dB", REPORT_DB, REPORT_BLAME, "isolated_db"},
    {"SQNR of the device, cumulative, dB", REPORT_DB, REPORT_BLAME, "cumulative_db"},
    {"SQNR of quantization, isolated, dB", REPORT_DB, REPORT_SENSITIVITY, "isolated_db"},
    {"SQNR of quantization, cumulative, dB", REPORT_DB, REPORT_SENSITIVITY, "cumulative_db"},
    {"drop if only it is integer, points", REPORT_POINTS, REPORT_SENSITIVITY, "alone_drop"},
    {"contract", REPORT_WORDS, REPORT_BUNDLE, "contract"},
    {"saturated codes, share", REPORT_SHARE, REPORT_BUNDLE, "saturated"},
    {"time, share", REPORT_SHARE, REPORT_RUN, "share"},
};
static_assert(sizeof report_measures / sizeof *report_measures <= REPORT_MAX_MEASURES,
              "one more BY in style.c");
const int report_n_measures = sizeof report_measures / sizeof *report_measures;

static const struct {
    enum report_kind kind; /* of the measure whose word it is */
    const char *word;
    int grade;
} words[] = {{REPORT_BLAME, "clean", 0},
             {REPORT_BLAME, "inherited", 2},
             {REPORT_BLAME, "suspect", 3},
             {REPORT_BLAME, "own", 5},
             {REPORT_DIFF, "same", 0},
             {REPORT_DIFF, "different", 5},
             {REPORT_BUNDLE, "bit-exact", 0},
             {REPORT_BUNDLE, "stated steps", 1},
             {REPORT_BUNDLE, "partly bit-exact", 2},
             {REPORT_BUNDLE, "not claimed bit-exact", 3},
             {REPORT_BUNDLE, "outside", 4}};
enum { WORDS = sizeof words / sizeof *words };

/* Up to these a grade goes: of dB from the other side. */
static const double limits[REPORT_SCALES][REPORT_GRADES - 1] = {
    [REPORT_DB] = {-50, -40, -30, -20, -10},
    [REPORT_SHARE] = {0, 1e-4, 1e-3, 1e-2, 1e-1},
    [REPORT_POINTS] = {0, 0.1, 0.5, 1, 5},
};

static const char *const grade_names[REPORT_SCALES][REPORT_GRADES] = {
    [REPORT_DB] = {"50 dB and more, or equal", "40", "30", "20", "10", "less"},
    [REPORT_SHARE] = {"none", "to 0.01 %", "to 0.1 %", "to 1 %", "to 10 %", "more"},
    [REPORT_POINTS] = {"none", "to 0.1", "to 0.5", "to 1", "to 5", "more"},
};

const char *report_grade_name(int m, int grade)
{
    const report_measure *by = &report_measures[m];
    if (by->scale != REPORT_WORDS)
        return grade_names[by->scale][grade];
    for (int i = 0; i < WORDS; i++)
        if (words[i].kind == by->kind && words[i].grade == grade)
            return words[i].word;
    return NULL;
}

/* ---- what the bundle says ---- */

static bool counts(const json_t *contract, const char *part, const char *op)
{
    return json_integer_value(json_object_get(json_object_get(contract, part), op)) > 0;
}

/* By op: of one whose nodes fall on both sides the manifest does not say which. */
static const char *claim_of(const report_chapter *c, const char *op)
{
    const json_t *contract = json_object_get(c->source.bundle->manifest, "contract");
    const bool exact = counts(contract, "exact", op) || counts(contract, "float_exact", op);
    const bool open = counts(contract, "not_exact", op) || counts(contract, "float", op);
    if (counts(contract, "outside", op))
        return "outside";
    if (counts(contract, "stepped", op))
        return "stated steps";
    return exact && open ? "partly bit-exact"
           : exact       ? "bit-exact"
           : open        ? "not claimed bit-exact"
                         : "";
}

/* An end that is the code of zero is no limit to what a ReLU lets through. */
static bool saturated(const report_chapter *c, const report_node *node, double *share)
{
    const report_look *l = node->look >= 0 ? &c->look[node->look] : NULL;
    const assay_type *t = l ? &l->tensor->type : NULL;
    double scale;
    int32_t zero;
    if (!l || l->elements == 0 || t->elem.kind != ASSAY_KIND_INT ||
        !report_look_scale(t, &scale, &zero))
        return false;
    *share = (double)((zero == assay_elem_min(t->elem) ? 0 : l->low) +
                      (zero == assay_elem_max(t->elem) ? 0 : l->high)) /
             (double)l->elements;
    return true;
}

/* ---- what rows say ---- */

/* The row of the first file of a kind. */
static const json_t *row_of(const report *r, enum report_kind kind, const char *tensor)
{
    for (int i = 0; i < r->n; i++)
        if (r->chapter[i].source.kind == kind)
            return json_object_get(r->chapter[i].source.by_tensor, tensor);
    return NULL;
}

static const char *word_of(const report *r, const report_chapter *c, const report_node *node,
                           const report_measure *m)
{
    return m->kind == REPORT_BUNDLE ? claim_of(c, node->op)
                                    : report_text(row_of(r, m->kind, node->output), m->key);
}

bool report_measure_number(const report *r, const report_chapter *c, const report_node *node, int m,
                           double *number)
{
    const report_measure *by = &report_measures[m];
    if (by->scale == REPORT_WORDS)
        return false;
    if (by->kind == REPORT_BUNDLE)
        return saturated(c, node, number);
    const json_t *row = row_of(r, by->kind, node->output), *value = json_object_get(row, by->key);
    const double whole = by->of ? json_number_value(json_object_get(row, by->of)) : 1;
    if (json_is_null(value) && by->scale == REPORT_DB) {
        *number = INFINITY; /* JSON has no number for it */
        return report_text(row, "verdict")[0] == 0 ||
               strcmp(report_text(row, "verdict"), "not dumped") != 0;
    }
    if (!json_is_number(value) || !(whole > 0))
        return false;
    *number = json_number_value(value) / whole;
    return true;
}

static int grade_of(enum report_scale scale, double number)
{
    const double x = scale == REPORT_DB ? -number : number;
    int grade = 0;
    while (grade < REPORT_GRADES - 1 && !(x <= limits[scale][grade]))
        grade++;
    return grade;
}

int report_measure_of(const report *r, const report_chapter *c, const report_node *node, int m,
                      char *text, size_t size)
{
    const report_measure *by = &report_measures[m];
    double number;

    *text = 0;
    if (by->scale == REPORT_WORDS) {
        snprintf(text, size, "%s", word_of(r, c, node, by));
        for (int i = 0; i < WORDS; i++)
            if (words[i].kind == by->kind && strcmp(words[i].word, text) == 0)
                return words[i].grade;
        return -1;
    }
    if (!report_measure_number(r, c, node, m, &number))
        return -1;
    if (isinf(number))
        snprintf(text, size, "equal");
    else
        snprintf(text, size, by->scale == REPORT_DB ? "%.2f" : "%.4g", number);
    return grade_of(by->scale, number);
}

bool report_measure_says(const report *r, const report_chapter *c, int m)
{
    char text[64];
    for (int i = 0; i < c->n_nodes; i++) {
        report_measure_of(r, c, &c->node[i], m, text, sizeof text);
        if (*text)
            return true;
    }
    return false;
}
