/* Progress of a command on standard error: a bar on a terminal, a plain line every tenth otherwise.
 */
#include <unistd.h>

#include "interp/cli/cli.h"

void cli_progress_begin(cli_progress *p, const char *what, int64_t total, bool quiet)
{
    p->what = what;
    p->total = total;
    p->done = 0;
    p->shown = 0;
    p->terminal = isatty(STDERR_FILENO) != 0;
    p->quiet = quiet || total < 2;
}

void cli_progress_step(cli_progress *p)
{
    const int64_t parts = p->terminal ? 100 : 10;
    const int64_t now = ++p->done * parts / (p->total > 0 ? p->total : 1);

    if (p->quiet || now == p->shown)
        return;
    p->shown = now;
    if (!p->terminal) {
        fprintf(stderr, "%s: %lld of %lld\n", p->what, (long long)p->done, (long long)p->total);
        return;
    }
    fprintf(stderr, "\r%s [", p->what);
    for (int i = 0; i < 40; i++)
        fputc(i < now * 40 / 100 ? '#' : ' ', stderr);
    fprintf(stderr, "] %lld/%lld", (long long)p->done, (long long)p->total);
}

void cli_progress_end(cli_progress *p)
{
    if (!p->quiet && p->terminal)
        fprintf(stderr, "\r\033[K");
}
