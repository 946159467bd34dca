/* Bundles and texts of networks with many blocks of weights: their scales, zero points and
 * multipliers are in files. As lists, which earlier versions wrote, they are read, verified and
 * compared all the same. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/slurp.h"
#include "graph/files/files.h"
#include "graph/text/text.h"
#include "interp/golden/bundle.h"
#include "interp/golden/diff.h"
#include "schemes/scheme.h"
#include "test/support/folder.h"

enum { OUT = 40, IN = 64, BLOCK = 8, BLOCKS = OUT * IN / BLOCK };

/* "[first,...]" of n integers from lo to hi. */
static void add_list(assay_buf *b, test_rng *rng, int n, int lo, int hi)
{
    for (int i = 0; i < n; i++)
        assay_buf_printf(b, "%s%d", i ? "," : "[", (int)test_between(rng, lo, hi));
    assay_buf_printf(b, "]");
}

/* x -> fc with zero points from 0 to `zeros`. */
static assay_graph *network(int zeros)
{
    test_rng rng = test_seed("bundle_blocks", 18);
    assay_graph *g;
    assay_error err;
    assay_buf b = {0};
    assay_buf_printf(&b,
                     "graph g { input x: i8[1,%d] q(0.5,0)\n const w: i4[%d,%d] q(axis=1,block=%d,",
                     IN, OUT, IN, BLOCK);
    add_list(&b, &rng, BLOCKS, 1, 99);
    assay_buf_printf(&b, ",");
    add_list(&b, &rng, BLOCKS, 0, zeros);
    assay_buf_printf(&b, ") = ");
    add_list(&b, &rng, OUT * IN, -8, 7);
    assay_buf_printf(&b, "\n y: i8[1,%d] q(4096,0) = fc(x, w)\n output y }", OUT);
    assert_ok(assay_buf_status(&b, &err), &err);
    assert_ok(text_graph_parse(b.text, b.length, "test", NULL, &g, &err), &err);
    assay_buf_free(&b);
    return g;
}

/* What stands for lists per block. */
enum kept { FILES, LISTS, DIGESTS };

static void write_bundle(const assay_graph *g, const char *dir, enum kept kept, char digest[33])
{
    static const char text[] =
        "{scheme: t, types: {weight_zero_point: any}, blocks: {kind: multiplier, size: 8}}";
    const assay_bundle_options o = {.dir = dir,
                                    .replace = true,
                                    .samples = 1,
                                    .lists = kept == LISTS,
                                    .digests_only = kept == DIGESTS,
                                    .forms = kept == DIGESTS ? 0 : ASSAY_DUMP_HEX};
    assay_scheme *scheme;
    assay_program *p;
    assay_run *run;
    assay_bundle_writer *w;
    assay_error err;
    assert_ok(assay_scheme_parse("t", text, strlen(text), &scheme, &err), &err);
    assert_ok(assay_program_make(g, scheme, true, &p, &err), &err);
    assert_ok(assay_run_new(p, &run, &err), &err);
    for (int i = 0; i < IN; i++)
        ((int8_t *)assay_run_data(run, g->input[0]))[i] = (int8_t)(i * 7 % 101 - 50);
    assert_ok(golden_bundle_begin(&o, p, &w, &err), &err);
    assert_ok(golden_bundle_sample(w, run, 0, NULL, &err), &err);
    assert_ok(golden_bundle_commit(w, digest, &err), &err);
    assay_run_free(run);
    assay_program_free(p);
    assay_scheme_free(scheme);
}

static int64_t faults(const char *dir)
{
    const assay_program_options engine = {.keep_all = true};
    assay_verify_result r;
    assay_error err;
    assert_ok(golden_bundle_verify(dir, &engine, NULL, NULL, &r, &err), &err);
    return r.files_bad + r.replay_bad + r.entries_bad;
}

static int differences(const char *a, const char *b)
{
    const assay_diff_options o = {0};
    assay_diff *d;
    assay_error err;
    assert_ok(golden_diff_paths(a, b, &o, &d, &err), &err);
    const int n = d->n_failed;
    golden_diff_free(d);
    return n;
}

static size_t manifest_size(const char *dir)
{
    char path[200];
    snprintf(path, sizeof path, "%.100s/manifest.json", dir);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    const long n = ftell(f);
    fclose(f);
    return (size_t)n;
}

