/* .npy: what NumPy writes is read, what is written NumPy's way is canonical, and no damaged file
 * is believed. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/text/npy.h"

/* Builds a file of the given version around a header text and payload; returns its size. */
static size_t make_file(unsigned char *file, int version, const char *text, const void *payload,
                        size_t bytes)
{
    size_t length = strlen(text), start = version == 1 ? 10 : 12;
    memcpy(file, "\x93NUMPY", 6);
    memset(file + 6, 0, 6);
    file[6] = (unsigned char)version;
    file[8] = (unsigned char)(length & 255);
    file[9] = (unsigned char)(length >> 8);
    memcpy(file + start, text, length);
    if (bytes)
        memcpy(file + start + length, payload, bytes);
    return start + length + bytes;
}

static void canonical_bytes(void **state)
{
    (void)state;
    /* What numpy.save writes for numpy.arange(6, dtype=int16).reshape(2, 3) - 2. */
    static const char header[] = "\x93NUMPY\x01\x00\x76\x00"
                                 "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }";
    int16_t values[6] = {-2, -1, 0, 1, 2, 3};
    assay_npy a = {ASSAY_NPY_I2, 2, {2, 3}, values};
    unsigned char *file;
    size_t size;
    assert_int_equal(text_npy_write_memory(&a, (void **)&file, &size, NULL), ASSAY_OK);
    assert_int_equal(size, 128 + 12);
    assert_memory_equal(file, header, sizeof header - 1);
    for (size_t i = sizeof header - 1; i < 127; i++)
        assert_int_equal(file[i], ' ');
    assert_int_equal(file[127], '\n');
    assert_memory_equal(file + 128, "\xfe\xff\xff\xff\0\0\1\0\2\0\3\0", 12);
    free(file);
}

static void round_trip_every_type(void **state)
{
    (void)state;
    for (int type = ASSAY_NPY_BOOL; type <= ASSAY_NPY_F8; type++) {
        for (int rank = 0; rank <= ASSAY_NPY_MAX_RANK; rank++) {
            uint64_t data[48];
            assay_npy a = {(assay_npy_type)type, rank, {0}, data}, b;
            for (int i = 0; i < rank; i++)
                a.shape[i] = i == 0 ? 3 : i == rank - 1 ? 2 : i == 3 ? 4 : 1;
            memset(data, type == ASSAY_NPY_BOOL ? 1 : 0x5b, sizeof data);
            unsigned char *file;
            size_t size;
            assert_int_equal(text_npy_write_memory(&a, (void **)&file, &size, NULL), ASSAY_OK);
            assert_int_equal((size - text_npy_bytes(&a)) % 64, 0);
            assert_int_equal(text_npy_read_memory(file, size, "memory", &b, NULL), ASSAY_OK);
            assert_int_equal(b.type, type);
            assert_int_equal(b.rank, rank);
            assert_memory_equal(a.shape, b.shape, sizeof a.shape);
            assert_memory_equal(a.data, b.data, text_npy_bytes(&a));
            text_npy_free(&b);
            free(file);
        }
    }
}

/* What numpy.save writes for a[i, j, k] = 100 i + 10 j + k of shape (2, 3, 2), transposed from
 * another: the first index runs fastest. */
static void fortran_order(void **state)
{
    (void)state;
    static const char text[] = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3, 2), }\n";
    unsigned char file[256], payload[24];
    assay_npy a;
    int n = 0;
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 2; i++, n++) {
                payload[2 * n] = 0;
                payload[2 * n + 1] = (unsigned char)(100 * i + 10 * j + k);
            }
    const size_t size = make_file(file, 1, text, payload, sizeof payload);
    assert_int_equal(text_npy_read_memory(file, size, "memory", &a, NULL), ASSAY_OK);
    assert_int_equal(a.shape[1], 3);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 2; k++)
                assert_int_equal(((int16_t *)a.data)[(i * 3 + j) * 2 + k], 100 * i + 10 * j + k);
    text_npy_free(&a);
}

