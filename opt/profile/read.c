/* Reading a profile back, trusting nothing. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/arena.h"
#include "graph/core/slurp.h"
#include "graph/memory.h"
#include "opt/profile/events.h"
#include "opt/profile/state.h"

#define MAX_ENTRIES 65536

static assay_status read_lineage(assay_events *r, uint64_t *out)
{
    char *end;
    assay_status status = profile_events_key(r, "lineage");
    if (!status)
        status = profile_events_scalar(r, "lineage");
    if (status)
        return status;
    *out = strtoull(profile_events_text(r), &end, 16);
    if (strspn(profile_events_text(r), "0123456789abcdef") != 16 || *end)
        return ASSAY_REFUSE(r, "lineage: expected 16 hexadecimal digits, found '%.40s'",
                            profile_events_text(r));
    return ASSAY_OK;
}

/* Where a histogram is, for messages: a value, or one of its channels. */
typedef struct place {
    const char *value;
    int channel; /* -1: the value itself */
} place;

static assay_status fail_at(assay_events *r, const place *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static assay_status fail_at(assay_events *r, const place *at, const char *format, ...)
{
    char text[300], channel[32] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (at->channel >= 0)
        snprintf(channel, sizeof channel, ", channel %d", at->channel);
    return ASSAY_REFUSE(r, "value '%.200s'%s: %s", at->value, channel, text);
}

/* The decimal number that *text begins with, and moves *text beyond; false when there is none, or
 * it exceeds 64 bits. */
static bool take_number(const char **text, uint64_t *out)
{
    const char *s = *text;
    for (*out = 0; *s >= '0' && *s <= '9'; s++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*s - '0'), out))
            return false;
    const bool some = s > *text;
    *text = s;
    return some;
}

/* Takes the next count, or the number of empty bins of "0*9"; the text is at its first character.
 */
static bool take_count(const char **text, uint64_t *count, uint64_t *bins)
{
    *bins = 1;
    if (!take_number(text, count))
        return false;
    if (**text == '*' && *count == 0) {
        ++*text;
        if (!take_number(text, bins) || *bins == 0)
            return false;
    }
    return **text == ' ' || **text == '\n' || **text == '\0';
}

/* For messages: at most 40 characters up to the next space. */
static int word_length(const char *word)
{
    const size_t n = strcspn(word, " \n");
    return n < 40 ? (int)n : 40;
}

/* Counts of bins `first` to the last but one before `end`: one text, whose numbers would take a
 * YAML parser ten times as long one by one. */
static assay_status read_counts(assay_events *r, const place *where, assay_histogram *h, int first,
                                int end)
{
    uint64_t sum = 0;
    int at = first;
    assay_status status = profile_events_key(r, "counts");
    if (!status)
        status = profile_events_scalar(r, "a text of counts");
    if (status)
        return status;
    for (const char *text = profile_events_text(r), *word; *text;) {
        uint64_t count, bins;
        while (*text == ' ' || *text == '\n')
            text++;
        word = text;
        if (*text == '\0')
            break;
        if (!take_count(&text, &count, &bins))
            return fail_at(r, where, "counts: expected a count, found '%.*s'", word_length(word),
                           word);
        if (bins > (uint64_t)(end - at))
            return fail_at(r, where, "more counts than bins of [%.9g, %.9g], which are %d",
                           (double)h->min, (double)h->max, end - first);
        if (count > UINT64_MAX - sum)
            return fail_at(r, where, "counts exceed 64 bits");
        *profile_histogram_at(h, at) = count;
        at += (int)bins;
        sum += count;
    }
    if (sum != h->finite)
        return fail_at(r, where, "counts add up to %llu, but finite is %llu",
                       (unsigned long long)sum, (unsigned long long)h->finite);
    return ASSAY_OK;
}

