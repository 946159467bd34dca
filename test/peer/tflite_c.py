"""TensorFlow Lite's C library (a shared object) as a device: runs what standard input asks for.

    tflite_c.py LIBRARY builtin|xnnpack

A request is one line of JSON, {"model": file, "inputs": [file, ...], "out": prefix}: inputs are raw bytes, output i is
written to PREFIX.i. The answer is one line: {"outputs": n} or {"error": text}. xnnpack: through the delegate, signed
and unsigned 8 bits enabled (c_api.h, xnnpack_delegate.h)."""
import ctypes
import json
import sys

QS8_AND_QU8 = 3  # TFLITE_XNNPACK_DELEGATE_FLAG_QS8 | _QU8


class Library:
    def __init__(self, path, delegate):
        self.lib = ctypes.CDLL(path)
        for name in ("ModelCreateFromFile", "InterpreterOptionsCreate", "InterpreterCreate",
                     "InterpreterGetInputTensor", "InterpreterGetOutputTensor", "TensorData", "XNNPackDelegateCreate"):
            if hasattr(self.lib, "TfLite" + name):
                getattr(self.lib, "TfLite" + name).restype = ctypes.c_void_p
        self.lib.TfLiteTensorByteSize.restype = ctypes.c_size_t
        self.delegate = delegate

    def call(self, name, *args):
        return getattr(self.lib, "TfLite" + name)(*args)

    def ok(self, name, *args):
        if self.call(name, *args) != 0:
            raise RuntimeError(name + " fails")

    def run(self, model_file, inputs, out):
        model = self.call("ModelCreateFromFile", model_file.encode())
        if not model:
            raise RuntimeError("the model is refused")
        model = ctypes.c_void_p(model)
        options = ctypes.c_void_p(self.call("InterpreterOptionsCreate"))
        self.call("InterpreterOptionsSetNumThreads", options, 1)
        delegate = None
        if self.delegate:
            flags = (ctypes.c_uint32 * 32)(1, QS8_AND_QU8)
            delegate = ctypes.c_void_p(self.call("XNNPackDelegateCreate", flags))
            self.call("InterpreterOptionsAddDelegate", options, delegate)
        interpreter = self.call("InterpreterCreate", model, options)
        if not interpreter:
            raise RuntimeError("no interpreter: an operator that is not known")
        interpreter = ctypes.c_void_p(interpreter)
        try:
            return self.steps(interpreter, inputs, out)
        finally:
            self.call("InterpreterDelete", interpreter)
            self.call("InterpreterOptionsDelete", options)
            if delegate:
                self.call("XNNPackDelegateDelete", delegate)
            self.call("ModelDelete", model)

    def steps(self, interpreter, inputs, out):
        self.ok("InterpreterAllocateTensors", interpreter)
        for i, name in enumerate(inputs):
            with open(name, "rb") as f:
                data = f.read()
            tensor = ctypes.c_void_p(self.call("InterpreterGetInputTensor", interpreter, i))
            self.ok("TensorCopyFromBuffer", tensor, data, ctypes.c_size_t(len(data)))
        self.ok("InterpreterInvoke", interpreter)
        n = self.call("InterpreterGetOutputTensorCount", interpreter)
        for i in range(n):
            tensor = ctypes.c_void_p(self.call("InterpreterGetOutputTensor", interpreter, i))
            size = self.call("TensorByteSize", tensor)
            data = self.call("TensorData", tensor)
            with open("%s.%d" % (out, i), "wb") as f:
                f.write(ctypes.string_at(data, size) if size else b"")
        return n


def main():
    library = Library(sys.argv[1], sys.argv[2] == "xnnpack")
    for line in sys.stdin:
        ask = json.loads(line)
        try:
            answer = {"outputs": library.run(ask["model"], ask["inputs"], ask["out"])}
        except RuntimeError as e:
            answer = {"error": str(e)}
        print(json.dumps(answer), flush=True)


main()
