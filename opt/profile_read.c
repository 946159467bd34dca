/* Reading a profile back, trusting nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/events.h"
#include "opt/profile_state.h"

#define MAX_ENTRIES 65536

static assay_status read_lineage(assay_events *r, uint64_t *out)
{
    char *end;
    assay_status status = assay_events_key(r, "lineage");
    if (!status)
        status = assay_events_scalar(r, "lineage");
    if (status)
        return status;
    *out = strtoull(assay_events_text(r), &end, 16);
    if (strspn(assay_events_text(r), "0123456789abcdef") != 16 || *end)
        return ASSAY_REFUSE(r, "lineage: expected 16 hexadecimal digits, found '%.40s'",
                            assay_events_text(r));
    return ASSAY_OK;
}

static assay_status read_counts(assay_events *r, assay_profile_entry *e, int first)
{
    uint64_t sum = 0;
    int at = first;
    assay_status status = assay_events_key(r, "counts");
    if (!status)
        status = assay_events_expect(r, YAML_SEQUENCE_START_EVENT, "a list of counts");
    while (!status && !(status = assay_events_next(r))) {
        uint64_t count;
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (r->event.type != YAML_SCALAR_EVENT)
            return ASSAY_REFUSE(r, "value '%.200s': expected a count", e->name);
        if (at >= ASSAY_PROFILE_BINS)
            return ASSAY_REFUSE(r, "value '%.200s': more than %d bins", e->name,
                                ASSAY_PROFILE_BINS);
        if ((status = assay_events_as_count(r, "counts", &count)))
            break;
        e->bin[at++] = count;
        if (count > UINT64_MAX - sum)
            return ASSAY_REFUSE(r, "value '%.200s': counts exceed 64 bits", e->name);
        sum += count;
    }
    if (!status && sum != e->finite)
        return ASSAY_REFUSE(r, "value '%.200s': counts add up to %llu, but finite is %llu", e->name,
                            (unsigned long long)sum, (unsigned long long)e->finite);
    return status;
}

/* The rest of [min, max, finite, nan, inf]; its start event has been read. */
static assay_status read_channel(assay_events *r, assay_profile_channel *c)
{
    const char *what = "channels";
    assay_status status;
    if ((status = assay_events_scalar(r, what)) ||
        (status = assay_events_as_float(r, what, &c->min)) ||
        (status = assay_events_scalar(r, what)) ||
        (status = assay_events_as_float(r, what, &c->max)) ||
        (status = assay_events_scalar(r, what)) ||
        (status = assay_events_as_count(r, what, &c->finite)) ||
        (status = assay_events_scalar(r, what)) ||
        (status = assay_events_as_count(r, what, &c->nan)) ||
        (status = assay_events_scalar(r, what)) ||
        (status = assay_events_as_count(r, what, &c->inf)))
        return status;
    return assay_events_expect(r, YAML_SEQUENCE_END_EVENT, "] after min, max, finite, nan, inf");
}

/* The channels together are the value. */
static assay_status check_channels(assay_events *r, const assay_profile_entry *e)
{
    assay_profile_channel all = {0};
    for (int i = 0; i < e->n_channels; i++) {
        const assay_profile_channel *c = &e->channel[i];
        if (c->min > c->max)
            return ASSAY_REFUSE(r, "value '%.200s': channel %d has min %.9g greater than max %.9g",
                                e->name, i, (double)c->min, (double)c->max);
        if (c->finite > 0 && (all.finite == 0 || c->min < all.min))
            all.min = c->min;
        if (c->finite > 0 && (all.finite == 0 || c->max > all.max))
            all.max = c->max;
        all.finite += c->finite;
        all.nan += c->nan;
        all.inf += c->inf;
    }
    if (e->n_channels > 0 && (all.finite != e->finite || all.nan != e->nan || all.inf != e->inf ||
                              all.min != e->min || all.max != e->max))
        return ASSAY_REFUSE(
            r, "value '%.200s': its channels do not add up to the value's range and counts",
            e->name);
    return ASSAY_OK;
}