/* Whether the exponent and the first bin are those of [min, max]. */
static assay_status check_range(assay_events *r, const place *where, const assay_histogram *h,
                                int first)
{
    int bin, end;
    if (h->min > h->max)
        return fail_at(r, where, "min %.9g is greater than max %.9g", (double)h->min,
                       (double)h->max);
    if (h->finite == 0 && (h->min != 0 || h->max != 0))
        return fail_at(r, where, "it has a range, but no finite elements");
    if (h->exponent != profile_histogram_exponent(h->min, h->max))
        return fail_at(r, where, "exponent %d does not belong to [%.9g, %.9g], whose is %d",
                       h->exponent, (double)h->min, (double)h->max,
                       profile_histogram_exponent(h->min, h->max));
    profile_histogram_extent(h, &bin, &end);
    if (first != bin)
        return fail_at(r, where, "first bin %d is not that of min %.9g, which is %d", first,
                       (double)h->min, bin);
    return ASSAY_OK;
}

static assay_status read_histogram(assay_events *r, const place *where, assay_histogram *h)
{
    int first = 0, bin, end;
    assay_status status;
    if ((status = profile_events_float(r, "min", &h->min)) ||
        (status = profile_events_float(r, "max", &h->max)) ||
        (status = profile_events_count(r, "finite", &h->finite)) ||
        (status = profile_events_count(r, "nan", &h->nan)) ||
        (status = profile_events_count(r, "inf", &h->inf)) ||
        (status = profile_events_int(r, "exponent", ASSAY_HISTOGRAM_MIN_EXPONENT,
                                     ASSAY_HISTOGRAM_MAX_EXPONENT, &h->exponent)) ||
        (status = profile_events_int(r, "first", -ASSAY_HISTOGRAM_MAX_BIN, ASSAY_HISTOGRAM_MAX_BIN,
                                     &first)) ||
        (status = check_range(r, where, h, first)))
        return status;
    profile_histogram_extent(h, &bin, &end);
    status = read_counts(r, where, h, first, end);
    if (!status && h->finite > 0 && *profile_histogram_at(h, first) == 0)
        return fail_at(r, where, "nothing is in the bin of min %.9g", (double)h->min);
    if (!status && h->finite > 0 && *profile_histogram_at(h, end - 1) == 0)
        return fail_at(r, where, "nothing is in the bin of max %.9g", (double)h->max);
    return status;
}

/* The channels together are the value: their histograms merged are its own. */
static assay_status check_channels(assay_events *r, const assay_profile_entry *e)
{
    assay_histogram all;
    if (e->n_channels == 0)
        return ASSAY_OK;
    assay_status status = profile_histogram_init(&all, r->err);
    bool same = !status;
    for (int i = 0; i < e->n_channels && same; i++) {
        same = profile_histogram_can_merge(&all, &e->channel[i]);
        if (same)
            profile_histogram_merge(&all, &e->channel[i]);
    }
    same = same && profile_histogram_equal(&all, &e->seen);
    profile_histogram_clear(&all);
    if (!status && !same)
        status = ASSAY_REFUSE(
            r, "value '%.200s': its channels do not add up to the value's range and counts",
            e->name);
    return status;
}

static assay_status read_channels(assay_events *r, assay_profile *p, assay_profile_entry *e)
{
    int room = 0;
    assay_status status = profile_events_key(r, "channels");
    if (!status)
        status = profile_events_expect(r, YAML_SEQUENCE_START_EVENT, "a list of channels");
    while (!status && !(status = profile_events_next(r)) &&
           r->event.type != YAML_SEQUENCE_END_EVENT) {
        const place where = {e->name, e->n_channels};
        if (r->event.type != YAML_MAPPING_START_EVENT)
            return fail_at(r, &where, "expected a channel's mapping");
        if (p->n_channels == ASSAY_PROFILE_CHANNELS)
            return profile_events_fail(r, ASSAY_ERR_LIMIT,
                                       "value '%.200s': a profile holds no more than %d channels",
                                       e->name, p->n_channels);
        if (e->n_channels == room) {
            room = room > 0 ? 2 * room : 64;
            assay_histogram *grown = realloc(e->channel, (size_t)room * sizeof *grown);
            if (!grown)
                return assay_out_of_memory(r->err);
            e->channel = grown;
        }
        p->n_channels++;
        status = profile_histogram_init(&e->channel[e->n_channels++], r->err);
        if (!status)
            status = read_histogram(r, &where, &e->channel[e->n_channels - 1]);
        if (!status)
            status =
                profile_events_expect(r, YAML_MAPPING_END_EVENT, "no more keys in this channel");
    }
    return status ? status : check_channels(r, e);
}

