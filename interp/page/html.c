/* Pages of HTML that need nothing but themselves; see html.h. */
#include "interp/page/html.h"

#include "interp/page/xml.h"

#define GRADES                                                                                     \
    "--c0:" PAGE_C0 ";--c1:" PAGE_C1 ";--c2:" PAGE_C2 ";--c3:" PAGE_C3 ";--c4:" PAGE_C4            \
    ";--c5:" PAGE_C5

/* Fills that stand in drawings as attributes give way to these rules. */
static const char base[] =
    ":root{color-scheme:light dark;--page:#fff;--panel:#f6f7f9;--line:#d5d9df;--text:#1c2026;"
    "--quiet:#59616c;--link:#0b57a4;--good:#2f7d32;--bad:#b3261e;--bar:#1f5fa8;--range:#"
    "d9ecd0;" GRADES "}\n"
    "@media (prefers-color-scheme:dark){:root{--page:#14171b;--panel:#1e2228;--line:#3a414a;"
    "--text:#e4e7eb;--quiet:#a0a8b3;--link:#7db7f0;--good:#7fc483;--bad:#f08a82;--bar:#6aa5e8;"
    "--range:#2c4526;--c0:#1f4a27;--c1:#3c4c17;--c2:#58490f;--c3:#673f0f;--c4:#70321a;"
    "--c5:#7a2626}}\n"
    "@media print{:root{color-scheme:light;--page:#fff;--panel:#fff;--line:#bbb;--text:#000;"
    "--quiet:#444;--link:#000;--good:#1b5e20;--bad:#9a1414;--bar:#1f5fa8;--range:#d9ecd0;" GRADES
    "}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n"
    "body{background:var(--page);color:var(--text);font:14px/1.45 sans-serif}a{color:var(--link)}\n"
    "svg text:not([fill]){fill:var(--text)}svg svg text:not([fill]){fill:#222}"
    "svg [fill='#333'],svg [fill='#444']{fill:var(--text)}svg [fill='#555']{fill:var(--quiet)}"
    "svg>rect[fill='#fff']{fill:none}svg [fill='#1f5fa8']{fill:var(--bar)}"
    "svg [fill='#d9ecd0']{fill:var(--range)}svg [fill='#3a7d1e']{fill:var(--good)}"
    "svg [stroke='#333']{stroke:var(--text)}svg [stroke='#ccc']{stroke:var(--line)}"
    "svg [stroke='#1f5fa8']{stroke:var(--bar)}svg [stroke='#3a7d1e']{stroke:var(--good)}\n"
    "table{font-size:12px;border-collapse:collapse}"
    "td,th{padding:2px 8px;text-align:right;border-bottom:1px solid var(--line);"
    "white-space:nowrap}th[aria-sort=ascending]::after{content:' \\25b2'}"
    "th[aria-sort=descending]::after{content:' \\25bc'}\n"
    ".wide{overflow-x:auto}.wide td:nth-child(2){min-width:12em;max-width:26em;"
    "white-space:normal;overflow-wrap:anywhere}.wide td:nth-child(2)>a{display:-webkit-box;"
    "-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden}\n";

static const char sorting[] =
    "<script>document.querySelectorAll('th').forEach(h=>{h.style.cursor='pointer';h.onclick=()=>{"
    "const t=h.closest('table'),k=h.cellIndex,r=[...t.rows].slice(1),up=h.ariaSort!='ascending'&&"
    "(k<2||h.ariaSort=='descending');"
    "const v=x=>x.cells[k].textContent,n=x=>parseFloat(v(x));"
    "r.sort((a,b)=>{const d=k!=1&&n(a)===n(a)&&n(b)===n(b)?n(a)-n(b):v(a).localeCompare(v(b));"
    "return up?d:-d});r.forEach(x=>t.tBodies[0].append(x));"
    "t.querySelectorAll('th').forEach(o=>o.ariaSort=null);"
    "h.ariaSort=up?'ascending':'descending'}})</script>\n";

void page_html_put(FILE *f, const char *before, const char *text, const char *after)
{
    fputs(before, f);
    page_xml_text(f, text);
    fputs(after, f);
}

void page_html_begin(FILE *f, const char *title, const char *style)
{
    page_html_put(f,
                  "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>",
                  title, "</title>\n");
    fprintf(f, "<style>\n%s%s</style></head><body>\n", base, style);
}

void page_html_sorting(FILE *f)
{
    fputs(sorting, f);
}

void page_html_end(FILE *f)
{
    fputs("</body></html>\n", f);
}
