"""The text of drawn networks, a node at a time."""
import random

import numpy as np


def ints(values):
    return "[" + ",".join(str(int(v)) for v in values) + "]"


class Text:
    """The text of a network under work; a value is (name, shape, scale, zero)."""

    def __init__(self, seed):
        self.rng, self.draw = random.Random(seed), np.random.RandomState(seed)
        self.lines, self.count = [], 0

    def put(self, shape, scale, zero, text, fused=True):
        self.count += 1
        name = f"v{self.count}"
        bounds = f" codes[{max(zero, -120)},{self.rng.randint(90, 127)}]" if fused and self.rng.random() < 0.4 else ""
        self.lines.append(f"{name}: i8{ints(shape)} q({scale:.9g},{zero}) = {text}{bounds}")
        return name, shape, scale, zero

    def parameters(self, x, width, depth, shape):
        """Weights and bias of a node that is to come, and the output's scale."""
        scales = self.draw.uniform(0.004, 0.012, width)
        w = self.draw.randint(-127, 128, shape)
        unit = x[2] * scales.mean() * depth ** 0.5 * 5000
        b = self.draw.randint(-3000, 3000, width) * max(1, int(depth ** 0.5) // 2)
        zeros = ints([0] * width)
        spread = ",".join(f"{s:.9g}" for s in scales)
        wide = ",".join(f"{np.float32(s) * np.float32(x[2]):.9g}" for s in scales)
        self.lines.append(f"const w{self.count}: i8{ints(shape)} q(axis=0,[{spread}],{zeros}) = {ints(w.flat)}")
        self.lines.append(f"const b{self.count}: i32[{width}] q(axis=0,[{wide}],{zeros}) = {ints(b)}")
        return f"w{self.count}, b{self.count}", unit / 60

    def conv(self, x):
        n, c, h, w = x[1]
        depthwise = self.rng.random() < 0.4
        width, kernel, stride = (c if depthwise else self.rng.choice([12, 16, 24])), self.rng.choice([1, 3, 3]), self.rng.choice([1, 1, 2])
        kernel = 3 if depthwise else kernel
        stride = stride if min(h, w) >= 8 else 1
        pad = kernel // 2
        out = [n, width, (h + 2 * pad - kernel) // stride + 1, (w + 2 * pad - kernel) // stride + 1]
        own = 1 if depthwise else c
        names, scale = self.parameters(x, width, own * kernel * kernel, [width, own, kernel, kernel])
        return self.put(out, scale, self.rng.randint(-40, 40), f"conv({x[0]}, {names}) {{kernel=[{kernel},{kernel}], stride=[{stride},{stride}], "
                        f"pad_begin=[{pad},{pad}], pad_end=[{pad},{pad}], group={c if depthwise else 1}}}")

    def pool(self, x, op):
        return self.put(x[1], x[2], x[3], f"{op}({x[0]}) {{kernel=[3,3], pad_begin=[1,1], pad_end=[1,1]}}", False)

    def pair(self, x, op):
        y = self.conv1(x)
        scale = {"add": max(x[2], y[2]) * 1.3, "sub": max(x[2], y[2]) * 1.3, "mul": x[2] * y[2] * 60}[op]
        return self.put(x[1], scale, self.rng.randint(-30, 30), f"{op}({x[0]}, {y[0]})")

    def conv1(self, x):
        names, scale = self.parameters(x, x[1][1], x[1][1], [x[1][1], x[1][1], 1, 1])
        return self.put(x[1], scale, self.rng.randint(-40, 40), f"conv({x[0]}, {names}) {{kernel=[1,1]}}")

    def tabled(self, x, op):
        return self.put(x[1], 1 / 256 if op == "sigmoid" else 1 / 128, -128 if op == "sigmoid" else 0, f"{op}({x[0]})", False)

    def joined(self, x):
        y = self.pool(x, "max_pool")
        return self.put([x[1][0], 2 * x[1][1]] + x[1][2:], x[2], x[3], f"concat({x[0]}, {y[0]}) {{axis=1}}", False)

    def ending(self, x):
        n, c, h, w = x[1]
        x = self.put([n, c, 1, 1], x[2], x[3], f"global_avg_pool({x[0]})", False)
        x = self.put([n, c], x[2], x[3], f"reshape({x[0]}) {{shape={ints([n, c])}}}", False)
        names, scale = self.parameters(x, 10, c, [10, c])
        return self.put([n, 10], scale, self.rng.randint(-20, 20), f"fc({x[0]}, {names})")

    def sloped(self, x):
        """prelu: a slope a channel."""
        c = x[1][1]
        self.lines.append(f"const a{self.count}: i8[{c},1,1] q(0.004,0) = {ints(self.draw.randint(-60, 128, c))}")
        return self.put(x[1], x[2], x[3] // 2, f"prelu({x[0]}, a{self.count})", False)

    def normed(self, x):
        """layer_norm over the last axis."""
        c = x[1][-1]
        self.lines.append(f"const c{self.count}: i8[{c}] q(0.01,0) = {ints(self.draw.randint(40, 128, c))}")
        self.lines.append(f"const d{self.count}: i32[{c}] q(0.0001,0) = {ints(self.draw.randint(-3000, 3000, c))}")
        return self.put(x[1], 0.02, self.rng.randint(-20, 20), f"layer_norm({x[0]}, c{self.count}, d{self.count})", False)

    def network(self, name, x, y):
        """The text with input x and output y, and the input's shape."""
        body = "\n  ".join([f"input {name}: i8{ints(x[1])} q({x[2]},{x[3]})"] + self.lines)
        return f"graph drawn {{\n  {body}\n  output {y[0]}\n}}\n", x[1]
