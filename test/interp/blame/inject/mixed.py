"""Drawn networks: convolutions and what is around them, attention, images that are moved and resized, a state."""
from drawing import Text


def convolutional(seed):
    text = Text(seed)
    shape = [1, 4, 14, 12]
    x = text.conv(("x", shape, 0.02, 3))
    kinds = [text.conv, text.conv, lambda v: text.pool(v, "avg_pool"), lambda v: text.pool(v, "max_pool"), lambda v: text.pair(v, "add"),
             lambda v: text.pair(v, "sub"), lambda v: text.pair(v, "mul"), lambda v: text.tabled(v, "sigmoid"), lambda v: text.tabled(v, "tanh"),
             text.joined]
    text.rng.shuffle(kinds)
    for kind in kinds:
        x = kind(x)
    return text.network("x", ("x", shape, 0.02, 3), text.ending(x))


def dense(t, x, width):
    """fc of x's last axis; x of any shape."""
    depth = x[1][-1]
    names, scale = t.parameters(x, width, depth, [width, depth])
    return t.put(x[1][:-1] + [width], scale, t.rng.randint(-30, 30), f"fc({x[0]}, {names})", False)


def moved(t, x, shape, text):
    return t.put(shape, x[2], x[3], text, False)


def attention(seed, plain=False):
    """[6, 16] under heads of 8. plain: for targets without softmax and norms."""
    t = Text(seed)
    rows, wide = 6, 16
    x = ("x", [rows, wide], 0.02, 3)
    heads = []
    for _ in range(3):
        y = dense(t, x, wide)
        y = moved(t, y, [rows, 2, 8], f"reshape({y[0]}) {{shape=[{rows},2,8]}}")
        heads.append(moved(t, y, [2, rows, 8], f"transpose({y[0]}) {{perm=[1,0,2]}}"))
    q, k, v = heads
    s = t.put([2, rows, rows], q[2] * k[2] * 120, t.rng.randint(-20, 20), f"matmul({q[0]}, {k[0]}) {{transpose_b=true}}")
    p = t.put([2, rows, rows], 1 / 256, -128, f"{'sigmoid' if plain else 'softmax'}({s[0]})", False)
    o = t.put([2, rows, 8], v[2] / 2, t.rng.randint(-20, 20), f"matmul({p[0]}, {v[0]})")
    o = moved(t, o, [rows, 2, 8], f"transpose({o[0]}) {{perm=[1,0,2]}}")
    o = moved(t, o, [rows, wide], f"reshape({o[0]}) {{shape=[{rows},{wide}]}}")
    y = dense(t, o, wide)
    y = t.put([rows, wide], max(x[2], y[2]) * 1.2, t.rng.randint(-20, 20), f"add({x[0]}, {y[0]})")
    n = t.put(y[1], y[2], y[3], f"relu({y[0]})", False) if plain else t.normed(y)
    y = dense(t, n, 24)
    y = t.put(y[1], y[2], -100, f"gelu({y[0]})", False)
    y = dense(t, y, wide)
    y = t.put([rows, wide], max(n[2], y[2]) * 1.2, t.rng.randint(-20, 20), f"sub({n[0]}, {y[0]})")
    y = t.put([1, wide], y[2] / 2, t.rng.randint(-20, 20), f"reduce_mean({y[0]}) {{axes=[0]}}", False)
    y = dense(t, y, 10)
    return t.network("x", x, y if plain else t.put([1, 10], 1 / 256, -128, f"softmax({y[0]})", False))


def attention_plain(seed):
    return attention(seed, True)


def picture(seed, plain=False):
    """plain: for targets without resizes."""
    t = Text(seed)
    x = ("x", [1, 4, 10, 12], 0.02, 3)
    y = t.conv(x)
    n, c, h, w = y[1]
    y = t.put(y[1], y[2], y[3] // 2, f"leaky_relu({y[0]}) {{alpha=0.2}}", False)
    y = moved(t, y, [n, c, h + 3, w + 2], f"pad({y[0]}) {{begin=[0,0,1,2], end=[0,0,2,0]}}")
    y = t.conv(y)
    n, c, h, w = y[1]
    up = moved(t, y, [n, c, 2 * h, 2 * w], f"tile({y[0]}) {{repeats=[1,1,2,2]}}" if plain else f"resize({y[0]}) {{coordinate=asymmetric, nearest=floor, size=[{n},{c},{2 * h},{2 * w}]}}")
    soft = moved(t, y, [n, c, 2 * h, 2 * w], f"reverse({up[0]}) {{axes=[2]}}" if plain else f"resize({y[0]}) {{mode=linear, size=[{n},{c},{2 * h},{2 * w}]}}")
    y = t.put(up[1], up[2] * 1.3, 7, f"sub({up[0]}, {soft[0]})")
    a = t.put(y[1], 1 / 256, -128, f"sigmoid({y[0]})", False)
    y = t.put(y[1], y[2] / 1.5, -9, f"mul({y[0]}, {a[0]})")
    y = t.sloped(y)
    n, c, h, w = y[1]
    y = moved(t, y, [n, c // 4, 2 * h, 2 * w], f"depth_to_space({y[0]}) {{block=2}}")
    y = moved(t, y, [n, c // 4, 2 * h - 5, w], f"slice({y[0]}) {{begin=[0,0,3,1], step=[1,1,1,2], size=[{n},{c // 4},{2 * h - 5},{w}]}}")
    n, c, h, w = y[1]
    y = t.conv(y)
    z = t.pool(y, "avg_pool")
    y = moved(t, y, [1, 2 * y[1][1]] + y[1][2:], f"concat({y[0]}, {z[0]}) {{axis=1}}")
    n, c, h, w = y[1]
    y = moved(t, y, [n, h, w, c], f"transpose({y[0]}) {{perm=[0,2,3,1]}}")
    y = t.put([n, c], y[2] / 2, 4, f"reduce_mean({y[0]}) {{axes=[1,2], keepdims=false}}", False)
    y = dense(t, y, 12)
    y = t.put([1, 12], 1 / 128, 0, f"tanh({y[0]})", False)
    return t.network("x", x, y)


def picture_plain(seed):
    return picture(seed, True)


def recurrent(seed):
    """A state of 12 values: h' = tanh(W x + U h), and one of two steps ago."""
    t = Text(seed)
    x = ("x", [1, 8], 0.02, 3)
    t.lines += ["var h: i8[1,12] q(0.0078125,0)", "var g: i8[1,12] q(0.0078125,0)"]
    h = moved(t, ("h", [1, 12], 1 / 128, 0), [1, 12], "read(h)")
    g = moved(t, ("g", [1, 12], 1 / 128, 0), [1, 12], "read(g)")
    a, b = dense(t, x, 12), dense(t, h, 12)
    s = t.put([1, 12], max(a[2], b[2]) * 1.2, 5, f"add({a[0]}, {b[0]})")
    n = t.put([1, 12], 1 / 128, 0, f"tanh({s[0]})", False)
    c = moved(t, n, [1, 24], f"concat({n[0]}, {g[0]}) {{axis=1}}")
    moved(t, h, [1, 12], f"assign(g, {h[0]})")
    moved(t, n, [1, 12], f"assign(h, {n[0]})")
    return t.network("x", x, dense(t, c, 10))
