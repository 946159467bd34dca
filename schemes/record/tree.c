/* YAML events of libyaml into a tree with places; see tree.h for what is refused. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "graph/memory.h"
#include "schemes/record/tree.h"

#define MAX_DEPTH  8
#define MAX_NODES  100000
#define MAX_LENGTH (1u << 20)

typedef struct reader {
    yaml_parser_t parser;
    const char *file;
    assay_error *err;
    int nodes;
} reader;

void assay_tree_free(assay_tree *t)
{
    while (t) {
        assay_tree *next = t->next;
        assay_tree_free(t->child);
        free(t->text);
        free(t->key);
        free(t);
        t = next;
    }
}

const assay_tree *assay_tree_get(const assay_tree *map, const char *key)
{
    for (const assay_tree *c = map->child; c; c = c->next)
        if (strcmp(c->key, key) == 0)
            return c;
    return NULL;
}

static assay_status fail_at(const reader *r, const yaml_mark_t *m, const char *what)
{
    return assay_fail(r->err, ASSAY_ERR_INPUT, "%s:%zu:%zu: %s", r->file, m->line + 1,
                      m->column + 1, what);
}

static assay_status next_event(reader *r, yaml_event_t *e)
{
    if (yaml_parser_parse(&r->parser, e))
        return ASSAY_OK;
    memset(e, 0, sizeof *e);
    if (r->parser.error == YAML_MEMORY_ERROR)
        return assay_out_of_memory_for(r->err, "%s", r->file);
    return fail_at(r, &r->parser.problem_mark, r->parser.problem);
}

static char *copy_text(const char *text, size_t n)
{
    char *s = malloc(n + 1);
    if (s) {
        memcpy(s, text, n);
        s[n] = '\0';
    }
    return s;
}

/* Why the event cannot be part of our subset, or NULL. */
static const char *refuse_event(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_ALIAS_EVENT:
        return "aliases are not accepted; write the value out";
    case YAML_SCALAR_EVENT:
        if (e->data.scalar.anchor)
            return "anchors are not accepted; write the value out";
        if (e->data.scalar.tag)
            return "tags are not accepted; write the plain value";
        if (memchr(e->data.scalar.value, 0, e->data.scalar.length))
            return "a NUL character in a value";
        return NULL;
    case YAML_MAPPING_START_EVENT:
        return e->data.mapping_start.anchor ? "anchors are not accepted" : NULL;
    default: /* a node has no other event */
        return e->data.sequence_start.anchor ? "anchors are not accepted" : NULL;
    }
}

static assay_status build(reader *r, yaml_event_t *e, int depth, assay_tree **out);

/* Children of a map or list up to its end event. */
static assay_status build_children(reader *r, assay_tree *t, int depth)
{
    assay_tree **tail = &t->child;
    yaml_event_type_t end =
        t->kind == ASSAY_TREE_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    for (;;) {
        yaml_event_t e;
        char *key = NULL;
        assay_status s = next_event(r, &e);
        if (s || e.type == end) {
            yaml_event_delete(&e);
            return s;
        }
        if (t->kind == ASSAY_TREE_MAP) {
            const char *why = refuse_event(&e);
            if (!why && e.type != YAML_SCALAR_EVENT)
                why = "a key must be a plain word";
            if (!why && assay_tree_get(t, (const char *)e.data.scalar.value))
                why = "this key occurs twice in its map";
            if (why)
                s = fail_at(r, &e.start_mark, why);
            else if (!(key = copy_text((const char *)e.data.scalar.value, e.data.scalar.length)))
                s = assay_out_of_memory_for(r->err, "%s", r->file);
            yaml_event_delete(&e);
            if (!s)
                s = next_event(r, &e);
            if (s) {
                free(key);
                return s;
            }
        }
        s = build(r, &e, depth + 1, tail);
        yaml_event_delete(&e);
        if (*tail)
            (*tail)->key = key;
        else
            free(key);
        if (s)
            return s;
        tail = &(*tail)->next;
    }
}

/* One node that starts with event *e. On failure *out may hold a partial node, for freeing. */
static assay_status build(reader *r, yaml_event_t *e, int depth, assay_tree **out)
{
    const char *why = refuse_event(e);
    if (!why && depth > MAX_DEPTH)
        why = "nested too deeply (at most 8 levels)";
    if (!why && ++r->nodes > MAX_NODES)
        why = "too many values (at most 100000)";
    if (why)
        return fail_at(r, &e->start_mark, why);
    assay_tree *t = calloc(1, sizeof *t);
    if (!t)
        return assay_out_of_memory_for(r->err, "%s", r->file);
    *out = t;
    t->line = (unsigned)e->start_mark.line + 1;
    t->column = (unsigned)e->start_mark.column + 1;
    if (e->type == YAML_SCALAR_EVENT) {
        t->kind = ASSAY_TREE_SCALAR;
        t->text = copy_text((const char *)e->data.scalar.value, e->data.scalar.length);
        return t->text ? ASSAY_OK : assay_out_of_memory_for(r->err, "%s", r->file);
    }
    t->kind = e->type == YAML_MAPPING_START_EVENT ? ASSAY_TREE_MAP : ASSAY_TREE_LIST;
    return build_children(r, t, depth);
}

static assay_status read_document(reader *r, assay_tree **out)
{
    for (;;) {
        yaml_event_t e;
        assay_status s = next_event(r, &e);
        yaml_event_type_t type = e.type;
        if (!s && type == YAML_STREAM_END_EVENT && !*out)
            s = assay_fail(r->err, ASSAY_ERR_INPUT, "%s: empty; expected a map", r->file);
        else if (!s && type == YAML_DOCUMENT_START_EVENT && *out)
            s = fail_at(r, &e.start_mark, "a second document; one file holds one");
        else if (!s && (type == YAML_SCALAR_EVENT || type == YAML_MAPPING_START_EVENT ||
                        type == YAML_SEQUENCE_START_EVENT || type == YAML_ALIAS_EVENT))
            s = build(r, &e, 0, out);
        yaml_event_delete(&e);
        if (s || type == YAML_STREAM_END_EVENT)
            return s;
    }
}

assay_status assay_tree_parse(const char *file, const char *text, size_t length, assay_tree **out,
                              assay_error *err)
{
    *out = NULL;
    if (length > MAX_LENGTH)
        return assay_fail(err, ASSAY_ERR_LIMIT, "%s: %zu bytes; at most %u are accepted", file,
                          length, MAX_LENGTH);
    reader r = {.file = file, .err = err};
    if (!yaml_parser_initialize(&r.parser))
        return assay_out_of_memory_for(err, "%s", file);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
    assay_status s = read_document(&r, out);
    yaml_parser_delete(&r.parser);
    if (s) {
        assay_tree_free(*out);
        *out = NULL;
    }
    return s;
}
