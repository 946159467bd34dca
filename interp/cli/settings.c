/* Settings that the library's messages name, and what they are on the command line. */
#include <stdio.h>
#include <string.h>

#include "interp/cli/args.h"

/* `setting` is a field of an options structure or a function, and so an argument in Python. */
static const struct {
    const char *setting, *option;
} known[] = {
    {"`acc`", "--acc"},
    {"`accumulators`", "--accumulators"},
    {"`budget`", "--budget"},
    {"`class_axis`", "--class-axis"},
    {"`graph`", "--model"},
    {"`hex_bits`", "--hex-bits"},
    {"`ignore`", "--ignore-label"},
    {"`inputs`", "--input"},
    {"`kind`", "--kind"},
    {"`next_tokens`", "--next-tokens"},
    {"`per_channel`", "--per-channel"},
    {"`preprocess`", "--preprocess"},
    {"`presets`", "`assay scheme list`"},
    {"`raw`", "--raw"},
    {"`replace`", "--force"},
    {"`replay`", "--files-only"},
    {"`sample`", "--input"},
    {"`samples`", "--dataset"},
    {"`shape`", "--shape"},
    {"`target_sqnr`", "--target-sqnr"},
    {"`timeout`", "--timeout"},
    {"`units`", "`assay scheme list --units`"},
    {"`wide`", "--wide"},
};

static const char *option_at(const char *text, size_t *length)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        *length = strlen(known[i].setting);
        if (strncmp(text, known[i].setting, *length) == 0)
            return known[i].option;
    }
    *length = 1;
    return NULL;
}

void cli_name_options(const char *text, char *out, size_t size)
{
    size_t n = 0, length;

    for (; *text && n + 1 < size; text += length) {
        const char *option = option_at(text, &length);
        n += (size_t)snprintf(out + n, size - n, "%.*s", option ? (int)size : 1,
                              option ? option : text);
    }
    out[n < size ? n : size - 1] = '\0';
}
