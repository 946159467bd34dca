/* Small helpers that all tests share. */
#include "test/support/support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void test_assert_ok(assay_status status, const assay_error *err, const char *file, int line)
{
    if (status != ASSAY_OK) {
        print_error("status %d: %s\n", (int)status, err->text);
        _fail(file, line);
    }
}

void test_assert_refused(assay_status status, const assay_error *err, const char *part,
                         const char *file, int line)
{
    if (status == ASSAY_OK) {
        print_error("accepted; expected a refusal with '%s'\n", part);
        _fail(file, line);
    }
    if (err->status != status || !strstr(err->text, part) || strchr(err->text, '\n')) {
        print_error("status %d, '%s'; expected one line with '%s'\n", (int)err->status, err->text,
                    part);
        _fail(file, line);
    }
}

const char *test_shared(const char *relative, char *buf, size_t size)
{
    const char *root = getenv("ASSAY_SHARED");
    snprintf(buf, size, "%s/%s", root ? root : "../shared", relative);
    return access(buf, R_OK) == 0 ? buf : NULL;
}

const char *test_source(const char *relative, char *buf, size_t size)
{
    const char *root = getenv("ASSAY_SOURCE");
    snprintf(buf, size, "%s/%s", root ? root : ".", relative);
    return buf;
}

void test_temp_dir(char *buf, size_t size)
{
    const char *base = getenv("TMPDIR");
    snprintf(buf, size, "%s/assay-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(buf));
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

void test_remove_tree(const char *path)
{
    assert_int_equal(nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

char *test_read_file(const char *path, size_t *length)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t n = 0, got;
    if (!f)
        fail_msg("cannot open %s", path);
    do {
        text = realloc(text, n + 65537);
        assert_non_null(text);
        got = fread(text + n, 1, 65536, f);
        n += got;
    } while (got > 0);
    fclose(f);
    text[n] = '\0';
    if (length)
        *length = n;
    return text;
}

void test_write_file(const char *path, const void *bytes, size_t length)
{
    FILE *f = fopen(path, "wb");
    if (!f)
        fail_msg("cannot write %s", path);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    assert_int_equal(fclose(f), 0);
}

test_rng test_seed(const char *what, uint64_t seed)
{
    const char *given = getenv("ASSAY_TEST_SEED");
    if (given)
        seed = strtoull(given, NULL, 0);
    printf("# %s: ASSAY_TEST_SEED=%llu\n", what, (unsigned long long)seed);
    return (test_rng){seed};
}

uint64_t test_random(test_rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

int64_t test_between(test_rng *r, int64_t lo, int64_t hi)
{
    uint64_t span = (uint64_t)hi - (uint64_t)lo + 1;
    return (int64_t)((uint64_t)lo + (span ? test_random(r) % span : test_random(r)));
}

double test_unit(test_rng *r)
{
    return (double)(test_random(r) >> 11) * 0x1p-53;
}
