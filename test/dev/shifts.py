#!/usr/bin/env python3
"""A shift by a variable shows its bound: where a reader would have to prove that the count is less than the width, the
function says it. Read by functions.py.

The count of << or >> is a variable where it is not made of numbers, CONSTANTS and sizeof alone. Each name in it has a
bound that is shown when the function, or the comment before it, has that name in an assert, in a comparison or a
modulus, between two numbers (0..63, 1 to 64) or in "at most"; when the name is of those whose bound stands with their
type (BOUND); or when what the name was set to shows one: a constant, a modulus, a mask, a clamp, a count of zeros.
"""
import re

MASK = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
FUNCTION = re.compile(r"((?:/\*(?:(?!\*/).)*\*/\n)?)^([^\s#{}/][^;{}]*)\n\{\n(.*?)^\}", re.S | re.M)
SHIFT = re.compile(r"(?<![<>])(?:<<|>>)=?(?![<>])")
# Names whose bound stands where they are declared: of layouts in schemes/mac/formats.h, formats in apply/softfloat.c.
BOUND = {"exponent_bits", "fraction_bits", "precision", "width"}
CLAMPS = r"\w*between|infer_dot_among|among|apply_clamp_to"
TYPES = {"unsigned", "int", "size_t", "uint64_t", "int64_t", "int32_t", "uint32_t", "sizeof", "const", "long"}


def count_of(text, at):
    """The operand of a shift that begins at `at`: up to an operator that binds less, or what closes."""
    depth, i = 0, at
    while i < len(text):
        c = text[i]
        if text.startswith("->", i):
            i += 2
            continue
        if c in "([":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (c in ",;?:<>=&|^"):
            break
        i += 1
    return text[at:i]


def names_of(count):
    """The last words of what it reads: bits of x->elem.bits, bits of a call bits(x)."""
    while "[" in count and count != (less := re.sub(r"\[[^\[\]]*\]", "", count)):
        count = less
    count = re.sub(rf"\b(?:{CLAMPS})\((?:[^()]|\([^()]*\))*,([^,()]*)\)", r"\1", count) # no more than the last argument
    found = re.findall(r"(?<![\w.])(?:\w+(?:\([^()]*\))?(?:->|\.))*([a-z_]\w*)", count)
    return {n for n in found if n not in TYPES and not n.isupper() and not re.fullmatch(r"[A-Z0-9_]+", n)}


def shown(name, text, deep=True):
    """Does the text (of the function and the comment before it) say what the name is at most?"""
    word = rf"(?<!\w){name}(?!\w)"
    term = rf"{word}(?:\[[^\[\]]*\]|\([^()]*\)|\)| [*+-] \w+)*"
    bare = SHIFT.sub(" @ ", text.replace("->", "."))
    tests = (rf"{term}\s*(?:<|>|==|!=|%|&(?!&))=?", rf"(?:<|>|==|!=)=?\s*[\w.*\s+()-]*?{word}",
             rf"{word}[^;]*?(?:\d+\s?\.\.\s?\w|\d+ to \w|at most|below)", rf"{word}\s*=(?!=)[^;]*(?:%|&|\?|clamp|clz|ctz)",
             rf"{word}\s*=\s*[\dA-Z_()+* -]+[,;]", rf"{word}\s*\?")
    if any(re.search(t, bare) for t in tests):
        return True
    made_of = set().union(*(names_of(m[1]) for m in re.finditer(rf"{word}\s*=(?!=)([^;,]*)[;,]", bare))) - {name}
    return deep and bool(made_of) and all(shown(n, text, False) for n in made_of - BOUND)


def by_variable(text):
    """(function, its text with the comment before it, count) of each shift by a variable."""
    for comment, head, body in FUNCTION.findall(MASK.sub('""', text)):
        code = COMMENT.sub(lambda m: " " * len(m[0]), body)
        for m in SHIFT.finditer(code):
            count = count_of(code, m.end())
            if names_of(count):
                yield re.search(r"(\w+)\((?!\*)", head)[1], comment + head + "\n" + body, count.strip()


def variable(text):
    """How many there are."""
    return sum(1 for _ in by_variable(text))


def unbounded(text):
    """(function, count) of each whose bound is nowhere."""
    for function, whole, count in by_variable(text):
        if not all(shown(name, whole) for name in names_of(count) - BOUND):
            yield function, count


# What functions.py tries: functions that show no bound, and such that do.
FORM = "int f(int x, int s, int k)\n{\n    %s\n}\n"
WRONG = [FORM % b for b in ("return x << s;", "return x >>= (s + 1);", "int d = s - 1; return x << d;", "assert(k < 8); return x << s;",
                            "assert(s < 8); return x << s << k;", "return x << t->elem.bits;", "g(\"s < 8\"); return x << s;")]
RIGHT = [FORM % b for b in ("assert(s >= 0 && s < 32); return x << s;", "if (s > 31)\n        return 0;\n    return x << s;", "return x << 8 * SIZE;",
                            "for (s = 0; s < 8; s++)\n        x |= x << s;\n    return x;", "return x << (s < 31 ? s : 31);", "return x << s % 8;",
                            "assert(s < 8); int d = s + 1; return x << d;", "return x << between(r, 0, 7);")]
RIGHT.append("/* x * 2^s, s at most 8. */\n" + FORM % "return x << s;")
