"""Assertions for unit tests of devices, compilers and kernels."""
from typing import Any, Mapping, Optional

from .devices import blame, diff
from .errors import AssayError


def assert_bits(device: Any, golden: Any, max_lsb: float = 0, *, rel: Optional[float] = None, explain: bool = True,
                tensors: Mapping[str, Mapping[str, float]] = {}) -> None:
    """Asserts that a device gave the golden bits.

    device: a dict of arrays by tensor name, a folder of dumps, or a bundle; some of the tensors are enough. golden: a bundle (Golden or
    folder). max_lsb: codes may differ by so much; rel: real values, relatively; tensors: {"logits": {"rel": 0.01}}. The message of a
    failure is the verdict of diff and, with explain, that of blame: the first divergence, the node at fault, the cause.
    """
    __tracebackhide__ = True
    found = diff(golden, device, max_lsb=max_lsb if max_lsb else None, rel=rel, tensors=tensors)
    if found.same:
        return
    said = [found.text.rstrip()]
    if explain:
        try:
            said.append(str(blame(golden, device, rel=rel)).rstrip())
        except AssayError as e:
            said.append(f"no blame: {e}")
    raise AssertionError("the device's bits differ from the golden ones\n" + "\n\n".join(said))
