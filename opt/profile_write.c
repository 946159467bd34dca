/* The file of a profile: YAML written so that equal profiles give equal bytes. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opt/profile_state.h"

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

/* Bins from the first to the last that is not empty. */
static void write_bins(FILE *f, const assay_profile_entry *e)
{
    int first = 0, end = ASSAY_PROFILE_BINS;
    while (first < end && e->bin[first] == 0)
        first++;
    while (end > first && e->bin[end - 1] == 0)
        end--;
    fprintf(f, "  first: %d\n  counts: [", first < end ? first : 0);
    for (int i = first; i < end; i++) {
        const char *separator = i == first ? "" : (i - first) % 16 == 0 ? ",\n    " : ", ";
        fprintf(f, "%s%" PRIu64, separator, e->bin[i]);
    }
    fputs("]\n", f);
}

/* [min, max, finite, nan, inf] of every channel. */
static void write_channels(FILE *f, const assay_profile_entry *e)
{
    fputs("  channels: [", f);
    for (int i = 0; i < e->n_channels; i++) {
        const assay_profile_channel *c = &e->channel[i];
        fprintf(f, "%s[%.9g, %.9g, %" PRIu64 ", %" PRIu64 ", %" PRIu64 "]", i ? ",\n    " : "",
                (double)c->min, (double)c->max, c->finite, c->nan, c->inf);
    }
    fputs("]\n", f);
}

static void write_profile(FILE *f, const assay_profile *p)
{
    assay_profile_settle(p);
    fputs("# Ranges and histograms of a float network's values, for assay quantize.\n", f);
    fputs("assay: \"" ASSAY_VERSION "\"\nformat: 2\n", f);
    write_text(f, "model", p->model);
    write_text(f, "graph", p->graph);
    write_text(f, "preprocessing", p->preprocessing);
    write_text(f, "dataset", p->dataset);
    fprintf(f, "whole: [%" PRIu64 ", %" PRIu64 "]\nsamples: [", p->whole.first, p->whole.end);
    for (int i = 0; i < p->n_ranges; i++)
        fprintf(f, "%s[%" PRIu64 ", %" PRIu64 "]", i ? ", " : "", p->range[i].first,
                p->range[i].end);
    fprintf(f, "]\nbins: %d\nvalues:\n", ASSAY_PROFILE_BINS);
    for (int i = 0; i < p->n_entries; i++) {
        const assay_profile_entry *e = &p->entry[i];
        fputs("- name: ", f);
        write_quoted(f, e->name);
        fprintf(f, "\n  lineage: \"%016" PRIx64 "\"\n", e->lineage);
        fprintf(f, "  min: %.9g\n  max: %.9g\n", (double)e->min, (double)e->max);
        fprintf(f, "  finite: %" PRIu64 "\n  nan: %" PRIu64 "\n  inf: %" PRIu64 "\n", e->finite,
                e->nan, e->inf);
        fprintf(f, "  exponent: %d\n", e->exponent);
        write_bins(f, e);
        write_channels(f, e);
    }
}

assay_status assay_profile_save(const assay_profile *p, const char *path, assay_error *err)
{
    if (p->n_entries == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: the profile has no values", path);
    size_t room = strlen(path) + 32;
    char *temporary = malloc(room);
    if (!temporary)
        return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
    snprintf(temporary, room, "%s.partial.%ld", path, (long)getpid());
    FILE *f = fopen(temporary, "w");
    bool good = f != NULL;
    if (good) {
        write_profile(f, p);
        good = !ferror(f) && fflush(f) == 0 && fsync(fileno(f)) == 0;
        good = fclose(f) == 0 && good;
        good = good && rename(temporary, path) == 0;
    }
    assay_status status = ASSAY_OK;
    if (!good) {
        status =
            assay_fail(err, ASSAY_ERR_IO, "%s: cannot write profile: %s", path, strerror(errno));
        if (f)
            unlink(temporary);
    }
    free(temporary);
    return status;
}
