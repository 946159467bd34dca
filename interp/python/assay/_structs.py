"""The structs and callbacks of the headers (assay.h, assay_tools.h, assay_measures.h, assay_arithmetic.h), in their order."""
import ctypes as c
from typing import Any, Sequence

from .errors import InputError

P = c.c_void_p
S = c.c_char_p


def pair(of: Any, values: Sequence[Any], name: str) -> Any:
    """Two numbers as the library takes them."""
    if len(values) != 2:
        raise InputError(f"{name} takes two numbers, not {len(values)}")
    made = (of * 2)(*values)
    if list(made) != list(values):
        raise InputError(f"{name}: {tuple(values)} is beyond its type")
    return made


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("text", c.c_char * 768)]


class Elem(c.Structure):
    _fields_ = [("kind", c.c_uint8), ("bits", c.c_uint8), ("is_signed", c.c_bool)]


class QParams(c.Structure):
    _fields_ = [("granularity", c.c_int), ("axis", c.c_int), ("block", c.c_int64), ("count", c.c_size_t),
                ("scale", c.POINTER(c.c_float)), ("zero_point", c.POINTER(c.c_int32))]


class Type(c.Structure):
    _fields_ = [("elem", Elem), ("rank", c.c_int), ("dim", c.c_int64 * 6), ("q", QParams)]


class Options(c.Structure):
    """A struct that begins with its size; all else is zero, the default."""

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.size = c.sizeof(self)
        for name, value in values.items():  # ctypes cuts integers
            if isinstance(value, int) and getattr(self, name) != value:
                raise InputError(f"{name}: {value} is beyond its type")


class Rows(Options):
    _fields_ = [("size", c.c_size_t), ("n", c.c_size_t), ("op", S), ("type", S), ("wide", c.c_bool), ("per_tensor", c.c_bool),
                ("acc", P), ("scale", P), ("in_scale", P), ("weight_scale", P), ("out_scale", P),
                ("multiplier", P), ("shift", P), ("pre", P), ("zero_point", P), ("in_zero_point", P), ("lo", P), ("hi", P)]


SAMPLE: Any = c.CFUNCTYPE(c.c_int, P, S, c.POINTER(Type), P, c.POINTER(Error))


class LoadOptions(Options):
    _fields_ = [("size", c.c_size_t), ("batch", c.c_int64), ("shape", c.POINTER(S)), ("n_shapes", c.c_size_t),
                ("keep_narrow", c.c_bool), ("as_it_is", c.c_bool), ("fix", c.POINTER(S)), ("n_fixed", c.c_size_t),
                ("state", c.POINTER(S)), ("n_states", c.c_size_t), ("sample", SAMPLE), ("user", P), ("sample_scheme", P), ("hybrid", c.c_bool),
                ("decode", c.c_bool)]


class QuantizerOptions(Options):
    _fields_ = [("size", c.c_size_t), ("symmetry", S), ("qparams_method", S), ("calibration", c.POINTER(S)), ("n_calibrations", c.c_size_t),
                ("weights", S), ("per_tensor", c.c_bool), ("keep_float", c.POINTER(S)), ("n_keep_float", c.c_size_t),
                ("precision", c.POINTER(S)), ("n_precisions", c.c_size_t), ("target", S), ("integer_io", c.c_bool),
                ("samples", c.POINTER(P)), ("n_samples", c.c_uint64), ("smooth", S)]


LOG: Any = c.CFUNCTYPE(None, P, S)
PROGRESS: Any = c.CFUNCTYPE(None, P, c.c_int64, c.c_int64)
NODE: Any = c.CFUNCTYPE(c.c_int, P, P, c.c_int, c.POINTER(c.c_int64), c.POINTER(Error))
ASK: Any = c.CFUNCTYPE(c.c_int, P, S, S, c.POINTER(Error))


class OptimizerOptions(Options):
    _fields_ = [("size", c.c_size_t), ("allow", S), ("passes", S), ("target", S), ("as_is", c.c_bool), ("log", LOG), ("user", P)]


class Labelled(Options):
    _fields_ = [("size", c.c_size_t), ("count", c.c_uint64), ("input", c.POINTER(P)), ("label", c.POINTER(c.c_int64)), ("threads", c.c_int),
                ("label_map", c.POINTER(c.c_int64)), ("map", c.c_int64 * 2), ("tokens", c.c_int64), ("class_axis", c.c_int),
                ("by_agreement", c.c_bool), ("sequence", c.c_bool)]


class Shard(Options):
    _fields_ = [("size", c.c_size_t), ("first", c.c_uint64), ("all_first", c.c_uint64), ("all", c.c_uint64), ("dataset", S), ("preprocessing", S)]


class TunerOptions(Options):
    _fields_ = [("size", c.c_size_t), ("target_drop", c.c_double), ("target_sqnr", c.c_double), ("max_float", c.c_int), ("log", LOG), ("user", P), ("wide", S)]