static assay_status read_channels(assay_events *r, assay_profile_entry *e)
{
    int room = 0;
    assay_status status = assay_events_key(r, "channels");
    if (!status)
        status = assay_events_expect(r, YAML_SEQUENCE_START_EVENT, "a list of channels");
    while (!status && !(status = assay_events_next(r)) &&
           r->event.type != YAML_SEQUENCE_END_EVENT) {
        if (r->event.type != YAML_SEQUENCE_START_EVENT)
            return ASSAY_REFUSE(r, "channels: expected [min, max, finite, nan, inf]");
        if (e->n_channels == room) {
            room = room > 0 ? 2 * room : 64;
            assay_profile_channel *grown = room <= ASSAY_PROFILE_CHANNELS
                                               ? realloc(e->channel, (size_t)room * sizeof *grown)
                                               : NULL;
            if (!grown)
                return assay_events_fail(r, ASSAY_ERR_LIMIT,
                                         "value '%.200s': cannot hold more than %d channels",
                                         e->name, e->n_channels);
            e->channel = grown;
        }
        status = read_channel(r, &e->channel[e->n_channels++]);
    }
    return status ? status : check_channels(r, e);
}

/* Whether min and max lie in the outermost bins that are not empty. */
static assay_status check_range(assay_events *r, const assay_profile_entry *e)
{
    int first = 0, last = ASSAY_PROFILE_BINS - 1;
    double lo, hi, unused;
    if (e->min > e->max)
        return ASSAY_REFUSE(r, "value '%.200s': min %.9g is greater than max %.9g", e->name,
                            (double)e->min, (double)e->max);
    if (e->finite == 0)
        return ASSAY_OK;
    while (e->bin[first] == 0)
        first++;
    while (e->bin[last] == 0)
        last--;
    assay_profile_bin_edges(e, first, &lo, &unused);
    if (!((double)e->min >= lo && (double)e->min < unused))
        return ASSAY_REFUSE(r, "value '%.200s': min %.9g is not in its first bin", e->name,
                            (double)e->min);
    assay_profile_bin_edges(e, last, &unused, &hi);
    if (!((double)e->max >= unused && (double)e->max < hi))
        return ASSAY_REFUSE(r, "value '%.200s': max %.9g is not in its last bin", e->name,
                            (double)e->max);
    return ASSAY_OK;
}

/* One mapping of `values`; its start event has been read. */
static assay_status read_entry(assay_events *r, assay_profile *p)
{
    assay_profile_entry *e = &p->entry[p->n_entries];
    int first = 0;
    assay_status status = assay_events_key(r, "name");
    if (!status)
        status = assay_events_scalar(r, "name");
    if (status)
        return status;
    if (p->n_entries > 0 && strcmp(e[-1].name, assay_events_text(r)) >= 0)
        return ASSAY_REFUSE(r, "value '%.200s' is not after '%.200s': names are sorted and unique",
                            assay_events_text(r), e[-1].name);
    p->n_entries++; /* from here on it is freed with the profile */
    if (assay_profile_entry_init(e, assay_events_text(r), r->err))
        return ASSAY_ERR_MEMORY;
    if ((status = read_lineage(r, &e->lineage)) ||
        (status = assay_events_float(r, "min", &e->min)) ||
        (status = assay_events_float(r, "max", &e->max)) ||
        (status = assay_events_count(r, "finite", &e->finite)) ||
        (status = assay_events_count(r, "nan", &e->nan)) ||
        (status = assay_events_count(r, "inf", &e->inf)) ||
        (status = assay_events_int(r, "exponent", ASSAY_PROFILE_MIN_EXPONENT, 128, &e->exponent)) ||
        (status = assay_events_int(r, "first", 0, ASSAY_PROFILE_BINS - 1, &first)) ||
        (status = read_counts(r, e, first)) || (status = check_range(r, e)) ||
        (status = read_channels(r, e)))
        return status;
    return assay_events_expect(r, YAML_MAPPING_END_EVENT, "no more keys in this value");
}

static assay_status read_values(assay_events *r, assay_profile *p)
{
    int room = 0;
    assay_status status = assay_events_key(r, "values");
    if (!status)
        status = assay_events_expect(r, YAML_SEQUENCE_START_EVENT, "a list of values");
    while (!status && !(status = assay_events_next(r))) {
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (r->event.type != YAML_MAPPING_START_EVENT)
            return ASSAY_REFUSE(r, "expected a value's mapping");
        if (p->n_entries == room) {
            room = room > 0 ? 2 * room : 64;
            assay_profile_entry *grown =
                room <= MAX_ENTRIES ? realloc(p->entry, (size_t)room * sizeof *grown) : NULL;
            if (!grown)
                return assay_events_fail(r, ASSAY_ERR_LIMIT, "cannot hold more than %d values",
                                         p->n_entries);
            p->entry = grown;
        }
        status = read_entry(r, p);
    }
    if (!status && p->n_entries == 0)
        return ASSAY_REFUSE(r, "the profile is empty: it has no values");
    return status;
}

