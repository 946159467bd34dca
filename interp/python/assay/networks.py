"""Networks: loaded, looked at, quantized, rewritten, saved."""
import ctypes as c
import json
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._library import Ref, call, lib, noting, take_json, take_text, text, texts
from ._structs import P, SAMPLE, LoadOptions, OptimizerOptions, QuantizerOptions
from .errors import InputError
from .schemes import SchemeLike, scheme as scheme_of
from .tensors import Array, Outputs, TensorType, by_name, fitting, stacked, type_of, view

if TYPE_CHECKING:
    from .profiles import Profile
    from .programs import Program

_ONNX = 1


def quantizer_options(*, symmetry: Optional[str] = None, qparams_method: Optional[str] = None, calibration: Sequence[str] = (),
                      calibrate_weights: Optional[str] = None, per_tensor: bool = False, keep_float: Sequence[str] = (), precision: Any = (),
                      target: Any = None, integer_io: bool = False, smooth: Optional[float] = None) -> QuantizerOptions:
    """What Network.quantize describes."""
    calibration, keep_float = _list(calibration), _list(keep_float)
    rules = [f"{k}={v}" for k, v in precision.items()] if isinstance(precision, Mapping) else _list(precision)
    return QuantizerOptions(symmetry=text(symmetry), qparams_method=text(qparams_method), calibration=texts(calibration), n_calibrations=len(calibration),
                            weights=text(calibrate_weights), per_tensor=per_tensor, keep_float=texts(keep_float),
                            n_keep_float=len(keep_float), precision=texts(rules), n_precisions=len(rules), target=text(target),
                            integer_io=integer_io, smooth=text(None if smooth is None else str(smooth)))


class Proof(NamedTuple):
    """What checking a certificate found. why: where it is not good; proved: of its steps, exact; given: of them rest on what only the model shows."""

    good: bool
    why: Optional[str]
    steps: int
    proved: int
    given: int


class Node(NamedTuple):
    """A node, in execution order. Absent optional inputs are None. macs: multiply-accumulates; quantized: it computes on codes."""

    name: str
    op: str
    inputs: Tuple[Optional[str], ...]
    outputs: Tuple[str, ...]
    macs: int
    quantized: bool


