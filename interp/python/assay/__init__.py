"""Assay: a reference interpreter for quantized neural networks.

    import assay
    net = assay.load("net.onnx")                        # ONNX, TFLite or text form
    profile = net.profile()
    profile.observe(images)                             # float32 [n, *shape of the input]
    small = net.quantize(profile, "tflite")             # a Network in integers
    result = small.program("tflite").run(images[0])     # every tensor by name, the target's bits
    golden = small.program("tflite").golden("golden", images[0])
    print(assay.diff(golden, "device-dumps"))           # the first divergence first
    print(assay.blame(golden, "device-dumps"))          # which node is itself at fault, and why

Schemes are a target's arithmetic: assay.presets() names the shipped ones, Scheme("tflite") opens one.
What the library refuses raises an AssayError with the library's one-line message. Threads may share programs, and other threads run
while the library computes. Arrays that come back are views of the library's memory, which lives as long as they do.
"""
from ._library import lib as _lib
from .asking import DotInference, Inference, infer, infer_answers, infer_dot, infer_dumps, probe
from .datasets import Dataset
from .devices import Blame, Capsule, Diff, Explanation, blame, capsule, diff, explain, write_dumps
from .errors import (AssayError, FileError, InputError, InternalError, LimitError, MissingLibraryError, OutOfMemoryError, SchemeError,
                     UnsupportedError)
from .golden import Golden, Verification
from .measuring import Accuracy, evaluate, evaluate_merge, evaluate_shard, sensitivity, tune, windows
from .networks import Network, Node, Proof, check_proof, load, loads
from .pages import report
from .profiles import Profile
from .programs import Program, Result, Run, run_many
from .schemes import Difference, Scheme, Steps, presets
from .telling import Comparison, Matrix, Vectors, compare, lint_vectors, matrix, vectors
from .tensors import TensorType
from .testing import assert_bits
from .units import MatrixUnit, UnitDifference, units

__version__: str = _lib.assay_version().decode()
__all__ = [
    "Accuracy", "AssayError", "Blame", "Capsule", "Comparison", "Dataset", "Diff", "Difference", "DotInference", "Explanation", "FileError", "Golden", "Inference",
    "InputError", "InternalError", "LimitError", "Matrix", "MatrixUnit", "MissingLibraryError", "Network", "Node", "OutOfMemoryError", "Profile", "Program",
    "Proof", "Result", "Run", "Scheme", "SchemeError", "Steps", "TensorType", "UnitDifference", "UnsupportedError", "Vectors", "Verification", "assert_bits",
    "blame", "capsule", "check_proof", "compare", "diff", "evaluate", "evaluate_merge", "evaluate_shard", "explain", "infer", "infer_answers", "infer_dot", "infer_dumps",
    "lint_vectors", "load", "loads", "matrix", "presets", "probe", "report", "run_many", "sensitivity", "tune", "units", "vectors", "windows", "write_dumps",
]
