/* assay scheme show and new: a scheme as its record, in words, and as tables that it fills itself.
 */
#include <string.h>

#include "interp/assay_arithmetic.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme.h"
#include "interp/cli/scheme_unit.h"
#include "schemes/mac/mac.h"
#include "schemes/record/data.h"

/* A list of a text's lines; of NULL an empty one. */
static json_t *lines_of(const char *text)
{
    json_t *list = json_array();
    for (const char *line = text ? text : ""; *line != '\0';) {
        const size_t n = strcspn(line, "\n");
        page_json_add(&list, json_stringn(line, n));
        line += n + (line[n] == '\n');
    }
    return list;
}

/* All that a scheme file says, and what is said of it. */
static int write_json(const cli_args *a, const assay_scheme *s)
{
    static const char *const key[ASSAY_CONTRACTS] = {"exact", "approximate", "not_modelled"};
    char *text = NULL;
    assay_error err;
    json_t *o = json_object(), *contract = s->record ? json_object() : json_null();

    if (s->record && assay_scheme_json(s, &text, &err)) {
        json_decref(o);
        json_decref(contract);
        return cli_failed(&err);
    }
    for (int i = 0; s->record && i < ASSAY_CONTRACTS; i++)
        page_json_set(&contract, key[i], lines_of(assay_data(s)->contract[i]));
    page_json_set(&o, "name", page_json_text(s->name));
    page_json_set(&o, "description", s->description ? page_json_text(s->description) : json_null());
    page_json_set(&o, "digest", json_string(s->digest));
    page_json_set(&o, "contract", contract);
    page_json_set(&o, "record", text ? json_loads(text, 0, NULL) : json_null());
    page_json_set(&o, "text", page_json_text(s->text));
    assay_free(text);
    return cli_json_write(a, o);
}

static int show(const cli_args *a, const assay_scheme *s)
{
    char *text;
    assay_error err;
    if (assay_scheme_show(s, cli_value(a, "op", NULL), cli_has(a, "wide"), &text, &err))
        return cli_failed(&err);
    printf("%s", text);
    assay_free(text);
    return CLI_OK;
}

int cli_scheme_show(const cli_args *a)
{
    assay_scheme *s;
    assay_error err;
    int status = CLI_OK;

    if (mac_is_unit(a->positional[1]))
        return cli_unit_show(a, a->positional[1]);
    if (assay_scheme_open(a->positional[1], &s, &err))
        return cli_failed(&err);
    if (cli_has(a, "json"))
        status = write_json(a, s);
    if (status == CLI_OK && strcmp(cli_value(a, "json", ""), "-") != 0)
        status = show(a, s);
    assay_scheme_free(s);
    return status;
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
            return cli_trouble(
                "scheme new: a name consists of letters, digits, '-', '_' and '.', not '%s'", name);
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
