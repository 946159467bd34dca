/* assay scheme show and new: a scheme as its record, in words, and as tables that it fills itself.
 */
#include <string.h>

#include "interp/cli/scheme.h"
#include "interp/cli/scheme_unit.h"
#include "schemes/explain/explain.h"
#include "schemes/mac/mac.h"
#include "schemes/record/data.h"

static void print_indented(const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t n = strcspn(line, "\n");
        printf("  %.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static void print_contract(const assay_scheme_data *d)
{
    static const char *const names[] = {"exact", "approximate", "not modelled"};
    for (int i = 0; i < ASSAY_CONTRACTS; i++)
        if (d->contract[i]) {
            printf("\n%s:\n", names[i]);
            print_indented(d->contract[i]);
        }
}

int cli_scheme_show(const cli_args *a)
{
    assay_scheme *s;
    assay_error err;

    if (mac_is_unit(a->positional[1]))
        return cli_unit_show(a->positional[1]);
    if (assay_scheme_open(a->positional[1], &s, &err))
        return cli_failed(&err);
    if (!s->record) {
        if (s->mac)
            printf("digest %s\n%s", s->digest, s->text);
        else
            printf("%s: a plugin; its arithmetic is code, not a record\n%s", s->name, s->text);
        assay_scheme_free(s);
        return CLI_OK;
    }
    const assay_scheme_data *d = assay_data(s);
    const char *op = cli_value(a, "op", "conv");
    bool wide = cli_has(a, "wide") || assay_scheme_is_wide(s);
    assay_record rec;
    assay_single single;
    const unsigned form = assay_scheme_own_form(s, wide);
    if (assay_single_start(&single, s, op, form, &err)) {
        assay_scheme_free(s);
        return cli_failed(&err);
    }
    assay_effective_record(d, op, "", form, &rec);
    printf("%s%s%s\ndigest %s\n", s->name, s->description ? ": " : "",
           s->description ? s->description : "", s->digest);
    print_contract(d);
    if (d->n_from > 1)
        printf("\ninherited:\n");
    assay_explain_inheritance(stdout, d);
    printf("\nthe accumulator (%s%s):\n", op, wide ? ", wide codes" : "");
    assay_explain_sums(stdout, &rec);
    printf("\na rescale (%s%s):\n", op, wide ? ", wide codes" : "");
    assay_explain_formula(stdout, &rec);
    if (rec.rescale.encoding == ASSAY_ENCODE_MULTIPLIER ||
        rec.rescale.encoding == ASSAY_ENCODE_SHIFT || rec.rescale.encoding == ASSAY_ENCODE_GLOW)
        printf("  Shifts are written %s.\n", assay_explain_shift_sign(&rec.rescale));
    printf("\nrounding, as the code does it ('.': no accumulator has this value; '-': refused):\n");
    assay_status status = assay_explain_rounding(stdout, s, op, form, &err);
    if (!status) {
        printf("\nexamples, as the code does them:\n");
        status = assay_explain_examples(stdout, s, op, form, &err);
    }
    if (!status)
        printf("\nrecord:\n%s", s->text);
    assay_scheme_free(s);
    return !status ? CLI_OK : cli_failed(&err);
}

static void print_choices(const assay_field *f)
{
    if (f->kind == ASSAY_FIELD_INT) {
        printf("%d..%d", f->min, f->max);
        return;
    }
    for (int i = 0; f->choices[i]; i++)
        printf("%s%s", i > 0 ? " | " : "", f->choices[i]);
}

int cli_scheme_new(const cli_args *a)
{
    const char *name = a->n_positional > 1 ? a->positional[1] : "my-npu";
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    assay_record rec;

    for (const char *c = name; *c != '\0'; c++)
        if (!(*c == '-' || *c == '_' || *c == '.' || (*c >= '0' && *c <= '9') ||
              (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z')))
            return cli_trouble("scheme new: a name has letters, digits, '-', '_' and '.', not '%s'",
                               name);
    if (cli_has(a, "unit"))
        return cli_unit_new(name);
    assay_record_default(&rec);
    printf("# A target's arithmetic, every parameter at its default; keep what differs.\n"
           "# Instead of repeating, `extends: PRESET` starts from another scheme.\n"
           "scheme: %s\ndescription: one line for `assay scheme list`\n"
           "contract:\n  exact:\n    - what is bit-exact\n  approximate:\n    - what is not\n"
           "  not_modelled:\n    - what is left out\n",
           name);
    for (size_t i = 0; i < n; i++) {
        char value[128];
        if (i == 0 || strcmp(fields[i].section, fields[i - 1].section) != 0)
            printf("\n# %s\n%s:\n", assay_record_section_doc(fields[i].section), fields[i].section);
        assay_field_print(&fields[i], assay_record_get(&rec, &fields[i]), value, sizeof value);
        printf("  # %s\n  # (", fields[i].doc);
        print_choices(&fields[i]);
        printf(")\n  %s: %s\n", fields[i].name, value);
    }
    printf("\n# Ops that the target does not compute in integers:\n"
           "# float_ops: [softmax, layer_norm]\n"
           "# Other arithmetic for wide codes, one op, one node:\n"
           "# wide: {accumulator: {bits: 64}}\n"
           "# ops: {reduce_mean: {rescale: {round: [half-up]}}}\n"
           "# nodes: {conv1: {given: {multiplier: [1073741824], shift: [-3]}}}\n");
    return CLI_OK;
}
