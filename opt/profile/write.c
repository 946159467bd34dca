/* The file of a profile: YAML written so that equal profiles give equal bytes. */
#include <inttypes.h>
#include <stdio.h>

#include "graph/files/files.h"
#include "opt/profile/state.h"

static void write_quoted(FILE *f, const char *text)
{
    fputc('"', f);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(f, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            fprintf(f, "\\x%02x", (unsigned)*c);
        else
            fputc(*c, f);
    }
    fputc('"', f);
}

static void write_text(FILE *f, const char *key, const char *text)
{
    fprintf(f, "%s: ", key);
    write_quoted(f, text);
    fputc('\n', f);
}

/* Bins from the first to the last that is not empty, n > 1 empty ones in a row as 0*n; keys behind
 * `indent`. The last is not empty, which ends the search for the next. */
static void write_histogram(FILE *f, const assay_histogram *h, const char *indent)
{
    int first, end;
    profile_histogram_extent(h, &first, &end);
    fprintf(f, "%smin: %.9g\n%smax: %.9g\n", indent, (double)h->min, indent, (double)h->max);
    fprintf(f, "%sfinite: %" PRIu64 "\n%snan: %" PRIu64 "\n%sinf: %" PRIu64 "\n", indent, h->finite,
            indent, h->nan, indent, h->inf);
    fprintf(f, "%sexponent: %d\n%sfirst: %d\n%scounts: |", indent, h->exponent, indent, first,
            indent);
    for (int i = first, next, written = 0; i < end; i = next, written++) {
        const uint64_t count = *profile_histogram_at(h, i);
        for (next = i + 1; count == 0 && *profile_histogram_at(h, next) == 0; next++)
            ;
        if (written % 32 == 0)
            fprintf(f, "\n%s  ", indent);
        else
            fputc(' ', f);
        if (next > i + 1)
            fprintf(f, "0*%d", next - i);
        else
            fprintf(f, "%" PRIu64, count);
    }
    fputc('\n', f);
}

static void write_channels(FILE *f, const assay_profile_entry *e)
{
    fputs(e->n_channels > 0 ? "  channels:\n" : "  channels: []\n", f);
    for (int i = 0; i < e->n_channels; i++) {
        fputs("  -\n", f);
        write_histogram(f, &e->channel[i], "    ");
    }
}

static void write_profile(FILE *f, const void *profile)
{
    const assay_profile *p = profile;
    profile_flush(p);
    fputs("# Ranges and histograms of a float network's values, for assay quantize.\n"
          "# Bin i is [i, i + 1) times 2^exponent; counts are of bin `first` and what follows, 0*9 "
          "are nine\n"
          "# empty ones.\n",
          f);
    fputs("assay: \"" ASSAY_VERSION "\"\n", f);
    fprintf(f, "format: %d\n", p->entry[0].step < 0 ? 5 : 6);
    write_text(f, "model", p->model);
    write_text(f, "graph", p->graph);
    write_text(f, "preprocessing", p->preprocessing);
    write_text(f, "dataset", p->dataset);
    fprintf(f, "whole: [%" PRIu64 ", %" PRIu64 "]\nsamples: [", p->whole.first, p->whole.end);
    for (int i = 0; i < p->n_ranges; i++)
        fprintf(f, "%s[%" PRIu64 ", %" PRIu64 "]", i ? ", " : "", p->range[i].first,
                p->range[i].end);
    fprintf(f, "]\nbins: %d\nvalues:\n", ASSAY_HISTOGRAM_BINS);
    for (int i = 0; i < p->n_entries; i++) {
        const assay_profile_entry *e = &p->entry[i];
        fputs("- name: ", f);
        write_quoted(f, e->name);
        fprintf(f, "\n  lineage: \"%016" PRIx64 "\"\n", e->lineage);
        if (e->step >= 0)
            fprintf(f, "  step: %d\n", e->step);
        write_histogram(f, &e->seen, "  ");
        write_channels(f, e);
    }
}

assay_status profile_save(const assay_profile *p, const char *path, assay_error *err)
{
    if (p->n_entries == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: the profile has no values", path);
    return file_print(path, write_profile, p, err);
}
