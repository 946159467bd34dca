/* Small helpers that all tests share. Include this first: it brings cmocka in. */
#ifndef ASSAY_TEST_SUPPORT_H
#define ASSAY_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "interp/assay.h"

/* Fails the test with the error's text unless status is ASSAY_OK. */
#define assert_ok(status, err) test_assert_ok((status), (err), __FILE__, __LINE__)
void test_assert_ok(assay_status status, const assay_error *err, const char *file, int line);
/* The call failed, and its one line contains `part`. */
#define assert_refused(status, err, part)                                                          \
    test_assert_refused((status), (err), (part), __FILE__, __LINE__)
void test_assert_refused(assay_status status, const assay_error *err, const char *part,
                         const char *file, int line);

/* ---- paths. All returned strings are static to the caller's buffer. ---- */
/* Path below the conformance data (ASSAY_SHARED), or NULL when it is not there: then the test calls
 * skip(). */
const char *test_shared(const char *relative, char *buf, size_t size);
/* Path below the source tree. */
const char *test_source(const char *relative, char *buf, size_t size);

/* A fresh directory; test_remove_tree takes it and what is in it away. */
void test_temp_dir(char *buf, size_t size);
void test_remove_tree(const char *path);

/* Whole file, NUL-terminated beyond its length; fails the test when unreadable. Free it. */
char *test_read_file(const char *path, size_t *length);
void test_write_file(const char *path, const void *bytes, size_t length);

/* ---- random numbers: splitmix64 (Steele, Lea, Flood 2014) ---- */
typedef struct test_rng {
    uint64_t state;
} test_rng;

/* Seeds from the environment's ASSAY_TEST_SEED when set, else from `seed`; prints it as a TAP
 * comment, so that a failure can be run again. */
test_rng test_seed(const char *what, uint64_t seed);
uint64_t test_random(test_rng *r);
/* Uniform in lo..hi, both included. */
int64_t test_between(test_rng *r, int64_t lo, int64_t hi);
/* Uniform in [0, 1). */
double test_unit(test_rng *r);

#endif
