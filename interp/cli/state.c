/* --state PAST=PRESENT,...: outputs of a step that are inputs of the next. A star in both names
 * stands for the same text, for every input that fits. */
#include "interp/cli/state.h"
#include "graph/core/state.h"

#include <stdlib.h>
#include <string.h>

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
static int link_all(assay_graph *g, const char *past, const char *present)
{
    int linked = 0, status = CLI_OK;

    for (int i = 0; i < g->n_inputs && status == CLI_OK;) {
        const char *text, *name = g->value[g->input[i]].name;
        size_t length;
        assay_error err;
        if (!fits(past, name, &text, &length)) {
            i++; /* an input that is linked leaves the list */
            continue;
        }
        char *out = written_out(present, text, length);
        if (!out)
            status = cli_out_of_memory();
        else if (assay_graph_link_state(g, name, out, &err))
            status = cli_failed(&err);
        free(out);
        linked++;
    }
    if (status == CLI_OK && linked == 0)
        return cli_trouble("--state %s=%s: the network has no input of that name", past, present);
    return status;
}

/* One PAST=PRESENT, which is taken apart. */
static int link_pair(assay_graph *g, char *pair)
{
    char *equals = strchr(pair, '=');
    const char *in = pair, *out = equals ? equals + 1 : "";

    if (equals)
        *equals = '\0';
    const char *a = strchr(in, '*'), *b = strchr(out, '*');
    if (!*in || !*out || !a != !b || (a && (strchr(a + 1, '*') || strchr(b + 1, '*'))))
        return cli_trouble("--state takes PAST=PRESENT,..., an input and an output, each with a "
                           "star or neither, such as past_key_values.*=present.*");
    return link_all(g, in, out);
}

int cli_link_state(const cli_args *a, assay_graph *g)
{
    const char *text;
    int status = CLI_OK;

    for (int k = 0; status == CLI_OK && (text = cli_value_at(a, "state", k)); k++) {
        char *list = strdup(text), *rest = list;
        if (!list)
            return cli_out_of_memory();
        for (char *pair; status == CLI_OK && (pair = strsep(&rest, ","));)
            status = link_pair(g, pair);
        free(list);
    }
    return status;
}