class Network:
    """A network. It does not change: quantize, optimize and under make others."""

    def __init__(self, ptr: int, is_onnx: bool = False, keep: Any = None, report: Optional[Dict[str, Any]] = None,
                 certificate: Optional[Dict[str, Any]] = None) -> None:
        self._ref = Ref(ptr, lib.assay_graph_free, keep)
        self._is_onnx = is_onnx
        self._known: Optional[Dict[str, Any]] = None
        self.report = report  #: what quantizing or rewriting said; None for a network from a file
        self.certificate = certificate  #: of a rewritten one, as `assay check-proof` reads it

    def __reduce__(self) -> Any:
        return _again, (self.text(), self.name, self._is_onnx, self.report, self.certificate)

    @property
    def _json(self) -> Dict[str, Any]:
        if self._known is None:
            out = P()
            call("assay_graph_json", self._ref, c.byref(out))
            self._known = take_json(out)
            self._known["index"] = {v["name"]: i for i, v in enumerate(self._known["values"])}
        return self._known

    def _type(self, index: int) -> TensorType:
        return type_of(lib.assay_value_type(self._ref, index).contents)

    def _types(self, indices: Iterable[int]) -> Dict[str, TensorType]:
        values = self._json["values"]
        return {values[i]["name"]: self._type(i) for i in indices}

    @property
    def name(self) -> str:
        return str(self._json["name"])

    @property
    def digest(self) -> str:
        """Of the structure, 32 hex digits; not of the weights."""
        return str(self._json["digest"])

    @property
    def inputs(self) -> Dict[str, TensorType]:
        """Types of the inputs by name, in the model's order."""
        return self._types(self._json["inputs"])

    @property
    def outputs(self) -> Dict[str, TensorType]:
        """Types of the outputs by name, in the model's order. The floats of an output that is computed as codes are "NAME:f32"; NAME finds
        them here, too."""
        return Outputs(self._types(self._json["outputs"]))

    @property
    def values(self) -> Dict[str, TensorType]:
        """All values: inputs, constants and what nodes make."""
        return self._types(range(len(self._json["values"])))

    @property
    def nodes(self) -> List[Node]:
        """In execution order."""
        names = [v["name"] for v in self._json["values"]]
        return [Node(n["name"], n["op"], tuple(names[i] if i >= 0 else None for i in n["inputs"]),
                     tuple(names[i] for i in n["outputs"]), n["macs"], n["quantized"]) for n in self._json["nodes"]]

    @property
    def is_quantized(self) -> bool:
        """Some node computes on codes."""
        return bool(lib.assay_graph_is_quantized(self._ref))

    @property
    def quantized_for(self) -> Optional[str]:
        """The name of the scheme that it was quantized for, where it says so."""
        name: Optional[str] = self._json["quantized_for"]
        return name

    def constant(self, name: str) -> Array:
        """Elements of a constant: a view without a copy, read-only, that keeps the network."""
        i = self._json["index"].get(name, -1)
        ptr = lib.assay_value_constant(self._ref, i)
        if not ptr:
            raise InputError(f"'{name}' is not a constant of {self.name}")
        return view(ptr, self._type(i), self._ref)

    def text(self) -> str:
        """The text form, all constants in it."""
        out = P()
        call("assay_graph_text", self._ref, c.byref(out))
        return take_text(out)

    def save(self, path: Any) -> None:
        """In the form that the path's ending names: .assay (large constants in the folder PATH.d), .onnx or .tflite."""
        call("assay_save", self._ref, text(path))

    def _copy(self) -> int:
        out = P()
        call("assay_graph_copy", self._ref, c.byref(out))
        return out.value or 0

    def profile(self, **options: Any) -> "Profile":
        """An empty profile of this float network: Profile.of(self, ...)."""
        from .profiles import Profile
        return Profile.of(self, **options)

    def quantize(self, profile: Optional["Profile"], scheme: SchemeLike, *, symmetry: Optional[str] = None, qparams_method: Optional[str] = None,
                 calibration: Sequence[str] = (), calibrate_weights: Optional[str] = None, per_tensor: bool = False,
                 keep_float: Sequence[str] = (), precision: Any = (), target: Any = None, integer_io: bool = False,
                 smooth: Optional[float] = None, samples: Any = None) -> "Network":
        """The integer network of this float one under a scheme; its `report` says what stays in float and why.

        profile: None for a scheme of matrix units, whose scales come from the values. The options are those of `assay quantize`:
        calibration "mse" or ["kl", "conv*=percentile:99.9"]; keep_float: patterns of nodes; precision: {"fc*": "i16"} or "fc*=i16"; target:
        a file with what the device offers; smooth: SmoothQuant's alpha, for a profile with channels;
        samples: what calibrate_weights="gptq" calibrates with, as Profile.observe takes them.
        """
        o = quantizer_options(symmetry=symmetry, qparams_method=qparams_method, calibration=calibration, calibrate_weights=calibrate_weights,
                              per_tensor=per_tensor, keep_float=keep_float, precision=precision, target=target, integer_io=integer_io,
                              smooth=smooth)
        if samples is not None:
            arrays, o.n_samples = stacked(samples, self.inputs)
            o.samples = (P * len(arrays))(*[a.ctypes.data for a in arrays])
        out, report = P(), P()
        call("assay_quantize", self._ref, profile._ref if profile else None, scheme_of(scheme)._ref, c.byref(o), c.byref(out), c.byref(report))
        return Network(out.value or 0, keep=self._ref, report=take_json(report))

    def pack_weights(self, format: str) -> "Network":
        """A float network with the weights of conv and fc in llama.cpp's blocks: "q4_0", "q8_0", "q4_K" or "q6_K". Its `report` counts the
        weights ("integer") and lists the nodes whose weights stay."""
        out, report = P(), P()
        call("assay_pack_weights", self._ref, format.encode(), c.byref(out), c.byref(report))
        return Network(out.value or 0, report=take_json(report))

    def under(self, scheme: SchemeLike, *, adapt: bool = False) -> "Network":
        """The network in integers as the scheme defines them: an ONNX network's dequantize -> op -> quantize become integer ops (others
        stay as they are). adapt: parameters that the scheme cannot represent are replaced first."""
        if not self._is_onnx:
            return self
        made = Network(self._copy(), keep=self._ref)
        report = P()
        call("assay_group", made._ref, scheme_of(scheme)._ref, adapt, c.byref(report))
        made.report = take_json(report)
        return made

    def optimize(self, scheme: SchemeLike, *, allow: str = "none", passes: Sequence[str] = (), target: Any = None,
                 as_is: bool = False) -> "Network":
        """Rewritten, each step proved exact; allow: "bounded:N" codes a step, or "any". `report` counts, `certificate` has the proofs, and
        report["log"] a line for each step."""
        made = Network(self.under(scheme)._copy(), keep=self._ref)
        log: List[str] = []
        note = noting(log.append)
        o = OptimizerOptions(allow=text(allow), passes=text(",".join(_list(passes)) or None), target=text(target), as_is=as_is, log=note)
        certificate, report = P(), P()
        call("assay_optimize", made._ref, scheme_of(scheme)._ref, c.byref(o), c.byref(certificate), c.byref(report))
        made.report = {**take_json(report), "log": log}
        made.certificate = take_json(certificate)
        return made

    def program(self, scheme: Optional[SchemeLike] = None, **options: Any) -> "Program":
        """Ready to run: Program(self, scheme, ...)."""
        from .programs import Program
        return Program(self, scheme, **options)

    def __repr__(self) -> str:
        ends = " -> ".join(", ".join(f"{n}: {t}" for n, t in side.items()) for side in (self.inputs, self.outputs))
        return f"<assay.Network {self.name}: {ends}, {len(self._json['nodes'])} nodes>"