static void files_and_lists(void **state)
{
    char files[128], lists[128], digest[2][33];
    for (int zeros = 0; zeros < 3; zeros += 2) {
        assay_graph *g = network(zeros);
        write_bundle(g, folder_path(state, "files", files), FILES, digest[0]);
        write_bundle(g, folder_path(state, "lists", lists), LISTS, digest[1]);
        assert_string_equal(digest[0], digest[1]);
        assert_int_equal(faults(files), 0);
        assert_int_equal(faults(lists), 0);
        assert_int_equal(differences(files, lists), 0);
        assert_int_equal(differences(lists, files), 0);
        assert_true(manifest_size(files) + (size_t)3 * BLOCKS < manifest_size(lists));
        assay_graph_free(g);
    }
}

/* Digests stand for files and for lists alike. */
static void digests(void **state)
{
    char dir[3][128], digest[33];
    assay_graph *g = network(2);
    for (enum kept kept = FILES; kept <= DIGESTS; kept++) {
        char name[2] = {(char)('a' + kept), 0};
        write_bundle(g, folder_path(state, name, dir[kept]), kept, digest);
    }
    for (enum kept kept = FILES; kept <= DIGESTS; kept++) {
        assert_int_equal(differences(dir[kept], dir[DIGESTS]), 0);
        assert_int_equal(differences(dir[DIGESTS], dir[kept]), 0);
    }
    assay_graph_free(g);
}

/* Of each file of lists the last byte. */
static void changed_files_are_found(void **state)
{
    static const char *const name[] = {"constants/c0000_w.scale.npy", "constants/c0000_w.scale.hex",
                                       "constants/c0000_w.zero_point.npy",
                                       "parameters/0001_fc_y.block_multiplier.npy",
                                       "parameters/0001_fc_y.block_multiplier.hex"};
    char dir[128], path[256], digest[33];
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        assay_graph *g = network(2);
        write_bundle(g, folder_path(state, "files", dir), FILES, digest);
        snprintf(path, sizeof path, "%.120s/%s", dir, name[i]);
        FILE *f = fopen(path, "r+b");
        assert_non_null(f);
        fseek(f, -2, SEEK_END);
        const int was = fgetc(f);
        fseek(f, -2, SEEK_END);
        fputc(was ^ 1, f);
        fclose(f);
        assay_verify_result r;
        assay_error err;
        assert_ok(golden_bundle_verify(dir, NULL, NULL, NULL, &r, &err), &err);
        assert_true(r.files_bad > 0);
        assay_graph_free(g);
    }
}

/* Other scales give other multipliers: diff says which is the first. */
static void multipliers_that_differ(void **state)
{
    char a[128], b[128], digest[33];
    assay_graph *g = network(0);
    write_bundle(g, folder_path(state, "a", a), FILES, digest);
    ((float *)(uintptr_t)g->value[assay_graph_find_value(g, "w")].type.q.scale)[9] *= 0.5F;
    for (enum kept kept = FILES; kept <= DIGESTS; kept++) {
        static const char *const says[] = {"block_multiplier[9]: ", "block_multiplier[9]: ",
                                           "block_multiplier: the digests differ"};
        bool found = false;
        write_bundle(g, folder_path(state, "b", b), kept, digest);
        const assay_diff_options o = {0};
        assay_diff *d;
        assay_error err;
        assert_ok(golden_diff_paths(a, b, &o, &d, &err), &err);
        for (int i = 0; i < d->n_rows; i++)
            found |= strncmp(d->row[i].note, says[kept], strlen(says[kept])) == 0;
        golden_diff_free(d);
        assert_true(found);
    }
    assay_graph_free(g);
}

/* Replaces a number of a bundle's manifest, a digit by a digit. */
static void edit_manifest(const char *dir, const char *key, char was, char digit)
{
    char path[200], text[100];
    unsigned char *manifest;
    size_t size;
    assay_error err;
    snprintf(path, sizeof path, "%.100s/manifest.json", dir);
    snprintf(text, sizeof text, "\"%.60s\": %c,", key, was);
    assert_ok(assay_slurp(path, &manifest, &size, &err), &err);
    char *at = memmem(manifest, size, text, strlen(text));
    assert_non_null(at);
    at[strlen(text) - 2] = digit;
    assert_ok(file_write_file(path, (const char *)manifest, size, &err), &err);
    free(manifest);
}

