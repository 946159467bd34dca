/* Standard output on a terminal, fitted to its width: tables lose blanks between their columns, and
 * lines that are still too long are folded at a blank, below where their last column begins. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "interp/cli/cli.h"

enum { GAP = 2 }; /* blanks that separate columns */

typedef struct line {
    const char *text;
    size_t length; /* in bytes, without the newline */
    bool ended;    /* by a newline */
} line;

/* Lines in a row whose columns may be moved together. */
typedef struct table {
    bool *ink; /* by column: some line has a character there */
    size_t room, rows;
    bool pairs;  /* all have two columns, or all have more */
    size_t keep; /* blanks that stay between columns */
} table;

static FILE *terminal;

static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

static size_t width_of(const line *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->length; i++)
        n += begins_character(l->text[i]);
    return n;
}

static line next_line(const char *text, size_t n)
{
    const char *end = memchr(text, '\n', n);
    return (line){text, end ? (size_t)(end - text) : n, end != NULL};
}

/* The first column of the gap at or behind column `from` between two that have ink, and its width;
 * false: there is none. */
static bool find_gap(const bool *ink, size_t room, size_t from, size_t *at, size_t *width)
{
    size_t i = from;
    while (i < room && !ink[i])
        i++;
    for (; i < room; i += *width) {
        for (*width = 0; i + *width < room && !ink[i + *width];)
            ++*width;
        if (*width >= GAP && i + *width < room) {
            *at = i;
            return true;
        }
        *width += *width == 0;
    }
    return false;
}

static void draw_ink(const line *l, bool *ink)
{
    size_t column = 0;
    for (size_t i = 0; i < l->length; i++)
        if (begins_character(l->text[i]))
            ink[column++] |= l->text[i] != ' ';
}

/* How many gaps there are, and how many blanks they have beyond `keep` each. */
static size_t count_gaps(const bool *ink, size_t room, size_t keep, size_t *beyond)
{
    size_t n = 0, width;
    *beyond = 0;
    for (size_t at = 0; find_gap(ink, room, at, &at, &width); at += width) {
        *beyond += width - keep;
        n++;
    }
    return n;
}

static size_t gaps_of(const line *l, bool *ink, size_t room)
{
    size_t beyond;
    memset(ink, 0, room * sizeof *ink);
    draw_ink(l, ink);
    return count_gaps(ink, room, GAP, &beyond);
}

/* Adds a line; false: it is not of this table. A line of one piece may stand between rows. */
static bool table_add(table *t, const line *l, bool *trial, size_t columns)
{
    size_t at, width;

    const size_t gaps = gaps_of(l, trial, t->room);
    if (gaps == 0)
        return t->rows > 0 && l->length > 0 && width_of(l) <= columns;
    if (t->rows > 0 && t->pairs != (gaps == 1))
        return false;
    for (size_t i = 0; i < t->room; i++)
        trial[i] |= t->ink[i];
    if (!find_gap(trial, t->room, 0, &at, &width))
        return false;
    memcpy(t->ink, trial, t->room * sizeof *trial);
    t->pairs = gaps == 1;
    t->rows++;
    return true;
}

/* A line without the columns that the table can spare. Returns its length in bytes. */
static size_t squeeze(const table *t, const line *l, char *out)
{
    size_t n = 0, column = 0, at = 0, width = 0;
    bool gap = find_gap(t->ink, t->room, 0, &at, &width);

    for (size_t i = 0; i < l->length; i++) {
        if (i > 0 && begins_character(l->text[i]))
            column++;
        while (gap && column >= at + width)
            gap = find_gap(t->ink, t->room, at + width, &at, &width);
        if (!gap || column < at + t->keep)
            out[n++] = l->text[i];
    }
    return n;
}

/* Where what does not fit on a line goes on: under its last column, if that is in the left half. */
static size_t hanging(const line *l, size_t columns)
{
    size_t indent = 0, last;
    while (indent < l->length && l->text[indent] == ' ')
        indent++;
    last = indent + (indent < 8 ? 2 : 0); /* prose; a cell */
    for (size_t i = indent; i + GAP < l->length && i + GAP <= columns / 2; i++)
        if (l->text[i] == ' ' && l->text[i + 1] == ' ' && l->text[i + GAP] != ' ')
            last = i + GAP;
    return last <= columns / 2 ? last : 0;
}

