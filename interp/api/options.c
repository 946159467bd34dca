/* Options from callers, texts for them, and the library's version. */
#include "interp/api/options.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/files/json.h"
#include "graph/files/memory.h"
#include "graph/memory.h"

enum { MAX_OPTIONS = 4096 }; /* bytes */

const char *assay_version(void)
{
    return ASSAY_VERSION;
}

void assay_free(void *p)
{
    free(p);
}

assay_status assay_options_take(const void *from, void *to, size_t room, assay_error *err)
{
    size_t size;
    memset(to, 0, room);
    if (!from)
        return ASSAY_OK;
    memcpy(&size, from, sizeof size);
    if (size < sizeof size || size > MAX_OPTIONS)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "options of %zu bytes: the first member is the struct's size, as "
                          "ASSAY_OPTIONS sets it",
                          size);
    for (size_t i = room; i < size; i++)
        if (((const char *)from)[i])
            return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                              "options of %zu bytes, of which this library (%s) knows %zu: an "
                              "option that it does not know is set",
                              size, ASSAY_VERSION, room);
    memcpy(to, from, size < room ? size : room);
    return ASSAY_OK;
}

assay_status assay_check_seed(uint64_t seed, assay_error *err)
{
    if (seed <= INT64_MAX)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT, "seed %" PRIu64 " is above 2^63 - 1", seed);
}

assay_status assay_text_of_json(json_t *json, char **out, assay_error *err)
{
    char *text = out ? file_json_text(json, ASSAY_JSON_FORMAT | JSON_ENCODE_ANY) : NULL;
    const bool made = out ? text != NULL : json != NULL;

    json_decref(json);
    if (out)
        *out = text;
    return made ? ASSAY_OK : assay_out_of_memory(err);
}

assay_status assay_text_of(void (*print)(FILE *f, const void *what), const void *what, char **out,
                           assay_error *err)
{
    file_memory text = {0};
    FILE *f;

    if (!out)
        return ASSAY_OK;
    f = file_memory_open(&text);
    if (f)
        print(f, what);
    const bool whole = file_memory_close(f);
    if (whole && file_memory_add(&text, "", 1)) {
        *out = text.text;
        return ASSAY_OK;
    }
    free(text.text);
    *out = NULL;
    return assay_out_of_memory(err);
}

void assay_texts_begin(char **const *text, int n)
{
    for (int i = 0; i < n; i++)
        if (text[i])
            *text[i] = NULL;
}

assay_status assay_texts_end(assay_status status, char **const *text, int n)
{
    for (int i = 0; status && i < n; i++)
        if (text[i]) {
            free(*text[i]);
            *text[i] = NULL;
        }
    return status;
}
