"""Single quantized operators at random, uint8 activations as PyTorch's engines have them: each is a network in Assay's
text form, and what PyTorch calls for it. Images are channels first."""
import numpy as np
import torch
import torch.nn.functional as F

from pytorch_net import Net, quantized

Q = torch.ops.quantized


def pair(n, lo=1, hi=3):
    return [int(v) for v in n.r.integers(lo, hi + 1, 2)]


def conv(depthwise=False, transposed=False):
    def make(n):
        kernel, stride = pair(n, 1, 4), pair(n, 1, 2)
        pad = [0, 0] if transposed else [int(n.r.integers(0, k)) for k in kernel]
        inner = int(n.r.integers(1, 21))
        groups = inner if depthwise else 1
        channels = inner * int(n.r.integers(1, 3)) if depthwise else int(n.r.integers(1, 21))
        size = [k + int(v) for k, v in zip(kernel, pair(n, 0, 8))]
        x = n.input(n.codes([1, inner, *size]))
        rows = [inner, channels] if transposed else [channels, inner // groups]
        w = n.weights([*rows, *kernel], by_channel=not transposed)
        b = n.bias(x, w, channels)
        if transposed:
            out = [(d - 1) * s + k for d, s, k in zip(size, stride, kernel)]
        else:
            out = [(d + 2 * p - k) // s + 1 for d, p, k, s in zip(size, pad, kernel, stride)]
        relu = not transposed and n.chance(0.3)
        y = n.sums([1, channels, *out], x, w)
        windows = {"stride": stride}
        if any(pad):
            windows.update(pad_begin=pad, pad_end=pad)
        if groups > 1:
            windows["group"] = groups
        n.node(y, "conv_transpose" if transposed else "conv", [x, w, b], windows, act=[0, "inf"] if relu else None)

        def run(q):
            if transposed:
                packed = Q.conv_transpose2d_prepack(w.tensor, b.floats, stride, [0, 0], [0, 0], [1, 1], groups)
                return Q.conv_transpose2d(q, packed, y.scale, y.zero)
            packed = Q.conv2d_prepack(w.tensor, b.floats, stride, pad, [1, 1], groups)
            return (Q.conv2d_relu if relu else Q.conv2d)(q, packed, y.scale, y.zero)
        return run
    return make


def linear(by_channel):
    def make(n):
        depth, channels = int(n.r.integers(1, 71)), int(n.r.integers(1, 31))
        x = n.input(n.codes([int(n.r.integers(1, 8)), depth]))
        w = n.weights([channels, depth], by_channel)
        b, relu = n.bias(x, w, channels), n.chance(0.3)
        y = n.sums([x.shape[0], channels], x, w)
        n.node(y, "fc", [x, w, b], act=[0, "inf"] if relu else None)

        def run(q):
            packed = Q.linear_prepack(w.tensor, b.floats)
            return (Q.linear_relu if relu else Q.linear)(q, packed, y.scale, y.zero)
        return run
    return make


def binary(op, call, call_relu, of):
    def make(n):
        shape = [1, *[int(v) for v in n.r.integers(1, 10, 3)]]
        a, b, relu = n.input(n.codes(shape)), n.input(n.codes(shape)), n.chance(0.3)
        y = n.codes(shape)
        y.scale = float(np.float32(of(a.scale, b.scale) * 2 ** n.r.uniform(-1, 2)))
        n.node(y, op, [a, b], act=[0, "inf"] if relu else None)
        return lambda p, q: (call_relu if relu else call)(p, q, y.scale, y.zero)
    return make


def kept(op, build):
    """The result has the parameters of the operand; build gives the shape, the attributes and the call."""
    def make(n):
        x = n.input(n.codes([1, *[int(v) for v in n.r.integers(2, 10, 3)]]))
        shape, attributes, call = build(n, x)
        n.node(x.like(shape), op, [x], attributes)
        return call
    return make


def window(n):
    """QNNPACK refuses windows of one element."""
    return [2, int(n.r.integers(1, 3))] if n.chance(0.5) else [int(n.r.integers(1, 3)), 2]


def avg_pool(n, x):
    kernel = window(n)
    out = [d - k + 1 for d, k in zip(x.shape[2:], kernel)]
    return [*x.shape[:2], *out], {"kernel": kernel, "stride": [1, 1]}, lambda q: F.avg_pool2d(q, kernel, 1)


def max_pool(n, x):
    kernel = window(n)
    out = [d - k + 1 for d, k in zip(x.shape[2:], kernel)]
    return [*x.shape[:2], *out], {"kernel": kernel, "stride": [1, 1]}, lambda q: F.max_pool2d(q, kernel, 1)


def global_pool(n, x):
    return [*x.shape[:2], 1, 1], {}, lambda q: F.adaptive_avg_pool2d(q, 1)


def mean(n, x):
    return [*x.shape[:2], 1, 1], {"axes": [2, 3], "keepdims": "true"}, lambda q: torch.mean(q, [2, 3], True)


def same(call, attributes=None):
    return lambda n, x: (x.shape, attributes or {}, call)


def unary(op, call, scale=None, zero=None, attributes=None):
    """The result's parameters are its own, or those that the runtime gives."""
    def make(n):
        x = n.input(n.codes([1, *[int(v) for v in n.r.integers(1, 10, 3)]]))
        y = n.codes(x.shape)
        y.scale, y.zero = (y.scale, y.zero) if scale is None else (scale, zero)
        n.node(y, op, [x], attributes or {})
        return lambda q: call(q, y)
    return make


def softmax(n):
    x = n.input(n.codes([int(n.r.integers(1, 5)), int(n.r.integers(2, 40))]))
    y = x.like(x.shape)
    y.scale, y.zero = 1 / 256, 0
    n.node(y, "softmax", [x])
    return lambda q: Q.softmax(q, 1, y.scale, y.zero)


def quantize(n):
    x = n.floats([1, int(n.r.integers(1, 300))])
    y = n.codes(x.shape)
    n.node(y, "quantize", [x])
    return lambda f: quantized(f, y)


def dequantize(n):
    x = n.input(n.codes([1, int(n.r.integers(1, 300))]))
    n.float_node(x.shape, "dequantize", [x])
    return lambda q: q.dequantize()


CASES = {
    "conv": conv(),
    "depthwise conv": conv(depthwise=True),
    "transposed conv": conv(transposed=True),
    "linear": linear(False),
    "linear by channel": linear(True),
    "add": binary("add", Q.add, Q.add_relu, max),
    "mul": binary("mul", Q.mul, Q.mul_relu, lambda a, b: a * b * 64),
    "average pool": kept("avg_pool", avg_pool),
    "global average pool": kept("global_avg_pool", global_pool),
    "mean": kept("reduce_mean", mean),
    "max pool": kept("max_pool", max_pool),
    "relu": kept("relu", same(torch.relu)),
    "clip": kept("clip", same(lambda q: torch.clamp(q, -0.5, 0.75), {"lo": -0.5, "hi": 0.75})),
    "sigmoid": unary("sigmoid", lambda q, y: torch.sigmoid(q), 1 / 256, 0),
    "tanh": unary("tanh", lambda q, y: torch.tanh(q), 2 / 256, 128),
    "hard swish": unary("hard_swish", lambda q, y: Q.hardswish(q, y.scale, y.zero)),
    "leaky relu": unary("leaky_relu", lambda q, y: Q.leaky_relu(q, 0.125, False, y.scale, y.zero), attributes={"alpha": 0.125}),
    "elu": unary("elu", lambda q, y: Q.elu(q, y.scale, y.zero, 1.0), attributes={"alpha": 1}),
    "softmax": softmax,
    "quantize": quantize,
    "dequantize": dequantize,
}