def check_proof(certificate: Any, model: Optional[Network] = None, result: Optional[Network] = None, scheme: Optional[SchemeLike] = None) -> Proof:
    """Checks an optimizer's certificate (a dict, as Network.certificate, or a file's path) by code that shares nothing with the optimizer.

    model: the network that was optimized, so that its weights are checked too; result: what came out; scheme: needed for one that is a plugin. A
    certificate that does not hold is no exception: good is False.
    """
    if isinstance(certificate, Mapping):
        name, data = "certificate", json.dumps(certificate).encode()
    else:
        name = os.fsdecode(certificate)
        with open(certificate, "rb") as f:
            data = f.read()
    plugin, good, out = scheme_of(scheme)._ref if scheme else None, c.c_bool(), P()
    call("assay_check_proof", name.encode(), data, len(data), model._ref if model else None, result._ref if result else None, plugin, c.byref(good),
         c.byref(out))
    return Proof(**take_json(out))


def _again(model: str, name: str, is_onnx: bool, report: Optional[Dict[str, Any]], certificate: Optional[Dict[str, Any]]) -> Network:
    """A network from what it was pickled as."""
    made = loads(model, name, canonical=False)
    made._is_onnx, made.report, made.certificate = is_onnx, report, certificate
    return made


def _list(x: Any) -> List[str]:
    return [x] if isinstance(x, str) else list(x)


def _filling(sample: Any, failed: List[BaseException]) -> Any:
    """Writes `sample` where the library wants it; what goes wrong with it is in the list, since nothing may pass through the library."""
    met: List[str] = []

    def fill(_: Any, name: bytes, t: Any, to: int, err: Any) -> int:
        try:
            what, made = name.decode("utf-8", "replace"), type_of(t.contents)
            if what not in met:
                met.append(what)
            if isinstance(sample, Mapping) and what not in sample:
                raise InputError(f"input '{what}' is not given")
            if not isinstance(sample, Mapping) and len(met) > 1:
                raise InputError(f"the network has more than one input: give a dict of {', '.join(met)}, ...")
            a = np.ascontiguousarray(fitting(sample[what] if isinstance(sample, Mapping) else sample, made, what), made.dtype)
            c.memmove(to, a.ctypes.data, a.nbytes)
        except BaseException as e:  # noqa: B036: as above
            failed.append(e)
            err.contents.status, err.contents.text = 1, b"the sample cannot be taken"
            return 1
        return 0

    return SAMPLE(fill)


