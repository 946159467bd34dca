/* Profiles as the text of their files. */
#include "test/support/profile_text.h"

#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

char *test_profile_text(const assay_profile *p)
{
    char dir[256], path[512];
    size_t length;
    assay_error err;
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/p.yaml", dir);
    assert_ok(profile_save(p, path, &err), &err);
    char *text = test_read_file(path, &length);
    test_remove_tree(dir);
    return text;
}

assay_status test_profile_load(const char *text, assay_profile **p, assay_error *err)
{
    char dir[256], path[512];
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/p.yaml", dir);
    test_write_file(path, text, strlen(text));
    assay_status status = profile_load(path, p, err);
    test_remove_tree(dir);
    return status;
}
