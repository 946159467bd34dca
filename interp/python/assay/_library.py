"""The shared library and the types of its functions.

It is looked for in this order: what ASSAY_LIBRARY names (the file, or a folder that holds it), beside this file (a wheel
that brings it along), where the system's loader finds it, /usr/local and /usr. ctypes lets other threads run while a
function of the library does.
"""
import ctypes as c
import glob
import json
import os
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

from ._structs import (
    LOG, NODE, P, PROGRESS, S, AnswersOptions, BlameFiles, BlameOptions, CompareOptions, Dots, EngineOptions, Error, GoldenOptions, InferDotOptions,
    InferOptions, Labelled, LoadOptions, LoaderOptions, OptimizerOptions, ProbeOptions, QuantizerOptions, ReportOptions, Rows, SchemeQuestion, Shard,
    ShowOptions, Stored, TunerOptions, Type, VectorsOptions, Verified)
from .errors import InputError, MissingLibraryError, raise_for

VERSION = "0.1"  # of the interface: the library's version begins so
INTEGERS = (c.c_int, c.c_int64, c.c_uint64, c.c_size_t)
OUT = c.POINTER(P)  # receives a handle, or a text that the library allocated

# name: what it returns, what it takes before the error. "status" functions end in an assay_error.
STATUS: Dict[str, List[Any]] = {
    "assay_scheme_open": [S, OUT],
    "assay_scheme_from_text": [S, S, c.c_size_t, OUT],
    "assay_scheme_json": [P, OUT],
    "assay_scheme_diff": [P, P, S, c.c_bool, OUT],
    "assay_scheme_apply": [P, c.POINTER(Rows), P, P],
    "assay_scheme_derive": [P, c.POINTER(Rows), P, P, P, P],
    "assay_scheme_try": [P, c.POINTER(Rows), OUT, OUT],
    "assay_matrix_unit_open": [S, OUT],
    "assay_matrix_unit_json": [P, OUT],
    "assay_matrix_unit_dot": [P, c.POINTER(Dots), P],
    "assay_matrix_unit_try": [P, c.POINTER(Dots), OUT, OUT],
    "assay_matrix_units_diff": [P, P, c.c_uint64, c.POINTER(c.c_bool), OUT, OUT],
    "assay_load_with": [S, c.POINTER(LoadOptions), OUT, c.POINTER(c.c_int)],
    "assay_load_memory": [S, P, c.c_size_t, c.POINTER(LoadOptions), OUT, c.POINTER(c.c_int)],
    "assay_save": [P, S],
    "assay_graph_copy": [P, OUT],
    "assay_graph_text": [P, OUT],
    "assay_graph_json": [P, OUT],
    "assay_profile_new": [P, OUT],
    "assay_profile_read": [S, OUT],
    "assay_profile_write": [P, S],
    "assay_profile_describe": [P, S, S, c.c_uint64],
    "assay_profile_observe": [P, P, c.c_uint64, c.c_uint64, c.POINTER(P), c.c_int, PROGRESS, P],
    "assay_profile_observe_steps": [P, P, c.c_uint64, c.c_uint64, c.POINTER(P), PROGRESS, P],
    "assay_profile_by_channel": [P, P, S],
    "assay_profile_merge": [P, P],
    "assay_profile_json": [P, OUT],
    "assay_profile_show": [P, c.POINTER(ShowOptions), OUT],
    "assay_loader_open": [S, P, c.c_int, c.POINTER(LoaderOptions), OUT],
    "assay_loader_read": [P, c.c_int64, P],
    "assay_loader_read_map": [P, c.c_int64, c.c_int64, P],
    "assay_quantize": [P, P, P, c.POINTER(QuantizerOptions), OUT, OUT],
    "assay_group": [P, P, c.c_bool, OUT],
    "assay_optimize": [P, P, c.POINTER(OptimizerOptions), OUT, OUT],
    "assay_check_proof": [S, S, c.c_size_t, P, P, P, c.POINTER(c.c_bool), OUT],
    "assay_program_make_for": [P, P, c.POINTER(EngineOptions), OUT],
    "assay_program_contract": [P, OUT],
    "assay_program_plan": [P, OUT, OUT],
    "assay_run_new": [P, OUT],
    "assay_execute_with": [P, NODE, c.c_bool, P],
    "assay_golden_begin": [P, c.POINTER(GoldenOptions), OUT],
    "assay_golden_add": [P, P, c.c_int64],
    "assay_golden_commit": [P, P],
    "assay_bundle_open": [S, OUT],
    "assay_bundle_manifest": [P, OUT],
    "assay_bundle_get": [P, c.c_int, c.POINTER(Stored)],
    "assay_bundle_read": [P, c.c_int, c.c_bool, OUT],
    "assay_verify": [S, c.POINTER(EngineOptions), LOG, P, c.POINTER(Verified)],
    "assay_compare_folders": [S, S, c.POINTER(CompareOptions), c.POINTER(c.c_bool), OUT, OUT],
    "assay_blame_pages": [S, S, c.POINTER(BlameOptions), c.POINTER(BlameFiles), c.POINTER(c.c_int), OUT, OUT],
    "assay_evaluate": [P, P, c.POINTER(Labelled), P, OUT],
    "assay_evaluate_shard": [P, P, c.POINTER(Labelled), c.POINTER(Shard), S],
    "assay_evaluate_merge": [c.POINTER(S), c.c_size_t, OUT],
    "assay_token_windows": [P, c.c_uint64, c.c_uint64, c.c_uint64, c.c_int64, c.POINTER(c.c_uint64), P, P],
    "assay_sensitivity_of": [P, P, P, c.POINTER(QuantizerOptions), c.POINTER(Labelled), PROGRESS, P, OUT],
    "assay_tune": [P, P, P, c.POINTER(QuantizerOptions), c.POINTER(Labelled), c.POINTER(TunerOptions), OUT, OUT],
    "assay_explain": [S, S, S, c.c_int64, c.POINTER(BlameOptions), OUT, OUT],
    "assay_capsule": [S, S, S, S, c.POINTER(BlameOptions), OUT, OUT],
    "assay_write_report": [c.POINTER(S), c.c_size_t, S, c.POINTER(ReportOptions)],
    "assay_probe": [S, c.POINTER(ProbeOptions)],
    "assay_infer_answers": [S, S, c.POINTER(AnswersOptions), c.POINTER(c.c_bool), OUT, OUT, OUT],
    "assay_infer_dumps": [S, S, c.c_uint64, c.POINTER(P), c.POINTER(AnswersOptions), c.POINTER(c.c_bool), OUT, OUT, OUT],
    "assay_infer_oracle": [c.POINTER(InferOptions), c.POINTER(c.c_int), OUT, OUT, OUT],
    "assay_pack_weights": [P, S, OUT, OUT],
    "assay_scheme_show": [P, S, c.c_bool, OUT],
    "assay_scheme_compare": [P, P, c.POINTER(SchemeQuestion), c.POINTER(c.c_bool), c.POINTER(c.c_int), OUT, OUT],
    "assay_scheme_matrix": [c.POINTER(P), c.c_size_t, c.POINTER(SchemeQuestion), OUT, OUT],
    "assay_scheme_vectors": [c.POINTER(P), c.c_size_t, c.POINTER(VectorsOptions), c.POINTER(c.c_bool), OUT, OUT],
    "assay_vectors_lint": [P, S, c.POINTER(VectorsOptions), c.POINTER(c.c_bool), OUT, OUT],
    "assay_infer_dot": [c.POINTER(InferDotOptions), c.POINTER(c.c_int), OUT, OUT, OUT],
    "assay_matrix_unit_from_text": [S, S, c.c_size_t, OUT],
}
PLAIN: Dict[str, Tuple[Any, List[Any]]] = {
    "assay_version": (S, []),
    "assay_free": (None, [P]),
    "assay_scheme_preset": (S, [c.c_int]),
    "assay_scheme_name": (S, [P]),
    "assay_scheme_description": (S, [P]),
    "assay_scheme_digest": (S, [P]),
    "assay_scheme_record": (S, [P]),
    "assay_scheme_free": (None, [P]),
    "assay_matrix_unit_preset": (S, [c.c_int]),
    "assay_matrix_unit_free": (None, [P]),
    "assay_loader_close": (None, [P]),
    "assay_loader_count": (c.c_int64, [P]),
    "assay_loader_label": (c.c_int64, [P, c.c_int64]),
    "assay_loader_map": (None, [P, c.POINTER(c.c_int64)]),
    "assay_loader_preprocessing": (S, [P]),
    "assay_graph_free": (None, [P]),
    "assay_graph_is_quantized": (c.c_bool, [P]),
    "assay_value_constant": (P, [P, c.c_int]),
    "assay_value_type": (c.POINTER(Type), [P, c.c_int]),
    "assay_profile_free": (None, [P]),
    "assay_program_free": (None, [P]),
    "assay_run_free": (None, [P]),
    "assay_run_reset": (None, [P]),
    "assay_run_data": (P, [P, c.c_int]),
    "assay_golden_abort": (None, [P]),
    "assay_bundle_close": (None, [P]),
    "assay_bundle_count": (c.c_int, [P]),
}


