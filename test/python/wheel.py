#!/usr/bin/python3
"""The package without a network: pip and build with the system's setuptools, the library bundled or named; structs as C has them.

  wheel.py LIBRARY ASSAY COMPILER...        TAP
"""
import ctypes
import glob
import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile

from support import LIBRARY, PACKAGE, TAP, TOP, check

from assay import _structs

COMPILER = sys.argv[3:]
STRUCTS = {"assay_error": "Error", "assay_type": "Type", "assay_qparams": "QParams", "assay_rescales": "Rows", "assay_load_options": "LoadOptions",
           "assay_quantizer_options": "QuantizerOptions", "assay_optimizer_options": "OptimizerOptions", "assay_engine_options": "EngineOptions",
           "assay_golden_options": "GoldenOptions", "assay_stored": "Stored", "assay_verified": "Verified", "assay_thresholds": "Thresholds",
           "assay_compare_options": "CompareOptions", "assay_blame_options": "BlameOptions", "assay_probe_options": "ProbeOptions",
           "assay_answers_options": "AnswersOptions", "assay_labelled": "Labelled", "assay_tuner_options": "TunerOptions", "assay_infer_options": "InferOptions",
           "assay_shard": "Shard", "assay_report_options": "ReportOptions", "assay_elem": "Elem", "assay_dots": "Dots",
           "assay_loader_options": "LoaderOptions", "assay_show_options": "ShowOptions", "assay_blame_files": "BlameFiles",
           "assay_infer_dot_options": "InferDotOptions", "assay_vectors_options": "VectorsOptions", "assay_scheme_question": "SchemeQuestion"}


def run(*args, **environment):
    env = {k: v for k, v in os.environ.items() if k not in ("ASSAY_LIBRARY", "PYTHONPATH")}
    done = subprocess.run(args, capture_output=True, text=True, timeout=300, check=False, env={**env, **environment})
    return done.returncode, done.stdout + done.stderr


def layouts():
    """Offsets of all members, and sizes."""
    known = {n for n, t in vars(_structs).items() if isinstance(t, type) and issubclass(t, ctypes.Structure) and getattr(t, "_fields_", None)}
    check(known == set(STRUCTS.values()), "every struct is asked", known ^ set(STRUCTS.values()))
    said = []
    for name, ours in STRUCTS.items():
        struct = getattr(_structs, ours)
        said.append((name, None, ctypes.sizeof(struct)))
        said += [(name, field[0], getattr(struct, field[0]).offset) for field in struct._fields_]
    with open("layout.c", "w", encoding="utf-8") as f:
        f.write('#include <stdio.h>\n' + ''.join(f'#include "{os.path.relpath(h, TOP)}"\n' for h in sorted(glob.glob(os.path.join(TOP, "interp/assay*.h")))) + 'int main(void) {\n')
        for struct, field, _ in said:
            f.write(f'printf("%zu\\n", {f"offsetof({struct}, {field})" if field else f"sizeof({struct})"});\n')
        f.write("return 0; }\n")
    status, text = run(*COMPILER, "-I", TOP, "layout.c", "-o", "layout")
    check(status == 0, "a program with every struct and member compiles", text)
    if status == 0:
        found = list(map(int, run("./layout")[1].split()))
        check(found == [n for _, _, n in said], "structs are laid out as C has them", [s for s, n in zip(said, found) if s[2] != n])


def missing(*modules):
    return [m for m in modules if not importlib.util.find_spec(m)]


def finds(folder, **environment):
    """The package in the folder, away from here, with its library."""
    status, text = run(sys.executable, "-c", "import assay; print(len(assay.presets()), assay.__file__)", PYTHONPATH=os.path.abspath(folder), **environment)
    return status == 0 and f"{folder}/assay/__init__.py" in text, text


def main():
    layouts()
    lacks = missing("pip", "setuptools", "wheel")
    if lacks:
        check(True, f"pip installs the package # SKIP no {', '.join(lacks)}")
        return
    shutil.copytree(PACKAGE, "source", ignore=shutil.ignore_patterns("__pycache__", "build", "dist", "*.egg-info"))
    status, text = run(sys.executable, "-m", "pip", "install", "-q", "--no-build-isolation", "--no-index", "--no-deps", "--target", "plain", "./source",
                       PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore")
    check(status == 0 and os.path.exists("plain/assay/py.typed") and os.path.exists("plain/assay_pytest.py"), "pip installs the package", text)
    check(*finds("plain", ASSAY_LIBRARY=LIBRARY)[:1], "it finds the library that ASSAY_LIBRARY names")
    status, text = run(sys.executable, "-c", "import assay", PYTHONPATH=os.path.abspath("plain"), ASSAY_LIBRARY="/nowhere")
    check(status == 1 and "MissingLibraryError" in text and "ASSAY_LIBRARY" in text, "without it one line says what to do", text)
    if missing("build"):
        check(True, "build makes a wheel # SKIP no build (python3-build)")
        return
    shutil.copy(LIBRARY, "source/assay/libassay.so.0")
    status, text = run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "source")
    wheel = glob.glob("source/dist/*.whl")
    check(status == 0 and wheel, "build makes a wheel", text)
    if wheel:
        names = zipfile.ZipFile(wheel[0]).namelist()
        check({"assay/py.typed", "assay/libassay.so.0", "assay_pytest.py"} <= set(names), "with types, plugin and the library that lay there", names)
        zipfile.ZipFile(wheel[0]).extractall("bundled")
        good, text = finds("bundled")
        check(good, "and that is the one it takes", text)


main()
TAP.end()
