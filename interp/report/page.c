/* A report as a page of HTML. */
#include "interp/report/page.h"

#include "graph/files/files.h"
#include "interp/page/html.h"
#include "interp/report/style.h"

static void put_contents(FILE *f, const report *r)
{
    fputs("<nav><ul>\n", f);
    for (int i = 0; i < r->n; i++) {
        const report_chapter *c = &r->chapter[i];
        fprintf(f, "<li><a href=\"#c%d\">%s: ", c->number, report_kind_name(c->source.kind));
        page_html_put(f, "", c->source.name, "</a></li>\n");
    }
    fputs("</ul></nav>\n", f);
}

static void put_chapter(FILE *f, const report *r, const report_chapter *c)
{
    fprintf(f, "<section id=\"c%d\"><h2>%s <small>", c->number, report_kind_name(c->source.kind));
    page_html_put(f, "", c->source.name, "</small></h2>\n");
    switch (c->source.kind) {
    case REPORT_BUNDLE:
        report_put_bundle(f, r, c);
        break;
    case REPORT_PROFILE:
        report_put_profile(f, c);
        break;
    case REPORT_EVAL:
        report_put_eval(f, c->source.json);
        break;
    case REPORT_RUN:
        report_put_run(f, r, c);
        break;
    case REPORT_SENSITIVITY:
        report_put_sensitivity(f, r, c);
        break;
    case REPORT_DIFF:
        report_put_diff(f, r, c);
        break;
    case REPORT_BLAME:
        report_put_blame(f, r, c);
        break;
    }
    fputs("</section>\n", f);
}

static void print_page(FILE *f, const void *what)
{
    const report *r = what;
    page_html_begin(f, "assay report", report_style);
    fputs("<h1>Assay report</h1>\n", f);
    put_contents(f, r);
    for (int i = 0; i < r->n; i++)
        put_chapter(f, r, &r->chapter[i]);
    page_html_sorting(f);
    fputs(report_script, f);
    page_html_end(f);
}

assay_status report_write_html(const report *r, const char *path, assay_error *err)
{
    const assay_status status = report_check_place(r, path, err);
    return status ? status : file_print(path, print_page, r, err);
}