def _places() -> Iterator[str]:
    named = os.environ.get("ASSAY_LIBRARY")
    if named:
        yield os.path.join(named, "libassay.so") if os.path.isdir(named) else named
        return  # who names one wants that one
    yield from sorted(glob.glob(os.path.join(glob.escape(os.path.dirname(os.path.abspath(__file__))), "libassay.so*")))
    yield "libassay.so.0"
    for prefix in ("/usr/local", "/usr"):
        yield from sorted(glob.glob(f"{prefix}/lib/libassay.so.0") + glob.glob(f"{prefix}/lib/*/libassay.so.0"))


def _open() -> c.CDLL:
    why: List[str] = []
    for path in _places():
        try:
            return c.CDLL(path)
        except OSError as e:
            why.append(str(e))
    raise MissingLibraryError("libassay.so.0 is not found: install Assay, or name the library in ASSAY_LIBRARY; " + "; ".join(why))


def _bind() -> c.CDLL:
    lib = _open()
    try:
        for name, args in STATUS.items():
            getattr(lib, name).argtypes = args + [c.POINTER(Error)]
            getattr(lib, name).restype = c.c_int
        for name, (result, args) in PLAIN.items():
            getattr(lib, name).argtypes = args
            getattr(lib, name).restype = result
    except AttributeError as e:
        raise MissingLibraryError(f"the library is not of this version, {VERSION}: {e}") from None
    version = lib.assay_version().decode()
    if version.split(".")[:2] != VERSION.split("."):
        raise MissingLibraryError(f"the library has version {version}, this package is for {VERSION}")
    return lib