class EngineOptions(Options):
    _fields_ = [("size", c.c_size_t), ("engine", S), ("isa", S), ("threads", c.c_int), ("keep_all", c.c_bool), ("as_is", c.c_bool)]


class GoldenOptions(Options):
    _fields_ = [("size", c.c_size_t), ("dir", S), ("replace", c.c_bool), ("digests_only", c.c_bool), ("accumulators", c.c_bool),
                ("formats", S), ("hex_bits", c.c_uint), ("samples", c.c_int64), ("sequence", c.c_bool), ("model", S),
                ("preprocessing", S)]


class Stored(c.Structure):
    _fields_ = [("sample", c.c_int64), ("index", c.c_int), ("name", S), ("op", S), ("digest", S), ("type", c.POINTER(Type)),
                ("has_data", c.c_bool), ("has_sums", c.c_bool)]


class Verified(c.Structure):
    _fields_ = [("tensors", c.c_int64), ("files_bad", c.c_int64), ("replay_bad", c.c_int64), ("entries_bad", c.c_int64)]


class Thresholds(c.Structure):
    _fields_ = [("max_lsb", c.c_double), ("rel", c.c_double), ("abs", c.c_double), ("cosine", c.c_double), ("sqnr", c.c_double)]


class CompareOptions(Options):
    _fields_ = [("size", c.c_size_t), ("limits", c.POINTER(Thresholds)), ("tensor", c.POINTER(S)), ("special", c.POINTER(Thresholds)),
                ("n_tensors", c.c_size_t), ("hex_bits", c.c_uint), ("junit", S)]


class BlameOptions(c.Structure):
    _fields_ = [("rel", c.c_double), ("schemes", c.POINTER(S)), ("n_schemes", c.c_int), ("threads", c.c_int)]


class ReportOptions(Options):
    _fields_ = [("size", c.c_size_t), ("name", c.POINTER(S)), ("tensors", S), ("model_explorer", S)]


class ProbeOptions(Options):
    _fields_ = [("size", c.c_size_t), ("types", S), ("ops", S), ("scheme", S), ("formats", S), ("seed", c.c_uint64)]


class AnswersOptions(Options):
    _fields_ = [("size", c.c_size_t), ("schemes", c.POINTER(S)), ("n_schemes", c.c_size_t), ("only", c.c_bool), ("hex_bits", c.c_uint), ("next", S)]


class SchemeQuestion(Options):
    _fields_ = [("size", c.c_size_t), ("op", S), ("type", S), ("wide", c.c_bool), ("as_is", c.c_bool), ("scales", c.c_int), ("scale", c.c_double * 2),
                ("has_acc", c.c_bool), ("acc", c.c_int64 * 2), ("zero_point", c.c_int64), ("in_zero_point", c.c_int64), ("graph", P)]


class VectorsOptions(Options):
    _fields_ = [("size", c.c_size_t), ("op", S), ("kind", S), ("type", S), ("wide", c.c_bool), ("has_acc", c.c_bool), ("acc", c.c_int64 * 2),
                ("has_seed", c.c_bool), ("seed", c.c_uint64), ("dir", S)]


class Dots(Options):
    _fields_ = [("size", c.c_size_t), ("n", c.c_size_t), ("k", c.c_size_t), ("a", P), ("b", P), ("c", P), ("scale_a", P), ("scale_b", P)]


class LoaderOptions(Options):
    _fields_ = [("size", c.c_size_t), ("labels", S), ("raw", S), ("preprocess", S), ("array", S), ("stride", c.c_int64), ("next_tokens", c.c_bool)]


class ShowOptions(Options):
    _fields_ = [("size", c.c_size_t), ("name", S), ("value", S), ("channels", c.c_bool), ("scheme", P), ("type", S),
                ("choices", c.POINTER(QuantizerOptions)), ("svg", S), ("html", S)]


class BlameFiles(Options):
    _fields_ = [("size", c.c_size_t), ("html", S), ("junit", S), ("hex_bits", c.c_uint), ("progress", PROGRESS), ("user", P)]


class InferOptions(Options):
    _fields_ = [("size", c.c_size_t), ("oracle", S), ("ask", ASK), ("user", P), ("kind", S), ("type", S), ("budget", c.c_size_t),
                ("acc_bits", c.c_int), ("timeout", c.c_double), ("has_domain", c.c_bool), ("multiplier", c.c_int64 * 2),
                ("shift", c.c_int32 * 2), ("progress", PROGRESS), ("progress_user", P)]


class InferDotOptions(Options):
    _fields_ = [("size", c.c_size_t), ("oracle", S), ("ask", ASK), ("user", P), ("a", S), ("b", S), ("acc", S), ("out", S), ("scale", S),
                ("scale_block", c.c_size_t), ("k", c.c_size_t), ("budget", c.c_size_t), ("timeout", c.c_double), ("seconds", c.c_double), ("progress", PROGRESS),
                ("progress_user", P)]
