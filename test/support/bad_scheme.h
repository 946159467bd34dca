/* Scheme files that are refused, each with its complaint. */
#ifndef ASSAY_TEST_BAD_SCHEME_H
#define ASSAY_TEST_BAD_SCHEME_H

#include <string.h>

#include "schemes/scheme.h"
#include "test/support/support.h"

typedef struct bad_file {
    const char *text, *message;
} bad_file;

static inline void check_bad_files(const bad_file *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assay_error err = {0};
        assay_scheme *s = NULL;
        const char *text = list[i].text;
        assert_int_not_equal(assay_scheme_parse("f", text, strlen(text), &s, &err), ASSAY_OK);
        assert_null(s);
        if (strcmp(err.text, list[i].message) != 0)
            fail_msg("%s\nexpected: %s\nfound:    %s", text, list[i].message, err.text);
    }
}
#define CHECK_BAD_FILES(list) check_bad_files(list, sizeof list / sizeof *list)

#endif
