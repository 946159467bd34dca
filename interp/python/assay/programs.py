"""Programs: a network bound to a scheme, and the results of its runs."""
import ctypes as c
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional

import numpy as np

from ._library import Ref, call, lib, made, take_json, take_text, text
from ._structs import NODE, P, EngineOptions, GoldenOptions
from .errors import InputError
from .networks import Network
from .schemes import Scheme, SchemeLike, scheme as scheme_of
from .tensors import Array, Outputs, TensorType, by_name, fitting, view

if TYPE_CHECKING:
    from .golden import Golden


def engine_options(engine: str, threads: int, keep_all: bool = False, as_is: bool = False, isa: Optional[str] = None) -> EngineOptions:
    return EngineOptions(engine=text(engine), isa=text(isa), threads=threads, keep_all=keep_all, as_is=as_is)


class Result(Mapping[str, Array]):
    """What one run gave: arrays by tensor name, in execution order, read-only, without a copy.

    The arrays keep the memory of the run; nothing writes there again. Codes come as they are: result.real(name) are the
    real values. accumulators: int64 arrays by the name of the tensor that they were rescaled to, if requested.
    """

    def __init__(self, ref: Ref, index: Mapping[str, int], types: Mapping[str, TensorType], outputs: List[str],
                 accumulators: Dict[str, Array]) -> None:
        self._ref, self._index, self._types, self._outputs = ref, index, types, outputs
        self.accumulators = accumulators

    def __getitem__(self, name: str) -> Array:
        return view(lib.assay_run_data(self._ref, self._index[name]), self._types[name], self._ref)

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def outputs(self) -> Dict[str, Array]:
        """Only the network's outputs. The floats of an output that is computed as codes are "NAME:f32"; NAME finds them here, too, while
        result[NAME] are the codes."""
        return Outputs({name: self[name] for name in self._outputs})

    def type(self, name: str) -> TensorType:
        return self._types[name]

    def real(self, name: str) -> Array:
        """Real values, float64: scale * (code - zero point)."""
        return self._types[name].dequantize(self[name])


class Program:
    """A network bound to a scheme; any number of threads may run it at once.

    scheme: None for a float network. engine: "ref", "fast" (the same bits sooner) or "both", which compares them. threads: within a node,
    for the fast engine. keep_all: results hold every tensor, otherwise only inputs and outputs. as_is: accepts a quantized network outside
    the scheme's types. adapt, literal: as `assay run` has them, of QDQ networks.
    """

    def __init__(self, network: Network, scheme: Optional[SchemeLike] = None, *, engine: str = "ref", threads: int = 1,
                 keep_all: bool = True, as_is: bool = False, adapt: bool = False, literal: bool = False, isa: Optional[str] = None) -> None:
        self.scheme: Optional[Scheme] = None if scheme is None else scheme_of(scheme)
        self.network = network if self.scheme is None or literal else network.under(self.scheme, adapt=adapt)
        if self.scheme is None and self.network.is_quantized:
            raise InputError(f"{network.name}: the network is quantized; give a scheme, the arithmetic to run it with")
        options = engine_options(engine, threads, keep_all, as_is, isa)
        self._options = dict(engine=engine, threads=threads, keep_all=keep_all, as_is=as_is, literal=True, isa=isa)
        scheme_ref = self.scheme._ref if self.scheme else None
        self._ref = Ref(made("assay_program_make_for", self.network._ref, scheme_ref, c.byref(options)),
                        lib.assay_program_free, self.network._ref, scheme_ref)
        known = self.network._json
        shown = known["inputs"] + [v for n in known["nodes"] for v in n["outputs"]] if keep_all else known["inputs"] + known["outputs"]
        self._index = {known["values"][i]["name"]: i for i in shown}
        self._types = {name: self.network._type(i) for name, i in self._index.items()}
        self._inputs, self._outputs = self.network.inputs, list(self.network.outputs)
        self._first = [known["values"][n["outputs"][0]]["name"] if n["outputs"] else "" for n in known["nodes"]]

    def __reduce__(self) -> Any:
        return _again, (self.network, self.scheme, self._options)

    @property
    def contract(self) -> Optional[Dict[str, Any]]:
        """Which nodes are claimed to give exactly the target's bits, as in a bundle's manifest; None without a scheme."""
        out = P()
        call("assay_program_contract", self._ref, c.byref(out))
        said: Optional[Dict[str, Any]] = take_json(out)
        return said

    @property
    def plan(self) -> str:
        """The memory plan, as `assay inspect --plan` prints it."""
        out = P()
        call("assay_program_plan", self._ref, c.byref(out), None)
        return take_text(out)

    @property
    def plan_svg(self) -> str:
        """The memory plan as a drawing."""
        out = P()
        call("assay_program_plan", self._ref, None, c.byref(out))
        return take_text(out)

    def run(self, inputs: Any, *, accumulators: bool = False) -> Result:
        """One run from the initial state: every tensor by name. inputs: a dict of arrays in the shapes and types of network.inputs
        (of a single input the array alone); codes where an input takes codes."""
        return Run(self).step(inputs, accumulators=accumulators)

    __call__ = run

    def sequence(self) -> "Run":
        """A run whose state is carried from step to step."""
        return Run(self)

    def golden(self, path: Any, samples: Any, *, accumulators: bool = False, formats: str = "npy", hex_bits: int = 0,
               digests_only: bool = False, replace: bool = False, sequence: bool = False, model: Optional[str] = None,
               progress: Optional[Callable[[int, int], None]] = None) -> "Golden":
        """Runs the samples and writes a golden bundle to the new folder `path`: every tensor and its digest.

        samples: the inputs of one run, or a list of them. formats: of npy, raw, hex, ..., separated by commas. sequence: the samples are
        steps, between which state is carried on. The bundle is whole or absent.
        """
        from .golden import Golden
        every = list(samples) if isinstance(samples, (list, tuple)) else [samples]
        o = GoldenOptions(dir=text(path), replace=replace, digests_only=digests_only, accumulators=accumulators,
                          formats=text(formats), hex_bits=hex_bits, samples=len(every), sequence=sequence, model=text(model))
        writer: Optional[int] = made("assay_golden_begin", self._ref, c.byref(o))
        try:
            run = Run(self)
            for k, inputs in enumerate(every):
                if not sequence:
                    run.reset()
                run._fill(inputs)
                call("assay_golden_add", writer, run._ref, k)
                if progress:
                    progress(k + 1, len(every))
            done, writer = writer, None
            call("assay_golden_commit", done, None)
        finally:
            if writer is not None:
                lib.assay_golden_abort(writer)
        return Golden(path)

    def __repr__(self) -> str:
        return f"<assay.Program {self.network.name} under {self.scheme.name if self.scheme else 'floats'}>"


