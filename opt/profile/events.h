/* Reading a YAML file event by event, in a known order: for files too large for a tree.
 * Every complaint is one line, PATH:LINE: ... */
#ifndef ASSAY_OPT_EVENTS_H
#define ASSAY_OPT_EVENTS_H

#include <yaml.h>

#include "graph/base.h"

typedef struct assay_events {
    const char *path;
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    bool has_event;
    assay_error *err;
} assay_events;

/* Fails at the current event with ASSAY_ERR_INPUT, or another status. */
#define ASSAY_REFUSE(r, ...) profile_events_fail(r, ASSAY_ERR_INPUT, __VA_ARGS__)
assay_status profile_events_fail(assay_events *r, assay_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Moves to the next event; to one of a type; to a scalar without embedded NUL. */
assay_status profile_events_next(assay_events *r);
assay_status profile_events_expect(assay_events *r, yaml_event_type_t type, const char *what);
assay_status profile_events_scalar(assay_events *r, const char *what);
/* The current scalar's text. */
const char *profile_events_text(const assay_events *r);

/* The next event is this key. */
assay_status profile_events_key(assay_events *r, const char *key);
/* The current scalar as a count, or as a finite number. */
assay_status profile_events_as_count(assay_events *r, const char *what, uint64_t *out);
assay_status profile_events_as_float(assay_events *r, const char *what, float *out);
/* A key and its value. The text is malloc'd and replaces *out, which is freed. */
assay_status profile_events_count(assay_events *r, const char *key, uint64_t *out);
assay_status profile_events_float(assay_events *r, const char *key, float *out);
assay_status profile_events_int(assay_events *r, const char *key, long lo, long hi, int *out);
assay_status profile_events_string(assay_events *r, const char *key, char **out);

#endif
