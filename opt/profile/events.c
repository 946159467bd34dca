/* Reading a YAML file event by event, in an order that is known; see events.h. */
#include "opt/profile/events.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

assay_status profile_events_fail(assay_events *r, assay_status status, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return assay_fail(r->err, status, "%.200s:%zu: %s", r->path,
                      r->has_event ? r->event.start_mark.line + 1 : 1, text);
}

assay_status profile_events_next(assay_events *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = yaml_parser_parse(&r->parser, &r->event) != 0;
    if (!r->has_event)
        return assay_fail(r->err, ASSAY_ERR_INPUT, "%.200s:%zu: not YAML: %s", r->path,
                          r->parser.problem_mark.line + 1,
                          r->parser.problem ? r->parser.problem : "cannot be parsed");
    return ASSAY_OK;
}

assay_status profile_events_expect(assay_events *r, yaml_event_type_t type, const char *what)
{
    assay_status status = profile_events_next(r);
    if (!status && r->event.type != type)
        return ASSAY_REFUSE(r, "expected %s", what);
    return status;
}

const char *profile_events_text(const assay_events *r)
{
    return (const char *)r->event.data.scalar.value;
}

assay_status profile_events_scalar(assay_events *r, const char *what)
{
    assay_status status = profile_events_expect(r, YAML_SCALAR_EVENT, what);
    if (!status && strlen(profile_events_text(r)) != r->event.data.scalar.length)
        return ASSAY_REFUSE(r, "%s holds a NUL character", what);
    return status;
}

assay_status profile_events_key(assay_events *r, const char *key)
{
    assay_status status = profile_events_next(r);
    if (status)
        return status;
    if (r->event.type != YAML_SCALAR_EVENT)
        return ASSAY_REFUSE(r, "missing key '%s'", key);
    if (strcmp(profile_events_text(r), key) != 0)
        return ASSAY_REFUSE(r, "expected key '%s', found '%.80s'", key, profile_events_text(r));
    return ASSAY_OK;
}

assay_status profile_events_as_count(assay_events *r, const char *what, uint64_t *out)
{
    char *end;
    const char *text = profile_events_text(r);
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno)
        return ASSAY_REFUSE(r, "%s: expected a count, found '%.40s'", what, text);
    return ASSAY_OK;
}

assay_status profile_events_count(assay_events *r, const char *key, uint64_t *out)
{
    assay_status status = profile_events_key(r, key);
    if (!status)
        status = profile_events_scalar(r, key);
    return status ? status : profile_events_as_count(r, key, out);
}

assay_status profile_events_as_float(assay_events *r, const char *what, float *out)
{
    char *end;
    *out = strtof(profile_events_text(r), &end);
    if (end == profile_events_text(r) || *end || !isfinite(*out))
        return ASSAY_REFUSE(r, "%s: expected a finite number, found '%.40s'", what,
                            profile_events_text(r));
    return ASSAY_OK;
}

assay_status profile_events_float(assay_events *r, const char *key, float *out)
{
    assay_status status = profile_events_key(r, key);
    if (!status)
        status = profile_events_scalar(r, key);
    return status ? status : profile_events_as_float(r, key, out);
}

assay_status profile_events_int(assay_events *r, const char *key, long lo, long hi, int *out)
{
    char *end;
    assay_status status = profile_events_key(r, key);
    if (!status)
        status = profile_events_scalar(r, key);
    if (status)
        return status;
    errno = 0;
    long v = strtol(profile_events_text(r), &end, 10);
    if (end == profile_events_text(r) || *end || errno || v < lo || v > hi)
        return ASSAY_REFUSE(r, "%s: expected an integer in [%ld, %ld], found '%.40s'", key, lo, hi,
                            profile_events_text(r));
    *out = (int)v;
    return ASSAY_OK;
}

assay_status profile_events_string(assay_events *r, const char *key, char **out)
{
    assay_status status = profile_events_key(r, key);
    if (!status)
        status = profile_events_scalar(r, key);
    if (status)
        return status;
    char *copy = strdup(profile_events_text(r));
    if (!copy)
        return profile_events_fail(r, ASSAY_ERR_MEMORY, "out of memory");
    free(*out);
    *out = copy;
    return ASSAY_OK;
}
