"""A network in Assay's text form, of uint8 codes, with the tensors that PyTorch computes the same with."""
import numpy as np
import torch


class Tensor:
    """One value: its text form's type, and for constants what PyTorch takes (tensor: quantized, floats: plain)."""

    def __init__(self, name, kind, shape, scale, zero, tensor=None, floats=None):
        self.name, self.kind, self.shape, self.scale, self.zero = name, kind, list(shape), scale, zero
        self.tensor, self.floats = tensor, floats

    def like(self, shape):
        return Tensor(None, self.kind, shape, self.scale, self.zero)

    def printed(self):
        shape = f"{self.kind}[{','.join(map(str, self.shape))}]"
        if self.scale is None:
            return shape
        if isinstance(self.scale, list):
            return f"{shape} q(axis=0,[{','.join(map(repr, self.scale))}],[{','.join(map(str, self.zero))}])"
        return f"{shape} q({self.scale!r},{self.zero})"


def quantized(values, t):
    return torch.quantize_per_tensor(values, t.scale, t.zero, torch.quint8)


def product(scales, by):
    return [float(np.float32(np.float32(s) * np.float32(by))) for s in scales]


class Net:
    def __init__(self, r, weight_offset):
        """weight_offset: what the text's codes of weights are above PyTorch's, which are signed: 0 or 128."""
        self.r, self.weight_offset, self.lines, self.feeds, self.count, self.last = r, weight_offset, [], [], 0, None

    def chance(self, p):
        return self.r.random() < p

    def scale(self, lo=0.004, hi=0.3):
        v = lo * (hi / lo) ** self.r.random()
        return float(np.float32(2.0 ** round(np.log2(v)) if self.chance(0.2) else v))

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count - 1}"

    def codes(self, shape):
        zero = int(self.r.choice([0, 128, 255, *self.r.integers(0, 256, 3)]))
        return Tensor(None, "u8", shape, self.scale(), zero)

    def input(self, t):
        t.name = self.name("x")
        ends = self.chance(0.2)
        codes = self.r.choice([0, 255], t.shape) if ends else self.r.integers(0, 256, t.shape)
        q = torch._make_per_tensor_quantized_tensor(torch.from_numpy(codes.astype(np.uint8)), t.scale, t.zero)
        self.lines.append(f"input {t.name}: {t.printed()}")
        self.feeds.append((codes.astype(np.uint8), q))
        return t

    def floats(self, shape):
        t = Tensor(self.name("x"), "f32", shape, None, None)
        values = (self.r.standard_normal(shape) * 4).astype(np.float32)
        self.lines.append(f"input {t.name}: {t.printed()}")
        self.feeds.append((values, torch.from_numpy(values)))
        return t

    def weights(self, shape, by_channel):
        """Signed codes in PyTorch; QNNPACK adds 128 to codes and zero points, and so does the text for it."""
        codes = np.clip(np.round(self.r.standard_normal(shape) * 127 / self.r.choice([2, 4])), -127, 127).astype(np.int8)
        offset = self.weight_offset
        t = Tensor(self.name("c"), "u8" if offset else "i8", shape, None, None)
        signed = torch.from_numpy(codes)
        if by_channel:
            t.scale, t.zero = [self.scale(0.002, 0.05) for _ in range(shape[0])], [offset] * shape[0]
            zeros = torch.zeros(shape[0], dtype=torch.int64)
            t.tensor = torch._make_per_channel_quantized_tensor(signed, torch.tensor(t.scale, dtype=torch.float64), zeros, 0)
        else:
            t.scale, t.zero = self.scale(0.002, 0.05), offset
            t.tensor = torch._make_per_tensor_quantized_tensor(signed, t.scale, 0)
        self.constant(t, codes.astype(np.int32).ravel() + offset)
        return t

    def constant(self, t, values):
        self.lines.append(f"const {t.name}: {t.printed()} = [{','.join(str(int(v)) for v in values)}]")

    def bias(self, x, w, channels):
        """Integers in the text; PyTorch takes floats and makes these of them."""
        codes = np.round(self.r.standard_normal(channels) * 2000).astype(np.int32)
        by_channel = isinstance(w.scale, list)
        scale = product(w.scale if by_channel else [w.scale], x.scale)
        t = Tensor(self.name("c"), "i32", [channels], scale if by_channel else scale[0], [0] * channels if by_channel else 0)
        t.floats = torch.from_numpy((codes * np.array(scale, dtype=np.float64)).astype(np.float32))
        self.constant(t, codes)
        return t

    def sums(self, shape, x, w):
        """A type in which sums of that many products mostly stay."""
        ws = max(w.scale) if isinstance(w.scale, list) else w.scale
        depth = int(np.prod(w.shape[1:]))
        t = self.codes(shape)
        t.scale = float(np.float32(x.scale * ws * 70 * 40 * np.sqrt(depth) / 128 * 2 ** self.r.uniform(-2, 2)))
        return t

    def node(self, t, op, ins, attributes=None, act=None):
        t.name = self.name("y")
        given = ", ".join(f"{k}=[{','.join(map(str, v))}]" if isinstance(v, list) else f"{k}={v}"
                          for k, v in (attributes or {}).items())
        self.lines.append(f"{t.name}: {t.printed()} = {op}({', '.join(i.name for i in ins)})"
                          + (f" {{{given}}}" if given else "") + (f" act[{act[0]},{act[1]}]" if act else ""))
        self.last = t

    def float_node(self, shape, op, ins):
        self.node(Tensor(None, "f32", shape, None, None), op, ins)

    def text(self):
        return "graph main {\n" + "".join(f"  {line}\n" for line in self.lines) + f"  output {self.last.name}\n}}\n"
