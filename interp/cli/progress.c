/* Progress of a command on standard error: on a terminal a bar with the rate and the time left,
 * fitted to its width, in plain characters and without colours; a line every tenth otherwise. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "interp/cli/cli.h"

static const double FIRST_RATE = 0.2, BETWEEN_DRAWS = 0.1; /* seconds */

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Characters that a line may have; the last column stays free, so that none wraps. */
static int width_of_terminal(void)
{
    struct winsize size;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col - 1 : 79;
}

static bool draws(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && !(term && strcmp(term, "dumb") == 0);
}

void cli_progress_begin(cli_progress *p, const char *what, int64_t total, bool quiet)
{
    fflush(stdout); /* what was said comes first */
    p->what = what;
    p->total = total;
    p->done = 0;
    p->shown = 0;
    p->terminal = draws();
    p->quiet = quiet || total < 2;
    p->begun = seconds();
    p->drawn = p->begun - BETWEEN_DRAWS;
}

/* " 120/256  34.2/s  1:07 left", the rate as seconds of each where that is more than one. */
static void print_numbers(const cli_progress *p, double elapsed, char *to, size_t size)
{
    const double rate = (double)p->done / elapsed;
    const int64_t left = (int64_t)((double)(p->total - p->done) / rate + 0.5);
    int n = snprintf(to, size, " %lld/%lld", (long long)p->done, (long long)p->total);
    if (elapsed < FIRST_RATE)
        return;
    n += rate < 1
             ? snprintf(to + n, size - (size_t)n, "  %.1f s each  ", 1 / rate)
             : snprintf(to + n, size - (size_t)n, rate < 100 ? "  %.1f/s  " : "  %.0f/s  ", rate);
    if (left >= 3600)
        n += snprintf(to + n, size - (size_t)n, "%lld:%02d", (long long)(left / 3600),
                      (int)(left / 60 % 60));
    else
        n += snprintf(to + n, size - (size_t)n, "%d", (int)(left / 60));
    snprintf(to + n, size - (size_t)n, ":%02d left", (int)(left % 60));
}

static void draw(const cli_progress *p, double elapsed)
{
    enum { MAX_WIDTH = 40, MIN_WIDTH = 8 }; /* of a bar */
    const int width = width_of_terminal();
    char numbers[96], bar[MAX_WIDTH + 4] = "", line[512];

    print_numbers(p, elapsed, numbers, sizeof numbers);
    int room = width - (int)(strlen(p->what) + strlen(numbers) + strlen(" []"));
    room = room > MAX_WIDTH ? MAX_WIDTH : room;
    if (room >= MIN_WIDTH) {
        snprintf(bar, sizeof bar, " [%*s]", room, "");
        memset(bar + 2, '#', (size_t)(p->done * room / p->total));
    }
    snprintf(line, sizeof line, "%s%s%s", p->what, bar, numbers);
    fprintf(stderr, "\r%-*.*s", width, width, line); /* what was longer is overwritten */
}

void cli_progress_step(cli_progress *p)
{
    const int64_t tenth = ++p->done * 10 / (p->total > 0 ? p->total : 1);

    if (p->quiet)
        return;
    if (p->terminal) {
        const double now = seconds();
        if (now - p->drawn < BETWEEN_DRAWS)
            return;
        p->drawn = now;
        draw(p, now - p->begun);
    } else if (tenth != p->shown) {
        p->shown = tenth;
        fprintf(stderr, "%s: %lld of %lld\n", p->what, (long long)p->done, (long long)p->total);
    }
}

void cli_progress_to(void *progress, size_t done)
{
    cli_progress *p = progress;
    p->done = (int64_t)done - 1;
    cli_progress_step(p);
}

void cli_progress_end(cli_progress *p)
{
    if (!p->quiet && p->terminal)
        fprintf(stderr, "\r%*s\r", width_of_terminal(), "");
}
