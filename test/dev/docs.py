#!/usr/bin/env python3
"""docs.py ASSAY SOURCE: the commands of pages are held to what the pages say, and links to where they lead."""
import os
import sys
import tempfile

SOURCE = os.path.realpath(sys.argv[2])
sys.path[:0] = [os.path.join(SOURCE, "interp/docs"), os.path.join(SOURCE, "test/support")]
import commands  # noqa: E402
from tap import Tap  # noqa: E402

TAP = Tap()
PAGE = """# A page

Text, and a file that is none of the commands:

    name: value

## First

    $ echo one; echo two; echo three
    one
    ...
    three
    $ echo digest 1234
    digest ...
    $ cat >file <<'END'
    $ no command
    END
    $ cat file
    another text

    not printed

## Second

    $ echo one
    two
    $ false
    $ assay diff x y
    $ export HERE=there
    $ echo $HERE
    there
    $ ...                  # a device does something
    $ verilator --version
"""


def verdicts():
    found = commands.commands("page.md", PAGE)
    TAP.check([c.section for c in found] == ["First"] * 4 + ["Second"] * 7, "sections", [(c.section, c.text) for c in found])
    TAP.check(found[0].prints == ["one", "...", "three"] and found[2].text == "cat >file <<'END'\n$ no command\nEND", "what is printed, what is given",
              [(c.text, c.prints) for c in found])
    results = commands.run(found, "page.md", PAGE, os.path.realpath(sys.argv[1]), SOURCE)
    got = [(c.text.splitlines()[0], verdict) for c, verdict, _ in results]
    wanted = [("echo one; echo two; echo three", "ok"), ("echo digest 1234", "ok"), ("cat >file <<'END'", "ok"), ("cat file", "not ok"), ("echo one", "not ok"),
              ("false", "not ok"), ("assay diff x y", "not ok"), ("export HERE=there", "ok"), ("echo $HERE", "ok")]
    TAP.check(got[:9] == wanted, "one verdict a command", got)
    TAP.check(len(got) == 10 and got[9][1] in ("ok", "skip"), "a placeholder is no command; what is not there is skipped", got)


def outputs():
    for printed, wanted, good in (("a\nb\n", ["a", "b"], True), ("a\nb\n", ["b"], True), ("a\nb\n", ["a", "c"], False), ("a\nx\nb\n", ["a", "b"], False),
                                  ("a\nx\nb\n", ["a", "...", "b"], True), ("a\nb\n", ["a", "...", "b"], True), ("b\na\n", ["a", "...", "b"], False),
                                  ("n 12 of 13", ["n ... of 13"], True), ("n 12 of 14", ["n ... of 13"], False), ("ab\n", ["a"], False), ("x+y\n", ["x.y"], False),
                                  ("  a   1\n", ["a 1"], True), ("", [], True), ("", ["a"], False)):
        TAP.check(commands.agrees(printed, wanted) == good, f"{printed!r} {'is' if good else 'is not'} {wanted}")


def links():
    try:
        import build
    except ImportError:
        print("# python3-markdown is not installed: links are not followed")
        return
    with tempfile.TemporaryDirectory() as out:
        for name, text in (("a.html", '<a href="b.html#there">b</a><a href="https://x.org/">x</a><h1 id="top">a</h1><a href="#top">t</a>'),
                           ("b.html", '<h2 id="there">b</h2><a href="c.html">c</a><a href="a.html#gone">a</a><a href="#gone">g</a>')):
            with open(os.path.join(out, name), "w", encoding="utf-8") as f:
                f.write(text)
        dead = build.dead_links(out)
    TAP.check(dead == ["b.html: #gone", "b.html: a.html#gone", "b.html: c.html"], "dead links", dead)


verdicts()
outputs()
links()
TAP.end()
