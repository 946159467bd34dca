/* Every allocation of rendering a tensor may fail: what comes out is the whole file, or an error.
 */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/buf.h"
#include "interp/golden/bundle.h"
#include "test/support/alloc_fails.h"

/* 20,000 codes, more than any stream holds back, in a form. */
static assay_status print_dump(enum assay_dump_format format, assay_buf *out, assay_error *err)
{
    static const signed char codes[20000] = {1, -2, 3};
    const assay_type type = {.elem = {ASSAY_KIND_INT, 8, true}, .rank = 1, .dim = {20000}};
    unsigned char *bytes;
    size_t size = 0;
    assay_status status = golden_dump_render(format, "x", 0, &type, codes, &bytes, &size, err);
    assert_true((bytes == NULL) == (status != ASSAY_OK));
    if (!status)
        *out = (assay_buf){.text = (char *)bytes, .length = size};
    return status;
}

/* Fails the first allocation, then the second, ... until all succeed. */
static void fail_every(enum assay_dump_format format)
{
    assay_buf whole = {0};
    assay_error err;
    bool all = false;
    int failures = 0;
    assert_ok(print_dump(format, &whole, &err), &err);
    for (long n = 1; !all; n++) {
        assay_buf text = {0};
        alloc_countdown = n;
        const assay_status status = print_dump(format, &text, &err);
        all = alloc_countdown > 0;
        alloc_countdown = 0;
        failures += status != ASSAY_OK;
        if (status != ASSAY_OK) {
            assert_int_equal(status, ASSAY_ERR_MEMORY);
        } else {
            assert_int_equal(text.length, whole.length);
            assert_memory_equal(text.text, whole.text, whole.length);
        }
        assay_buf_free(&text);
    }
    assert_true(failures > 0);
    assay_buf_free(&whole);
}

static void test_dumps(void **state)
{
    (void)state;
    fail_every(ASSAY_DUMP_RAW);
    fail_every(ASSAY_DUMP_HEX);
    fail_every(ASSAY_DUMP_C);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dumps)};
    return cmocka_run_group_tests_name("dump_memory", tests, NULL, NULL);
}
