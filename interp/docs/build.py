#!/usr/bin/env python3
"""The documentation as a static site: build.py ASSAY SOURCE OUT [--fast]     called by ./dev docs

Every Markdown page of the source, the manual's pages (mandoc) and the public headers. The commands of each page are run
(commands.py; not with --fast) and each link is followed; exit status 1 where a command fails or a link leads nowhere.
python3-markdown and mandoc are asked for."""
import html
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from multiprocessing.pool import ThreadPool

import markdown

import commands

HEADERS = ["interp/assay.h", "interp/assay_tools.h", "interp/assay_measures.h", "interp/assay_arithmetic.h", "graph/base.h", "schemes/vtable.h"]
FRAME = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="{root}style.css"></head>
<body><nav>{nav}</nav><main>
{body}
{foot}</main></body></html>
"""
STYLE = """:root { color-scheme: light dark; --ink: #1d1f21; --paper: #fdfdfb; --dim: #5c6370; --line: #d8d8d2; --box: #f3f3ee; --link: #0b57a4 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #d9dbdd; --paper: #17191c; --dim: #9aa2ad; --line: #363a40; --box: #20242a; --link: #7db4f0 }
}
* { box-sizing: border-box }
body { margin: 0; display: flex; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
nav { flex: 0 0 15rem; height: 100vh; position: sticky; top: 0; overflow-y: auto; padding: 1.2rem; border-right: 1px solid var(--line); font-size: .88rem }
nav a { display: block; padding: .08rem 0; overflow-wrap: anywhere } nav b { display: block; margin: .9rem 0 .2rem; color: var(--dim) }
nav a[aria-current] { font-weight: 600; color: var(--ink) }
main { flex: 1 1 auto; min-width: 0; max-width: 60rem; padding: 1.2rem 2.2rem 4rem }
a { color: var(--link); text-decoration: none } a:hover { text-decoration: underline }
pre { overflow-x: auto; padding: .7rem .9rem; background: var(--box); border: 1px solid var(--line); border-radius: 4px; line-height: 1.4 }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .86rem }
:not(pre) > code { background: var(--box); padding: .05rem .25rem; border-radius: 3px }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .92rem }
th, td { border: 1px solid var(--line); padding: .25rem .55rem; text-align: left; vertical-align: top } th { background: var(--box) }
a.permalink { color: inherit } h1, h2, h3 { line-height: 1.25 } h2 { margin-top: 2rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .6rem; color: var(--dim); font-size: .88rem }
.comment { color: var(--dim) } table.head, table.foot { display: none }
dt { font-weight: 600; margin-top: .5rem }
@media (max-width: 50rem) { body { display: block } nav { height: auto; position: static; border-right: 0; border-bottom: 1px solid var(--line) } main { padding: 1rem } }
@media print { nav { display: none } }
"""


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


class Site:
    """Pages by where they lie below OUT: pages["interp/README.html"] = (title, body, foot)."""

    def __init__(self, assay, source, out):
        self.assay, self.source, self.out = assay, source, out
        self.pages, self.failed = {}, []
        listed = subprocess.run(["git", "-C", source, "ls-files"], capture_output=True, text=True, check=True).stdout
        self.files = set(listed.splitlines())
        self.folders = {posixpath.dirname(f) for f in self.files}

    # ---- links ----

    def target(self, page, link):
        """Where a link of a page of the source leads on the site."""
        if re.match(r"[a-z]+:|#", link):
            return link
        path, _, anchor = link.partition("#")
        at = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if at in self.folders and at + "/README.md" in self.files:
            at += "/README.md"
        if at not in self.files:
            return link  # the check names it
        if not at.endswith(".md"):
            self.add_source(at)
        to = at[:-3] + ".html" if at.endswith(".md") else at + ".html"
        return posixpath.relpath(to, posixpath.dirname(page) or ".") + ("#" + anchor if anchor else "")

    def linked(self, page, body):
        return re.sub(r'href="([^"]*)"', lambda m: f'href="{self.target(page, html.unescape(m[1]))}"', body)

    # ---- pages ----

    def add_source(self, path):
        """A file as it is, its comments in grey."""
        if path + ".html" not in self.pages:
            body = html.escape(read(os.path.join(self.source, path)))
            if path.endswith((".h", ".c")):
                body = re.sub(r"/\*.*?\*/", lambda m: f'<span class="comment">{m[0]}</span>', body, flags=re.S)
            self.pages[path + ".html"] = (path, f"<h1>{path}</h1>\n<pre>{body}</pre>", "")

    def add_header(self, path):
        """A public header, its functions listed and linked to where they are declared."""
        text = html.escape(read(os.path.join(self.source, path)))
        names = re.findall(r"^[a-z][^;{}()]*?\b(assay_\w+)\(", text, flags=re.M)
        for name in dict.fromkeys(names):
            text = re.sub(rf"\b{name}(?=\()", f'<a id="{name}">{name}</a>', text, count=1)
        text = re.sub(r"/\*.*?\*/", lambda m: f'<span class="comment">{m[0]}</span>', text, flags=re.S)
        index = ", ".join(f'<a href="#{n}">{n}</a>' for n in dict.fromkeys(names))
        self.pages[path + ".html"] = (path, f"<h1>{path}</h1>\n<p>{index}</p>\n<pre>{text}</pre>", "")

    def add_markdown(self, path):
        text = read(os.path.join(self.source, path))
        body = markdown.markdown(text, extensions=["tables", "fenced_code", "toc", "sane_lists"])
        title = re.search(r"^# (.*)", text, flags=re.M)
        self.pages[path[:-3] + ".html"] = (title[1] if title else path, self.linked(path, body), "")

    def add_manual(self, folder):
        """The pages of a folder, as mandoc makes HTML of them; names of others become links."""
        names = {n for n in os.listdir(folder) if re.fullmatch(r"assay.*\.[17]", n)}
        for name in sorted(names):
            body = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", os.path.join(folder, name)], capture_output=True, text=True, check=True).stdout
            body = re.sub(r"(?:<b>|<i>)?(assay[a-z-]*)(?:</b>|</i>)?\(([17])\)",
                          lambda m: f'<a href="{m[1]}.{m[2]}.html">{m[1]}({m[2]})</a>' if f"{m[1]}.{m[2]}" in names else m[0], body)
            body = re.sub(r"<(/?)h1\b", r"<\1h2", re.sub(r"<(/?)h2\b", r"<\1h3", body))
            title = f"{name[:-2]}({name[-1]})"
            self.pages[f"man/{name}.html"] = (title, f"<h1>{title}</h1>\n{body}", "")

    def run_commands(self, path):
        """Of a page with commands: what became of them, as its foot."""
        text = read(os.path.join(self.source, path))
        found = commands.commands(path, text)
        if not found:
            return
        results = commands.run(found, path, text, self.assay, self.source)
        bad = [(c, printed) for c, verdict, printed in results if verdict == "not ok"]
        missed = sorted({printed.strip() for _, verdict, printed in results if verdict == "skip"})
        self.failed += [f"{path}: {c.text.splitlines()[0]}: {printed.strip()[-600:]}" for c, printed in bad]
        said = f"{sum(v == 'ok' for _, v, _ in results)} of this page's {len(results)} commands were run when it was built and did what it says"
        said += f"; not run here: {'; '.join(missed)}" if missed else ""
        title, body, _ = self.pages[path[:-3] + ".html"]
        self.pages[path[:-3] + ".html"] = (title, body, f"<footer>{html.escape(said)}.</footer>")
        print(f"{path}: {said}")

    # ---- the whole ----

    def nav(self, at):
        up = "../" * at.count("/")

        def entry(page, name):
            here = ' aria-current="page"' if page == at else ""
            return f'<a href="{up}{page}"{here}>{html.escape(name)}</a>'

        short = {"README.html": "Assay"}
        guides = [p for p in sorted(self.pages) if p.startswith("interp/tutorials/") and not p.endswith("/README.html")]
        groups = [("", [p for p in self.pages if p == "README.html"]), ("Tutorials", guides),
                  ("Folders", [p for p in sorted(self.pages) if p.endswith("/README.html") and p not in guides]),
                  ("Manual", [p for p in sorted(self.pages) if p.startswith("man/")]),
                  ("Headers", [h + ".html" for h in HEADERS])]
        out = []
        for head, pages in groups:
            out.append(f"<b>{head}</b>" if head and pages else "")
            for p in pages:
                name = short.get(p) or (self.pages[p][0] if head in ("Tutorials", "Manual") else p.replace("/README.html", "/").removesuffix(".html"))
                out.append(entry(p, name))
        return "\n".join(out)

    def write(self):
        for at, (title, body, foot) in self.pages.items():
            path = os.path.join(self.out, at)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as f:
                f.write(FRAME.format(title=html.escape(title), root="../" * at.count("/"), nav=self.nav(at), body=body, foot=foot))
        with open(os.path.join(self.out, "style.css"), "w", encoding="utf-8") as f:
            f.write(STYLE)
        shutil.copy(os.path.join(self.out, "README.html"), os.path.join(self.out, "index.html"))


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.hrefs, self.ids = [], set()

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("href", "src") and value:
                self.hrefs.append(value)
            elif key == "id":
                self.ids.add(value)


def dead_links(out):
    """["page: link"] of what leads to no file or no place in it; links to elsewhere are not followed."""
    seen = {}
    for folder, _, names in os.walk(out):
        for name in (n for n in names if n.endswith(".html")):
            path = os.path.join(folder, name)
            seen[os.path.normpath(path)] = links = Links()
            links.feed(read(path))
    dead = []
    for path, links in sorted(seen.items()):
        for href in sorted(set(links.hrefs)):
            if re.match(r"[a-z]+:", href):
                continue
            file, _, anchor = href.partition("#")
            at = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(at) or (anchor and at in seen and anchor not in seen[at].ids):
                dead.append(f"{os.path.relpath(path, out)}: {href}")
    return dead


def main():
    assay, source, out = (os.path.realpath(p) for p in sys.argv[1:4])
    site = Site(assay, source, out)
    shutil.rmtree(out, ignore_errors=True)
    pages = sorted(f for f in site.files if f.endswith(".md"))
    for page in pages:
        site.add_markdown(page)
    with tempfile.TemporaryDirectory() as manual:
        subprocess.run([assay, "manual", "--output", manual], check=True, stdout=subprocess.DEVNULL)
        for name in os.listdir(os.path.join(source, "interp/cli/man")):
            shutil.copy(os.path.join(source, "interp/cli/man", name), manual)
        site.add_manual(manual)
    for header in HEADERS:
        site.add_header(header)
    if sys.argv[4:] != ["--fast"]:
        with ThreadPool(2) as pool:
            pool.map(site.run_commands, pages)
    site.write()
    site.failed += ["dead link: " + link for link in dead_links(out)]
    for line in site.failed:
        print(line, file=sys.stderr)
    print(f"{len(site.pages)} pages in {out}; {len(site.failed)} faults")
    sys.exit(bool(site.failed))


if __name__ == "__main__":
    main()
