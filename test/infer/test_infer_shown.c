/* Every parameter of a record is read by the op of some probe network, or interp/probe/README.md
 * says that no probe settles it, and why: a new one has to be in one place or the other. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/op.h"
#include "schemes/prepare/asks.h"
#include "schemes/record/data.h"
#include "schemes/scheme.h"

#define PAGE "interp/probe/README.md"

static const char *const probed[] = {
#define PROBE(name, maker, bits) #name,
#include "interp/probe/networks.def"
};

/* The op of a probe network; depthwise is a conv. */
static assay_op op_of(const char *network)
{
    return assay_op_find(strcmp(network, "depthwise") == 0 ? "conv" : network);
}

static bool is_read_under(const assay_record *r, const assay_field *f)
{
    for (size_t i = 0; i < sizeof probed / sizeof *probed; i++)
        if (assay_reads_op(r, op_of(probed[i]), f))
            return true;
    return false;
}

/* By a probed op, under the base record of some preset. */
static bool is_read(const assay_field *f)
{
    const char *const *name = assay_scheme_presets();
    for (int i = 0; name[i]; i++) {
        assay_scheme *s;
        assay_error err;
        assert_int_equal(assay_scheme_open(name[i], &s, &err), ASSAY_OK);
        const bool read = is_read_under(&assay_data(s)->base, f);
        assay_scheme_free(s);
        if (read)
            return true;
    }
    return false;
}

/* A row of the table on the page that names the field, or all of its section. */
static bool is_listed(const char *page, const assay_field *f)
{
    char one[96], all[64];
    snprintf(one, sizeof one, "\n| `%s.%s` | ", f->section, f->name);
    snprintf(all, sizeof all, "\n| `%s.*` | ", f->section);
    return strstr(page, one) || strstr(page, all);
}

/* Read by an op of a probe network, which holds nothing that shows it. */
static bool is_beside(const assay_field *f)
{
    return strcmp(f->section, "blocks") == 0 || strcmp(f->section, "types") == 0 ||
           strcmp(f->name, "zero_shift") == 0 || strcmp(f->name, "nan") == 0 ||
           strcmp(f->name, "floats_in_turn") == 0 || strcmp(f->name, "extra_zero_point") == 0;
}

static void test_fields(void **state)
{
    (void)state;
    size_t n;
    const assay_field *f = assay_record_fields(&n);
    char path[512];
    size_t length;
    char *page = test_read_file(test_source(PAGE, path, sizeof path), &length);
    for (size_t i = 0; i < n; i++) {
        const bool listed = is_listed(page, &f[i]), shown = is_read(&f[i]) && !is_beside(&f[i]);
        if (listed == shown)
            fail_msg("%s.%s: %s", f[i].section, f[i].name,
                     shown ? "listed in " PAGE ", but a probed op reads it"
                           : "no probed op reads it, and " PAGE " does not list it");
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