static void empty_array(void **state)
{
    (void)state;
    assay_npy a = {ASSAY_NPY_F4, 3, {4, 0, 7}, NULL}, b;
    void *file;
    size_t size;
    assert_int_equal(text_npy_write_memory(&a, &file, &size, NULL), ASSAY_OK);
    assert_int_equal(text_npy_read_memory(file, size, "memory", &b, NULL), ASSAY_OK);
    assert_int_equal(text_npy_count(&b), 0);
    assert_int_equal(b.shape[2], 7);
    text_npy_free(&b);
    free(file);
}

static void both_byte_orders_and_versions(void **state)
{
    (void)state;
    unsigned char file[512];
    for (int version = 1; version <= 3; version++) {
        assay_npy a;
        size_t size =
            make_file(file, version, "{'shape': (2,), 'fortran_order': False, 'descr': '>i4'}\n",
                      "\x01\x02\x03\x04\xff\xff\xff\xfe", 8);
        assert_int_equal(text_npy_read_memory(file, size, "memory", &a, NULL), ASSAY_OK);
        assert_int_equal(((int32_t *)a.data)[0], 0x01020304);
        assert_int_equal(((int32_t *)a.data)[1], -2);
        text_npy_free(&a);
        size = make_file(file, version,
                         "{\"descr\": \"<u2\", \"fortran_order\": False, "
                         "\"shape\": ()}",
                         "\x34\x12", 2);
        assert_int_equal(text_npy_read_memory(file, size, "memory", &a, NULL), ASSAY_OK);
        assert_int_equal(a.rank, 0);
        assert_int_equal(((uint16_t *)a.data)[0], 0x1234);
        text_npy_free(&a);
    }
}

static void half_floats(void **state)
{
    (void)state;
    static const struct {
        uint16_t bits;
        double value;
    } cases[] = {{0x0000, 0},       {0x3c00, 1},         {0xc000, -2},      {0x7bff, 65504},
                 {0x0001, 0x1p-24}, {0x03ff, 0x3ffp-24}, {0x0400, 0x1p-14}, {0x3555, 0x555p-12}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(text_npy_get(&cases[i].bits, ASSAY_NPY_F2, 0) == cases[i].value);
    uint16_t infinity = 0xfc00, nan = 0x7e00;
    assert_true(text_npy_get(&infinity, ASSAY_NPY_F2, 0) == -(double)INFINITY);
    assert_true(isnan(text_npy_get(&nan, ASSAY_NPY_F2, 0)));
}

static void damaged_headers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        assay_status status;
        const char *says;
    } cases[] = {
        {"", ASSAY_ERR_INPUT, "'{'"},
        {"{'descr': '<f4', 'fortran_order': False}", ASSAY_ERR_INPUT, "shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", ASSAY_ERR_INPUT, "nothing"},
        {"{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}", ASSAY_ERR_INPUT, "once"},
        {"{'descr': '<f4', 'order': False, 'shape': (1,)}", ASSAY_ERR_INPUT, "'order'"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", ASSAY_ERR_INPUT, "True or False"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", ASSAY_ERR_UNSUPPORTED, "<c8"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", ASSAY_ERR_UNSUPPORTED, "|O"},
        {"{'descr': '|i4', 'fortran_order': False, 'shape': (1,)}", ASSAY_ERR_UNSUPPORTED, "|i4"},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", ASSAY_ERR_UNSUPPORTED, "''"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", ASSAY_ERR_INPUT,
         "simple element type"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", ASSAY_ERR_INPUT, "dimension"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}", ASSAY_ERR_INPUT, "','"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1", ASSAY_ERR_INPUT, "','"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", ASSAY_ERR_INPUT, "a shape"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999)}",
         ASSAY_ERR_LIMIT, "2^40"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
         ASSAY_ERR_INPUT, "digits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}",
         ASSAY_ERR_UNSUPPORTED, "dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", ASSAY_ERR_INPUT,
         "promises 8 bytes of data, the file has 4"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", ASSAY_ERR_INPUT,
         "promises 0 bytes of data, the file has 4"},
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}", ASSAY_ERR_INPUT,
         "element 2 of a bool array is 7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned char file[512];
        assay_npy a;
        assay_error err = {0};
        size_t size = make_file(file, 1, cases[i].text, "\0\1\7\0", 4);
        assert_int_equal(text_npy_read_memory(file, size, "bad.npy", &a, &err), cases[i].status);
        if (!strstr(err.text, cases[i].says) || strncmp(err.text, "bad.npy: ", 9) != 0)
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].says);
        assert_null(a.data);
    }
}