/* A manifest of smaller blocks than its scales are of, or of an axis that is not there. */
static void scales_of_other_blocks(void **state)
{
    static const char *const key[] = {"block", "axis"};
    static const char was[] = {'8', '1'}, digit[] = {'4', '2'};
    char a[128], b[128], digest[33];
    assay_graph *g = network(2);
    write_bundle(g, folder_path(state, "a", a), FILES, digest);
    ((int8_t *)(uintptr_t)g->value[assay_graph_find_value(g, "w")].data)[7] ^= 1;
    for (int i = 0; i < 2; i++)
        for (enum kept kept = FILES; kept <= LISTS; kept++) {
            const assay_diff_options o = {0};
            assay_diff *d;
            assay_error err;
            write_bundle(g, folder_path(state, "b", b), kept, digest);
            edit_manifest(b, key[i], was[i], digit[i]);
            assert_refused(golden_diff_paths(a, b, &o, &d, &err), &err, "320 scales do not fit");
        }
    assay_graph_free(g);
}

static void texts(void **state)
{
    char dir[128];
    assay_buf one = {0}, two = {0};
    assay_graph *again;
    assay_error err;
    for (int zeros = 0; zeros < 3; zeros += 2) {
        assay_graph *g = network(zeros);
        (void)folder_path(state, ".", dir);
        assert_ok(text_graph_print(g, dir, &one, &err), &err);
        assert_true(one.length < 700);
        assert_ok(text_graph_parse(one.text, one.length, "one", dir, &again, &err), &err);
        const assay_qparams *a = &g->value[assay_graph_find_value(g, "w")].type.q;
        const assay_qparams *b = &again->value[assay_graph_find_value(again, "w")].type.q;
        assert_int_equal(b->count, BLOCKS);
        assert_memory_equal(a->scale, b->scale, BLOCKS * sizeof *a->scale);
        assert_memory_equal(a->zero_point, b->zero_point, BLOCKS * sizeof *a->zero_point);
        assert_ok(text_graph_print(again, dir, &two, &err), &err);
        assert_string_equal(one.text, two.text);
        assay_graph_free(again);
        assay_graph_free(g);
        assay_buf_free(&one);
        assay_buf_free(&two);
        one = two = (assay_buf){0};
    }
}

/* A file of fewer scales, of other numbers, and one that is not there; shapes of no blocks, and of
 * too many. */
static void bad_texts(void **state)
{
    static const char text[] = "graph g { input x: i8[1,64] q(0.5,0)\n"
                               "const w: i4[%s] q(axis=%d,block=%d,file \"%s\",0) = [1]\n"
                               "output x }";
    static const struct {
        const char *shape;
        int axis, block;
        const char *file, *says;
    } bad[] = {{"40,64", 1, 8, "none.npy", "none.npy"},
               {"40,64", 1, 8, "c0000_w.zero_point.npy", "expected float32[320]"},
               {"40,64", 1, 16, "c0000_w.scale.npy", "expected float32[160]"},
               {"40,64", 0, 8, "../c0000_w.scale.npy", "not a plain file name"},
               {"0,64", 1, 8, "c0000_w.scale.npy", "the shape does not divide into such blocks"},
               {"1099511627776,1099511627776", 1, 8, "c0000_w.scale.npy", "2^40 bytes"}};
    char dir[128], made[300];
    assay_buf b = {0};
    assay_graph *g = network(2);
    assay_error err;
    assert_ok(text_graph_print(g, folder_path(state, ".", dir), &b, &err), &err);
    assay_graph_free(g);
    assay_buf_free(&b);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(made, sizeof made, text, bad[i].shape, bad[i].axis, bad[i].block, bad[i].file);
        assert_int_not_equal(text_graph_parse(made, strlen(made), "t", dir, &g, &err), ASSAY_OK);
        assert_non_null(strstr(err.text, bad[i].says));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_FOLDER(files_and_lists),
                                       IN_FOLDER(digests),
                                       IN_FOLDER(changed_files_are_found),
                                       IN_FOLDER(multipliers_that_differ),
                                       IN_FOLDER(scales_of_other_blocks),
                                       IN_FOLDER(texts),
                                       IN_FOLDER(bad_texts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
