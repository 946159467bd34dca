/* State that a network hands in and out, linked by its names. */
#include "interp/api/state.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/state.h"
#include "graph/memory.h"

/* Whether the name is the pattern, whose star (there is one at most) is *text of it. */
static bool fits(const char *pattern, const char *name, const char **text, size_t *length)
{
    const char *star = strchr(pattern, '*');
    const size_t before = star ? (size_t)(star - pattern) : 0, n = strlen(name);
    const size_t after = star ? strlen(star + 1) : 0;

    *text = "";
    *length = 0;
    if (!star)
        return strcmp(pattern, name) == 0;
    if (n < before + after || memcmp(name, pattern, before) != 0 ||
        strcmp(name + n - after, star + 1) != 0)
        return false;
    *text = name + before;
    *length = n - before - after;
    return true;
}

/* The pattern with its star written out; malloc'ed. */
static char *written_out(const char *pattern, const char *text, size_t length)
{
    const char *star = strchr(pattern, '*');
    char *name = malloc(strlen(pattern) + length + 1);

    if (!name)
        return NULL;
    if (!star)
        return strcpy(name, pattern);
    const size_t before = (size_t)(star - pattern);
    memcpy(name, pattern, before);
    memcpy(name + before, text, length);
    strcpy(name + before + length, star + 1);
    return name;
}

/* Every input that fits `past`. */
static assay_status link_all(assay_graph *g, const char *past, const char *present,
                             assay_error *err)
{
    assay_status status = ASSAY_OK;
    int linked = 0;

    for (int i = 0; i < g->n_inputs && !status;) {
        const char *text, *name = g->value[g->input[i]].name;
        size_t length;
        if (!fits(past, name, &text, &length)) {
            i++; /* an input that is linked leaves the list */
            continue;
        }
        char *out = written_out(present, text, length);
        status = out ? assay_graph_link_state(g, name, out, err) : assay_out_of_memory(err);
        free(out);
        linked++;
    }
    if (!status && linked == 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "state %.200s=%.200s: the network has no input of that name", past,
                          present);
    return status;
}

/* One PAST=PRESENT, which is taken apart. */
static assay_status link_pair(assay_graph *g, char *pair, assay_error *err)
{
    char *equals = strchr(pair, '=');
    const char *in = pair, *out = equals ? equals + 1 : "";

    if (equals)
        *equals = '\0';
    const char *a = strchr(in, '*'), *b = strchr(out, '*');
    if (!*in || !*out || !a != !b || (a && (strchr(a + 1, '*') || strchr(b + 1, '*'))))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "state takes PAST=PRESENT,..., an input and an output, each with a star "
                          "or neither, such as past_key_values.*=present.*");
    return link_all(g, in, out, err);
}

assay_status assay_states_link(assay_graph *g, const char *const *text, size_t n, assay_error *err)
{
    assay_status status = ASSAY_OK;

    for (size_t k = 0; k < n && !status; k++) {
        char *list = strdup(text[k]), *rest = list;
        if (!list)
            return assay_out_of_memory(err);
        for (char *pair; !status && (pair = strsep(&rest, ","));)
            status = link_pair(g, pair, err);
        free(list);
    }
    return status;
}