lib = _bind()


def call(name: str, *args: Any) -> None:
    """A function that can fail; its message becomes the exception's."""
    for taken, arg in zip(getattr(lib, name).argtypes, args):
        if taken in INTEGERS and isinstance(arg, int) and taken(arg).value != arg:  # ctypes cuts integers
            raise InputError(f"{arg} is beyond its type")
    err = Error()
    status = getattr(lib, name)(*args, c.byref(err))
    if status:
        raise_for(status, err.text.decode("utf-8", "replace"))


def made(name: str, *args: Any) -> int:
    """The same for one that makes a handle, its last argument."""
    out = P()
    call(name, *args, c.byref(out))
    assert out.value is not None
    return out.value


def take_text(out: P) -> str:
    """A text that the library allocated."""
    try:
        return c.string_at(out).decode("utf-8", "surrogateescape") if out.value else ""
    finally:
        lib.assay_free(out)


def take_json(out: P) -> Any:
    """A text of JSON that the library allocated, read."""
    return json.loads(take_text(out))


def telling(progress: Optional[Callable[[int, int], None]]) -> Any:
    """A function of (done, total) as the library calls it, or none."""
    return PROGRESS() if progress is None else PROGRESS(lambda _, done, total: progress(done, total))


def noting(log: Optional[Callable[[str], None]]) -> Any:
    """A function of a line as the library calls it, or none."""
    return LOG() if log is None else LOG(lambda _, line: log(line.decode("utf-8", "replace")))


class Ref:
    """One handle, freed with the last who holds it, a call that it is an argument of among them, and behind all that borrow from it: the
    collector of cycles finalizes in any order. Sets and lists change in one step, whatever thread it is in."""

    __slots__ = ("handle", "free", "owners", "users", "dead", "_as_parameter_")

    def __init__(self, ptr: int, free: Any, *owners: Any) -> None:
        self.handle, self.free, self.owners = [ptr], free, owners
        self.users: Set[int] = set()
        self.dead = False
        self._as_parameter_ = P(ptr)
        for owner in owners:
            if isinstance(owner, Ref):
                owner.users.add(id(self))

    def __reduce__(self) -> Any:
        raise TypeError("what the library holds cannot be pickled or copied: networks, schemes, profiles, programs and bundles can, their runs and results cannot")

    def __del__(self) -> None:
        self.dead = True
        self.release()

    def release(self) -> None:
        if not self.dead or self.users:
            return
        try:
            ptr = self.handle.pop()
        except IndexError:
            return
        self.free(ptr)
        for owner in self.owners:
            if isinstance(owner, Ref):
                owner.users.discard(id(self))
                owner.release()


def text(value: Any) -> Any:
    """A str or a path as the library takes it; None stays."""
    return None if value is None else os.fsencode(value)


def texts(values: Any) -> Any:
    """Several, as an array."""
    values = [os.fsencode(v) for v in values]
    return (S * (len(values) + 1))(*values)