/* One mapping of `values`; its start event has been read. */
static assay_status read_entry(assay_events *r, assay_profile *p, int format)
{
    assay_profile_entry *e = &p->entry[p->n_entries];
    assay_status status = profile_events_key(r, "name");
    if (!status)
        status = profile_events_scalar(r, "name");
    if (status)
        return status;
    if (p->n_entries > 0 && strcmp(e[-1].name, profile_events_text(r)) >= 0)
        return ASSAY_REFUSE(r, "value '%.200s' is not after '%.200s': names are sorted and unique",
                            profile_events_text(r), e[-1].name);
    p->n_entries++; /* from here on it is freed with the profile */
    if (profile_entry_init(e, profile_events_text(r), r->err))
        return ASSAY_ERR_MEMORY;
    const place where = {e->name, -1};
    if ((status = read_lineage(r, &e->lineage)) ||
        (format > 5 && (status = profile_events_int(r, "step", 0, MAX_ENTRIES, &e->step))) ||
        (status = read_histogram(r, &where, &e->seen)) || (status = read_channels(r, p, e)))
        return status;
    return profile_events_expect(r, YAML_MAPPING_END_EVENT, "no more keys in this value");
}

static assay_status read_values(assay_events *r, assay_profile *p, int format)
{
    int room = 0;
    assay_status status = profile_events_key(r, "values");
    if (!status)
        status = profile_events_expect(r, YAML_SEQUENCE_START_EVENT, "a list of values");
    while (!status && !(status = profile_events_next(r))) {
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (r->event.type != YAML_MAPPING_START_EVENT)
            return ASSAY_REFUSE(r, "expected a value's mapping");
        if (p->n_entries == room) {
            room = room > 0 ? 2 * room : 64;
            assay_profile_entry *grown =
                room <= MAX_ENTRIES ? realloc(p->entry, (size_t)room * sizeof *grown) : NULL;
            if (!grown)
                return profile_events_fail(r, ASSAY_ERR_LIMIT, "cannot hold more than %d values",
                                           p->n_entries);
            p->entry = grown;
        }
        status = read_entry(r, p, format);
    }
    if (!status && p->n_entries == 0)
        return ASSAY_REFUSE(r, "the profile is empty: it has no values");
    return status;
}

/* whole: [first, end] */
static assay_status read_whole(assay_events *r, assay_profile_range *whole)
{
    assay_status status = profile_events_key(r, "whole");
    if (!status)
        status = profile_events_expect(r, YAML_SEQUENCE_START_EVENT, "[first, end]");
    if (status || (status = profile_events_scalar(r, "whole")) ||
        (status = profile_events_as_count(r, "whole", &whole->first)) ||
        (status = profile_events_scalar(r, "whole")) ||
        (status = profile_events_as_count(r, "whole", &whole->end)))
        return status;
    if (whole->end > 0 && whole->first >= whole->end)
        return ASSAY_REFUSE(r, "whole: [%llu, %llu] is empty", (unsigned long long)whole->first,
                            (unsigned long long)whole->end);
    return profile_events_expect(r, YAML_SEQUENCE_END_EVENT, "]");
}