static void put_folded(line l, size_t columns)
{
    const size_t below = hanging(&l, columns);
    size_t used = 0;

    while (used + width_of(&l) > columns) {
        size_t cut = 0, column = used;
        for (size_t i = 0; i < l.length && (column <= columns || cut == 0); i++) {
            if (l.text[i] == ' ' && (used > 0 || column > below))
                cut = i;
            column += begins_character(l.text[i]);
        }
        if (cut == 0)
            break;
        size_t end = cut;
        while (end > 0 && l.text[end - 1] == ' ')
            end--;
        fprintf(terminal, "%.*s\n%*s", (int)end, l.text, (int)below, "");
        while (cut < l.length && l.text[cut] == ' ')
            cut++;
        l.text += cut;
        l.length -= cut;
        used = below;
    }
    fprintf(terminal, "%.*s%s", (int)l.length, l.text, l.ended ? "\n" : "");
}

static void put_rows(const table *t, const char *text, const char *end, size_t columns, bool *trial,
                     char *out)
{
    while (text < end) {
        const line l = next_line(text, (size_t)(end - text));
        put_folded(gaps_of(&l, trial, t->room) ? (line){out, squeeze(t, &l, out), l.ended} : l,
                   columns);
        text += l.length + l.ended;
    }
}

/* Lines from the first on that make a table, or that line alone. Returns the bytes they have. */
static size_t put_table(table *t, const char *text, size_t n, size_t columns, bool *trial,
                        char *out)
{
    size_t at = 0, widest = 0, beyond;

    memset(t->ink, 0, t->room * sizeof *t->ink);
    t->rows = 0;
    while (at < n) {
        const line l = next_line(text + at, n - at);
        if (!table_add(t, &l, trial, columns))
            break;
        widest = width_of(&l) > widest ? width_of(&l) : widest;
        at += l.length + l.ended;
    }
    count_gaps(t->ink, t->room, GAP, &beyond);
    t->keep = widest > columns + beyond ? 1 : GAP;
    if (at > 0 && widest > columns) {
        put_rows(t, text, text + at, columns, trial, out);
    } else if (at > 0) {
        fwrite(text, 1, at, terminal);
    } else {
        const line l = next_line(text, n);
        put_folded(l, columns);
        at = l.length + l.ended;
    }
    return at;
}

static void put_text(const char *text, size_t n, size_t columns)
{
    bool *ink = malloc(n), *trial = malloc(n);
    char *out = malloc(n);
    table t = {.ink = ink};

    for (size_t at = 0; at < n;) {
        const line l = next_line(text + at, n - at);
        t.room = l.length > t.room ? l.length : t.room;
        at += l.length + l.ended;
    }
    if (ink && trial && out)
        for (size_t at = 0; at < n;)
            at += put_table(&t, text + at, n - at, columns, trial, out);
    else
        fwrite(text, 1, n, terminal);
    free(ink);
    free(trial);
    free(out);
}

static ssize_t put(void *unused, const char *text, size_t n)
{
    struct winsize size;
    const bool known = ioctl(fileno(terminal), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;

    (void)unused;
    if (known)
        put_text(text, n, size.ws_col);
    else
        fwrite(text, 1, n, terminal);
    return fflush(terminal) == 0 ? (ssize_t)n : 0;
}

void cli_fit_begin(void)
{
    static char buffer[1 << 18]; /* a table is seen whole */
    const char *term = getenv("TERM");
    if (!isatty(STDOUT_FILENO) || (term && strcmp(term, "dumb") == 0))
        return;
    FILE *fitted = fopencookie(NULL, "w", (cookie_io_functions_t){.write = put});
    if (!fitted || setvbuf(fitted, buffer, _IOFBF, sizeof buffer) != 0)
        return;
    terminal = stdout;
    stdout = fitted;
}
