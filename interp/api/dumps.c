/* A device's dumps beside a golden bundle: where they differ, and which nodes are to blame. */
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/api/options.h"
#include "interp/assay_measures.h"
#include "interp/blame/page.h"
#include "interp/golden/diff.h"

static void print_diff(FILE *f, const void *what)
{
    golden_diff_print(what, f);
}

static void print_blame(FILE *f, const void *what)
{
    blame_print(what, f);
}

static assay_status report_diff(const assay_diff *d, bool *same, char **text, char **json,
                                assay_error *err)
{
    char **const texts[] = {text, json};
    assay_status status = assay_text_of(print_diff, d, text, err);
    if (!status && json)
        status = assay_text_of_json(golden_diff_json(d), json, err);
    *same = d->n_failed == 0;
    return assay_texts_end(status, texts, 2);
}

assay_status assay_compare_folders(const char *reference, const char *other,
                                   const assay_compare_options *options, bool *same, char **text,
                                   char **json, assay_error *err)
{
    const assay_thresholds exact = ASSAY_THRESHOLDS_EXACT;
    assay_compare_options o;
    assay_diff *d = NULL;
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);

    assay_texts_begin((char **const[]){text, json}, 2);
    if (status)
        return status;
    assay_diff_override *list = calloc(o.n_tensors + 1, sizeof *list);
    if (!list)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < o.n_tensors; i++)
        list[i] = (assay_diff_override){.tensor = o.tensor[i], .limits = o.special[i]};
    const assay_diff_options own = {.limits = o.limits ? *o.limits : exact,
                                    .overrides = list,
                                    .n_overrides = (int)o.n_tensors,
                                    .hex_bits = o.hex_bits};
    status = golden_diff_paths(reference, other, &own, &d, err);
    if (!status) {
        if (o.junit)
            status = golden_diff_write_junit(d, o.junit, err);
        if (!status)
            status = report_diff(d, same, text, json, err);
        golden_diff_free(d);
    }
    free(list);
    return status;
}

static void tell_progress(void *files, int done, int of)
{
    const assay_blame_files *f = files;
    f->progress(f->user, done, of);
}

assay_status assay_blame_pages(const char *golden, const char *device,
                               const assay_blame_options *options, const assay_blame_files *files,
                               int *faults, char **text, char **json, assay_error *err)
{
    char **const texts[] = {text, json};
    blame_options o = {.rel = -1, .threads = 2, .work = BLAME_WORK};
    blame_report *r = NULL;
    assay_blame_files to;
    assay_status status = ASSAY_OPTIONS_TAKE(files, &to, err);

    assay_texts_begin(texts, 2);
    if (options) {
        o.rel = options->rel;
        o.schemes = options->schemes;
        o.n_schemes = options->n_schemes;
        o.threads = options->threads > 0 ? options->threads : 2;
    }
    o.hex_bits = to.hex_bits;
    o.step = to.progress ? tell_progress : NULL;
    o.user = &to;
    if (!status)
        status = blame_run(golden, device, &o, &r, err);
    if (!status)
        status = assay_text_of(print_blame, r, text, err);
    if (!status && json)
        status = assay_text_of_json(blame_json(r), json, err);
    if (!status && to.junit)
        status = blame_write_junit(r, to.junit, err);
    if (!status && to.html)
        status = blame_write_html(r, to.html, err);
    if (!status)
        *faults = r->n_faults;
    blame_free(r);
    return assay_texts_end(status, texts, 2);
}

assay_status assay_blame_folders(const char *golden, const char *device,
                                 const assay_blame_options *options, int *faults, char **text,
                                 char **json, assay_error *err)
{
    return assay_blame_pages(golden, device, options, NULL, faults, text, json, err);
}