/* samples: [[first, end], ...] */
static assay_status read_samples(assay_events *r, assay_profile *p)
{
    assay_status status = profile_events_key(r, "samples");
    if (!status)
        status = profile_events_expect(r, YAML_SEQUENCE_START_EVENT, "a list of sample ranges");
    while (!status && !(status = profile_events_next(r))) {
        assay_profile_range range;
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (r->event.type != YAML_SEQUENCE_START_EVENT)
            return ASSAY_REFUSE(r, "samples: expected [first, end]");
        if ((status = profile_events_scalar(r, "first sample")) ||
            (status = profile_events_as_count(r, "samples", &range.first)) ||
            (status = profile_events_scalar(r, "end of samples")) ||
            (status = profile_events_as_count(r, "samples", &range.end)) ||
            (status = profile_events_expect(r, YAML_SEQUENCE_END_EVENT, "]")))
            break;
        if (range.first >= range.end)
            return ASSAY_REFUSE(r, "samples: [%llu, %llu] is empty",
                                (unsigned long long)range.first, (unsigned long long)range.end);
        assay_error why;
        if ((status = profile_add_range(p, range, &why)))
            return profile_events_fail(r, status, "samples: %.300s", why.text);
    }
    if (!status && p->n_ranges == 0)
        return ASSAY_REFUSE(r, "the profile is empty: it has no samples");
    if (!status && p->whole.end > 0 &&
        (p->range[0].first < p->whole.first || p->range[p->n_ranges - 1].end > p->whole.end))
        return ASSAY_REFUSE(r, "samples: some are outside of the whole, [%llu, %llu]",
                            (unsigned long long)p->whole.first, (unsigned long long)p->whole.end);
    return status;
}

static assay_status read_profile(assay_events *r, assay_profile *p)
{
    char *version = NULL;
    int format = 0, ignored;
    assay_status status;
    if (!(status = profile_events_expect(r, YAML_STREAM_START_EVENT, "a YAML stream")) &&
        !(status = profile_events_expect(r, YAML_DOCUMENT_START_EVENT,
                                         "a profile, found an empty file")) &&
        !(status = profile_events_expect(r, YAML_MAPPING_START_EVENT,
                                         "a profile: a map that begins with 'assay'")) &&
        !(status = profile_events_string(r, "assay", &version)) &&
        !(status = profile_events_int(r, "format", 5, 6, &format)) &&
        !(status = profile_events_string(r, "model", &p->model)) &&
        !(status = profile_events_string(r, "graph", &p->graph)) &&
        !(status = profile_events_string(r, "preprocessing", &p->preprocessing)) &&
        !(status = profile_events_string(r, "dataset", &p->dataset)) &&
        !(status = read_whole(r, &p->whole)) && !(status = read_samples(r, p)) &&
        !(status = profile_events_int(r, "bins", ASSAY_HISTOGRAM_BINS, ASSAY_HISTOGRAM_BINS,
                                      &ignored)) &&
        !(status = read_values(r, p, format)) &&
        !(status = profile_events_expect(r, YAML_MAPPING_END_EVENT, "no more keys")) &&
        !(status = profile_events_expect(r, YAML_DOCUMENT_END_EVENT, "the end of the document")))
        status = profile_events_expect(r, YAML_STREAM_END_EVENT, "the end of the file");
    free(version);
    return status;
}

assay_status profile_load(const char *path, assay_profile **out, assay_error *err)
{
    assay_events r = {.path = path, .err = err};
    assay_profile *p;
    *out = NULL;
    unsigned char *text;
    size_t length;
    assay_status status = assay_slurp(path, &text, &length, err);
    if (status)
        return status;
    status = profile_blank(&p, err);
    if (!status && !yaml_parser_initialize(&r.parser)) {
        status = assay_out_of_memory(err);
    } else if (!status) {
        yaml_parser_set_input_string(&r.parser, text, length);
        status = read_profile(&r, p);
        if (r.has_event)
            yaml_event_delete(&r.event);
        yaml_parser_delete(&r.parser);
    }
    free(text);
    if (status)
        profile_free(p);
    else
        *out = p;
    return status;
}
