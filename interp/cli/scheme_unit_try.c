/* assay scheme try on a matrix unit: one dot product, its patterns on the command line. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "interp/api/units.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme_unit.h"

enum { MAX_PATTERNS = 4096 };

typedef struct column {
    uint64_t patterns[MAX_PATTERNS]; /* as they are stored: bytes of the format's width */
    size_t n;
} column;

/* Patterns of format f, separated by commas, of an option; false after a message. */
static bool read_column(const cli_args *a, const char *option, int64_t f, column *out)
{
    const size_t bytes = (size_t)mac_layout_of((enum assay_mac_format)f)->bits / 8;
    const char *text = cli_value(a, option, "0");
    for (out->n = 0; out->n < MAX_PATTERNS; out->n++) {
        char *end;
        errno = 0;
        const uint64_t v = strtoull(text, &end, 0);
        if (end == text || errno != 0 || (*end != '\0' && *end != ',') || strchr(text, '-') ||
            (bytes < 8 && v >> (8 * bytes) != 0)) {
            cli_trouble("scheme try: --%s: \"%.20s\" is not a pattern of %s", option, text,
                        mac_layout_of((enum assay_mac_format)f)->name);
            return false;
        }
        mac_store(f, out->patterns, out->n, v);
        if (*end == '\0') {
            out->n++;
            return true;
        }
        text = end + 1;
    }
    cli_trouble("scheme try: --%s has more than %d patterns", option, MAX_PATTERNS);
    return false;
}

static bool right_length(const assay_mac_unit *u, const char *option, size_t n, size_t expected)
{
    if (n == expected)
        return true;
    cli_trouble("scheme try: --%s has %zu patterns; %s takes %zu", option, n, u->name, expected);
    return false;
}

static bool read_columns(const cli_args *args, const assay_mac_unit *u, column *c)
{
    static const char *const names[] = {"a", "b", "c", "scale-a", "scale-b"};
    const assay_mac *m = &u->record;
    const int64_t format[] = {m->a, m->b, m->acc, m->scale, m->scale};
    const int used = m->scale_block > 0 ? 5 : 3;
    for (int i = 0; i < used; i++)
        if (!read_column(args, names[i], format[i], &c[i]))
            return false;
    const size_t k = c[0].n, each = mac_multiple(m);
    if (!right_length(u, "a", k, (k + each - 1) / each * each))
        return false;
    for (int i = 1; i < used; i++)
        if (!right_length(u, names[i], c[i].n,
                          i == 1   ? k
                          : i == 2 ? 1
                                   : k / (size_t)m->scale_block))
            return false;
    return true;
}

static int tell(const cli_args *args, const assay_mac_unit *u, const assay_dots *row)
{
    assay_error err;
    assay_status printed = ASSAY_OK;
    const assay_unit_trial t = {u, row, &printed, &err};
    assay_unit_print_trial(cli_notes_of(args), &t);
    if (printed)
        return cli_failed(&err);
    return cli_has(args, "json") ? cli_json_write(args, assay_unit_trial_json(&t)) : CLI_OK;
}

int cli_unit_try(const cli_args *args)
{
    assay_mac_unit u;
    assay_error err;
    if (!cli_has(args, "a") || !cli_has(args, "b"))
        return cli_trouble("scheme try: a matrix unit needs --a and --b, patterns with commas");
    if (assay_units_open(args->positional[1], &u, &err))
        return cli_failed(&err);
    const bool scales = u.record.scale_block > 0;
    if (cli_has(args, "scale-a") != scales || cli_has(args, "scale-b") != scales)
        return cli_trouble(scales ? "scheme try: %s needs --scale-a and --scale-b"
                                  : "scheme try: %s has no block scales",
                           u.name);
    column *c = calloc(5, sizeof *c);
    if (!c)
        return cli_out_of_memory();
    int status = CLI_TROUBLE;
    if (read_columns(args, &u, c)) {
        const assay_dots row = {.n = 1,
                                .k = c[0].n,
                                .a = c[0].patterns,
                                .b = c[1].patterns,
                                .c = c[2].patterns,
                                .scale_a = scales ? c[3].patterns : NULL,
                                .scale_b = scales ? c[4].patterns : NULL};
        status = tell(args, &u, &row);
    }
    free(c);
    return status;
}
