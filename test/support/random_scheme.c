/* Random schemes: a preset with some of its parameters drawn anew. */
#include "test/support/random_scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS = 10000, MAX_SECTIONS = 4, MAX_FIELDS = 3, STEPS = 2 };

assay_field_value test_random_choice(test_rng *r, const assay_field *f, int max_steps)
{
    assay_field_value v;
    int choices = 0;
    memset(&v, 0, sizeof v);
    switch (f->kind) {
    case ASSAY_FIELD_INT:
        break;
    case ASSAY_FIELD_BOOL:
        v.number = (int32_t)test_between(r, 0, 1);
        break;
    case ASSAY_FIELD_ENUM:
        while (f->choices[choices])
            choices++;
        v.number = (int32_t)test_between(r, 0, choices - 1);
        break;
    case ASSAY_FIELD_STEPS:
        v.steps.n = (int32_t)test_between(r, 1, max_steps);
        for (int i = 0; i < v.steps.n; i++) {
            v.steps.step[i].bits = i + 1 < v.steps.n ? (int32_t)test_between(r, 1, 31) : 0;
            v.steps.step[i].mode = (int32_t)test_between(r, 0, ASSAY_ROUND_COUNT - 1);
        }
        break;
    }
    return v;
}

/* A value of a field in its range; of widths, often a small one. */
static assay_field_value draw(test_rng *r, const assay_field *f)
{
    assay_field_value v = test_random_choice(r, f, STEPS);
    if (f->kind == ASSAY_FIELD_INT)
        v.number = (int32_t)test_between(r, f->min, f->max < 64 ? f->max : 64);
    return v;
}

/* Fields of one section that the text does not have yet, as "\n  name: value" each. */
static size_t write_section(test_rng *r, const char *section, char *text, size_t used, size_t size)
{
    size_t n_fields;
    const assay_field *fields = assay_record_fields(&n_fields);
    const size_t begin = used;
    used += (size_t)snprintf(text + used, size - used, "%s:\n", section);
    for (int64_t left = test_between(r, 1, MAX_FIELDS); left > 0; left--) {
        const assay_field *f;
        char value[120], line[120];
        do
            f = &fields[test_between(r, 0, (int64_t)n_fields - 1)];
        while (strcmp(f->section, section) != 0);
        snprintf(line, sizeof line, "\n  %s:", f->name);
        if (strstr(text + begin, line))
            continue;
        assay_field_print(f, draw(r, f), value, sizeof value);
        used += (size_t)snprintf(text + used, size - used, "  %s: %s\n", f->name, value);
    }
    return used;
}

/* `extends` a preset, then some fields of some sections. */
static void write_text(test_rng *r, char *text, size_t size)
{
    const char *const *presets = assay_scheme_presets();
    size_t n_fields, used;
    int n_presets = 0;
    const assay_field *fields = assay_record_fields(&n_fields);
    while (presets[n_presets])
        n_presets++;
    used = (size_t)snprintf(text, size, "scheme: drawn\nextends: %s\n",
                            presets[test_between(r, 0, n_presets - 1)]);
    for (int64_t left = test_between(r, 1, MAX_SECTIONS); left > 0; left--) {
        const bool sums = test_between(r, 0, 2) == 0; /* what decides which engine runs */
        const char *section =
            sums ? "accumulator" : fields[test_between(r, 0, (int64_t)n_fields - 1)].section;
        char line[120];
        snprintf(line, sizeof line, "\n%s:", section);
        if (!strstr(text, line)) /* a section is named once */
            used = write_section(r, section, text, used, size);
    }
}

assay_scheme *test_random_scheme(test_rng *r, char *text, size_t size)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        assay_scheme *s;
        assay_error err;
        write_text(r, text, size);
        if (assay_scheme_parse("drawn", text, strlen(text), &s, &err) == ASSAY_OK)
            return s;
    }
    fprintf(stderr, "no valid scheme in %d attempts; the last:\n%s", ATTEMPTS, text);
    abort();
}