static void every_truncation_is_refused(void **state)
{
    (void)state;
    float values[5] = {1, 2, 3, 4, 5};
    assay_npy a = {ASSAY_NPY_F4, 1, {5}, values}, b;
    unsigned char *file;
    size_t size;
    assert_int_equal(text_npy_write_memory(&a, (void **)&file, &size, NULL), ASSAY_OK);
    for (size_t n = 0; n < size; n++) {
        void *exact = malloc(n + !n); /* so that a sanitizer sees any read beyond */
        memcpy(exact, file, n);
        assert_int_not_equal(text_npy_read_memory(exact, n, "memory", &b, NULL), ASSAY_OK);
        free(exact);
    }
    free(file);
}

static void random_damage_never_lies_about_size(void **state)
{
    (void)state;
    test_rng rng = test_seed("damaged npy", 20260104);
    unsigned char good[256], file[256];
    size_t size = make_file(good, 1, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)}",
                            "\0\1\2\3\4\5\6\7\10\11\12\13", 12);
    for (int round = 0; round < 20000; round++) {
        assay_npy a;
        memcpy(file, good, size);
        for (int k = 0; k <= round % 3; k++)
            file[test_between(&rng, 0, (int64_t)size - 1)] = (unsigned char)test_random(&rng);
        if (text_npy_read_memory(file, size, "memory", &a, NULL) == ASSAY_OK) {
            assert_true(text_npy_bytes(&a) <= size);
            text_npy_free(&a);
        } else {
            assert_null(a.data);
        }
    }
}

static void files(void **state)
{
    (void)state;
    char path[] = "/tmp/assay_npy_XXXXXX";
    assay_error err;
    int64_t values[3] = {INT64_MIN, 0, INT64_MAX};
    assay_npy a = {ASSAY_NPY_I8, 2, {1, 3}, values}, b;
    close(mkstemp(path));
    assert_int_equal(text_npy_write_file(path, &a, &err), ASSAY_OK);
    assert_int_equal(text_npy_read_file(path, &b, &err), ASSAY_OK);
    assert_memory_equal(b.data, values, sizeof values);
    text_npy_free(&b);
    remove(path);
    assert_int_equal(text_npy_read_file(path, &b, &err), ASSAY_ERR_IO);
    assert_non_null(strstr(err.text, path));
    assert_int_equal(text_npy_read_file("/", &b, &err), ASSAY_ERR_IO);
    assert_int_equal(text_npy_write_file("/nonexistent/a.npy", &a, &err), ASSAY_ERR_IO);
    assert_non_null(strstr(err.text, "/nonexistent/a.npy"));
}

static void full_disk(void **state)
{
    (void)state;
    int64_t values[3] = {1, 2, 3};
    assay_npy a = {ASSAY_NPY_I8, 1, {3}, values};
    char path[] = "/tmp/assay_full_XXXXXX";
    assay_error err;
    if (access("/dev/full", W_OK) != 0)
        skip();
    /* A link, so that what is removed on failure is the link and not the device. */
    close(mkstemp(path));
    remove(path);
    assert_int_equal(symlink("/dev/full", path), 0);
    assert_int_equal(text_npy_write_file(path, &a, &err), ASSAY_ERR_IO);
    assert_non_null(strstr(err.text, "cannot write"));
    assert_int_equal(access(path, F_OK), 0); /* what stood there stays */
    assert_int_equal(text_npy_put(path, &a, &err), ASSAY_ERR_IO);
    assert_non_null(strstr(err.text, "cannot write"));
    assert_int_not_equal(access(path, F_OK), 0); /* what was begun goes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_bytes),
        cmocka_unit_test(round_trip_every_type),
        cmocka_unit_test(fortran_order),
        cmocka_unit_test(empty_array),
        cmocka_unit_test(both_byte_orders_and_versions),
        cmocka_unit_test(half_floats),
        cmocka_unit_test(damaged_headers),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(random_damage_never_lies_about_size),
        cmocka_unit_test(files),
        cmocka_unit_test(full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