/* whole: [first, end] */
static assay_status read_whole(assay_events *r, assay_profile_range *whole)
{
    assay_status status = assay_events_key(r, "whole");
    if (!status)
        status = assay_events_expect(r, YAML_SEQUENCE_START_EVENT, "[first, end]");
    if (status || (status = assay_events_scalar(r, "whole")) ||
        (status = assay_events_as_count(r, "whole", &whole->first)) ||
        (status = assay_events_scalar(r, "whole")) ||
        (status = assay_events_as_count(r, "whole", &whole->end)))
        return status;
    if (whole->end > 0 && whole->first >= whole->end)
        return ASSAY_REFUSE(r, "whole: [%llu, %llu] is empty", (unsigned long long)whole->first,
                            (unsigned long long)whole->end);
    return assay_events_expect(r, YAML_SEQUENCE_END_EVENT, "]");
}

/* samples: [[first, end], ...] */
static assay_status read_samples(assay_events *r, assay_profile *p)
{
    assay_status status = assay_events_key(r, "samples");
    if (!status)
        status = assay_events_expect(r, YAML_SEQUENCE_START_EVENT, "a list of sample ranges");
    while (!status && !(status = assay_events_next(r))) {
        assay_profile_range range;
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        if (r->event.type != YAML_SEQUENCE_START_EVENT)
            return ASSAY_REFUSE(r, "samples: expected [first, end]");
        if ((status = assay_events_scalar(r, "first sample")) ||
            (status = assay_events_as_count(r, "samples", &range.first)) ||
            (status = assay_events_scalar(r, "end of samples")) ||
            (status = assay_events_as_count(r, "samples", &range.end)) ||
            (status = assay_events_expect(r, YAML_SEQUENCE_END_EVENT, "]")))
            break;
        if (range.first >= range.end)
            return ASSAY_REFUSE(r, "samples: [%llu, %llu] is empty",
                                (unsigned long long)range.first, (unsigned long long)range.end);
        assay_error why;
        if ((status = assay_profile_add_range(p, range, &why)))
            return assay_events_fail(r, status, "samples: %.300s", why.text);
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
    int ignored;
    assay_status status;
    if (!(status = assay_events_expect(r, YAML_STREAM_START_EVENT, "a YAML stream")) &&
        !(status = assay_events_expect(r, YAML_DOCUMENT_START_EVENT,
                                       "a profile, found an empty file")) &&
        !(status = assay_events_expect(r, YAML_MAPPING_START_EVENT, "a mapping")) &&
        !(status = assay_events_string(r, "assay", &version)) &&
        !(status = assay_events_int(r, "format", 2, 2, &ignored)) &&
        !(status = assay_events_string(r, "model", &p->model)) &&
        !(status = assay_events_string(r, "graph", &p->graph)) &&
        !(status = assay_events_string(r, "preprocessing", &p->preprocessing)) &&
        !(status = assay_events_string(r, "dataset", &p->dataset)) &&
        !(status = read_whole(r, &p->whole)) && !(status = read_samples(r, p)) &&
        !(status = assay_events_int(r, "bins", ASSAY_PROFILE_BINS, ASSAY_PROFILE_BINS, &ignored)) &&
        !(status = read_values(r, p)) &&
        !(status = assay_events_expect(r, YAML_MAPPING_END_EVENT, "no more keys")) &&
        !(status = assay_events_expect(r, YAML_DOCUMENT_END_EVENT, "the end of the document")))
        status = assay_events_expect(r, YAML_STREAM_END_EVENT, "the end of the file");
    free(version);
    return status;
}

assay_status assay_profile_load(const char *path, assay_profile **out, assay_error *err)
{
    assay_events r = {.path = path, .err = err};
    assay_profile *p;
    *out = NULL;
    FILE *f = fopen(path, "r");
    if (!f)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot open profile: %s", path, strerror(errno));
    assay_status status = assay_profile_blank(&p, err);
    if (!status && !yaml_parser_initialize(&r.parser)) {
        status = assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
    } else if (!status) {
        yaml_parser_set_input_file(&r.parser, f);
        status = read_profile(&r, p);
        if (r.has_event)
            yaml_event_delete(&r.event);
        yaml_parser_delete(&r.parser);
    }
    fclose(f);
    if (status)
        assay_profile_free(p);
    else
        *out = p;
    return status;
}