def _loaded(function: str, source: Sequence[Any], options: LoadOptions, sample: Any, scheme: Optional[SchemeLike], keep: Any = None) -> Network:
    failed: List[BaseException] = []
    under = scheme_of(scheme) if scheme is not None else None  # lives as long as the call
    out, form = P(), c.c_int()
    if sample is not None:
        options.sample = _filling(sample, failed)
        options.sample_scheme = under._ref._as_parameter_ if under else None
    try:
        call(function, *source, c.byref(options), c.byref(out), c.byref(form))
    except Exception:
        if failed:
            raise failed.pop()  # the frames hold the list: a cycle that ctypes hides
        raise
    network = Network(out.value or 0, form.value == _ONNX, keep=keep)
    if isinstance(sample, Mapping):
        by_name(sample, network.inputs)
    return network


def _options(shapes: Optional[Mapping[str, Sequence[int]]], fix: Optional[Mapping[str, Any]], state: Optional[Mapping[str, str]], batch: int,
             canonical: bool, keep_narrow: bool, hybrid: bool, decode: bool) -> LoadOptions:
    given = [f"{name}={'x'.join(str(int(d)) for d in dims)}" for name, dims in (shapes or {}).items()]
    fixed = [f"{name}={','.join(repr(int(v) if isinstance(v, bool) else v) for v in np.asarray(values).ravel().tolist())}" for name, values in (fix or {}).items()]
    states = [f"{past}={present}" for past, present in (state or {}).items()]
    return LoadOptions(batch=batch, shape=texts(given), n_shapes=len(given), keep_narrow=keep_narrow, as_it_is=not canonical, fix=texts(fixed),
                       n_fixed=len(fixed), state=texts(states), n_states=len(states), hybrid=hybrid, decode=decode)


def load(path: Any, *, shapes: Optional[Mapping[str, Sequence[int]]] = None, fix: Optional[Mapping[str, Any]] = None,
         state: Optional[Mapping[str, str]] = None, batch: int = 0, canonical: bool = True, keep_narrow: bool = False, sample: Any = None,
         sample_scheme: Optional[SchemeLike] = None, hybrid: bool = False, decode: bool = False) -> Network:
    """A network from a file: ONNX, TFLite or text form, told apart by what it holds.

    shapes, batch: of an ONNX model's inputs, in place of what it says, and of its symbolic first dimensions. fix: inputs of an ONNX model that
    become constants, {"sizes": [1, 3, 64, 64]}. state: outputs of a step that are inputs of the next, {"past_key_values.*": "present.*"}. canonical:
    lowered as profiles and quantizing need it. keep_narrow: floats of a float16 model stay rounded to float16. sample: inputs, as Program.run
    takes them, of a model whose shapes follow from what it computes (NonZero, ...); the network holds for others only as far as they lead to
    the same shapes. sample_scheme: whose integers they are, where such a model is quantized. hybrid: integer weights under float activations in a
    TFLite model as TFLite computes them, codes made of the activations in each run; else float, with the real values of the weights. decode: constants held as codes become numbers
    where the network computes in floats (MatMulNBits), as profiles and quantizing need it.
    """
    return _loaded("assay_load_with", [os.fsencode(path)], _options(shapes, fix, state, batch, canonical, keep_narrow, hybrid, decode), sample, sample_scheme)


def loads(model: Any, name: str = "model", *, shapes: Optional[Mapping[str, Sequence[int]]] = None, fix: Optional[Mapping[str, Any]] = None,
          state: Optional[Mapping[str, str]] = None, batch: int = 0, canonical: bool = True, keep_narrow: bool = False, sample: Any = None,
          sample_scheme: Optional[SchemeLike] = None, hybrid: bool = False, decode: bool = False) -> Network:
    """The same of a model in memory: bytes, or a str in text form. `name` stands for the file in messages."""
    data = model.encode() if isinstance(model, str) else bytes(model)
    kept = c.create_string_buffer(data, max(len(data), 1))
    return _loaded("assay_load_memory", [name.encode(), kept, len(data)], _options(shapes, fix, state, batch, canonical, keep_narrow, hybrid, decode), sample,
                   sample_scheme, kept)