class Run:
    """The memory of one run, for one thread at a time. Variables keep their state from step to step."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._ref = Ref(made("assay_run_new", program._ref), lib.assay_run_free, program._ref)

    def reset(self) -> None:
        """Resets variables to their initial state."""
        lib.assay_run_reset(self._ref)

    def _fill(self, inputs: Any) -> None:
        p = self._program
        given = by_name(inputs, p._inputs)
        fit = {name: fitting(given[name], t, name) for name, t in p._inputs.items()}
        for name, t in p._inputs.items():
            np.copyto(view(lib.assay_run_data(self._ref, p._index[name]), t, self._ref, readonly=False), fit[name], casting="unsafe")

    def step(self, inputs: Any, *, accumulators: bool = False) -> Result:
        """One run. The arrays of an earlier step's result then hold this step's values: copy what you want to keep."""
        p = self._program
        sums: Dict[str, Array] = {}
        failed: List[BaseException] = []

        def keep(_: Any, __: Any, node: int, acc: Any, ___: Any) -> int:
            try:
                if acc:
                    name = p._first[node]
                    sums[name] = np.ctypeslib.as_array(acc, (max(int(np.prod(p._types[name].shape)), 1),)).reshape(p._types[name].shape).copy()
            except BaseException as e:  # noqa: B036: nothing may pass through the library
                failed.append(e)
                return 7
            return 0

        self._fill(inputs)
        if accumulators and len(p._types) <= len(p._inputs) + len(p._outputs) and len(p._first) > len(p._outputs):
            raise InputError("accumulators need a program made with keep_all")
        try:
            call("assay_execute_with", self._ref, NODE(keep) if accumulators else NODE(), accumulators, None)
        except Exception:
            if failed:
                raise failed.pop()  # the frames hold the list: a cycle that ctypes hides
            raise
        return Result(self._ref, p._index, p._types, p._outputs, sums)


def _again(network: Network, scheme: Optional[Scheme], options: Dict[str, Any]) -> Program:
    """A program from what it was pickled as; its network is grouped already."""
    return Program(network, scheme, **options)


def run_many(program: Program, samples: Iterable[Any], threads: int = 0) -> List[Result]:
    """Results of many samples, each from the initial state, by `threads` threads (0: all cores); in the samples' order."""
    import os
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(threads or len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(program.run, samples))
