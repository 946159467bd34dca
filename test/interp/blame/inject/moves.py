"""Nodes of the device that move codes or mix neighbours: pad, slice, tile, reverse, blocks, resize."""
import numpy as np


class Moves:
    """Methods of device.Node."""

    def reshape(self):
        return self.x[0].reshape(self.shape)

    def concat(self):
        return np.concatenate(self.x, self.attr["axis"])

    def transpose(self):
        return self.x[0].transpose(self.attr["perm"])

    def fill(self):
        """The code that pad writes."""
        return self.attr["code"] if self.attr["has_code"] else self.bundle.entry(self.inputs[0])["zero_point"]

    def padding(self):
        """pad (`pad` is what a window has of it)."""
        return np.pad(self.x[0], list(zip(self.attr["begin"], self.attr["end"])), constant_values=self.fill())

    def slice(self):
        spans = zip(self.attr["begin"], self.attr["step"], self.attr["size"])
        return self.x[0][tuple(slice(b, b + s * n if b + s * n >= 0 else None, s) for b, s, n in spans)]

    def tiled(self):
        return np.tile(self.x[0], self.attr["repeats"])

    def reverse(self):
        return np.flip(self.x[0], self.attr["axes"])

    def depth_to_space(self):
        n, c, h, w = self.x[0].shape
        b = self.attr["block"]
        split, order = ((n, b, b, c // b // b, h, w), (0, 3, 4, 1, 5, 2)) if self.attr["order"] == "dcr" else ((n, c // b // b, b, b, h, w), (0, 1, 4, 2, 5, 3))
        return self.x[0].reshape(split).transpose(order).reshape(n, c // b // b, h * b, w * b)

    def resize(self):
        image = self.image(self.x[0])
        if self.attr["mode"] == "nearest":
            r, c = (np.arange(o) * i // o for i, o in zip(image.shape[2:], self.sizes()))
            return self.back(image[:, :, r][:, :, :, c])
        (r, r0, r1), (c, c0, c1) = (self.between(i, o) for i, o in zip(image.shape[2:], self.sizes()))
        r, one = r[:, None], 1 << self.fine
        mixed = (one - r) * (one - c) * image[:, :, r0][:, :, :, c0] + r * (one - c) * image[:, :, r1][:, :, :, c0] \
            + (one - r) * c * image[:, :, r0][:, :, :, c1] + r * c * image[:, :, r1][:, :, :, c1]
        return self.back(self.rounded(mixed, 2 * self.fine))

    def sizes(self):
        return self.shape[1:3] if self.nhwc else self.shape[2:]

    def between(self, extent, out):
        """How far each place lies behind the first of its neighbours, and both."""
        one = 1 << self.fine
        scale = (one * extent + out // 2) // out
        at = np.arange(out) * scale
        if self.attr["coordinate"] == "half_pixel":
            at = at + scale // 2 - one // 2
        low = np.maximum(np.where(at < 0, -(-at // one), at // one), 0)
        return at - one * low, low, np.minimum((at + one - 1) // one, extent - 1)
