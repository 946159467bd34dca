"""The pytest plugin: golden bundles beside the tests, and tests over schemes.

    def test_kernel(assay_golden):
        golden = assay_golden(network.program("tflite"), x)       # golden/test_kernel beside this file
        assay.assert_bits(run_device(x), golden)

    @pytest.mark.assay_schemes("tflite", "./my-npu.yaml")
    def test_each(assay_scheme, assay_golden): ...                 # assay_scheme: an assay.Scheme

`pytest --assay-update` writes the bundles that are missing and those that the program gives otherwise now; without it both fail. `pytest
--assay-scheme NAME` takes these schemes in place of a test's own. The library is opened by the fixtures, not before.
"""
import os
import re
from typing import Any, Callable

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay")
    group.addoption("--assay-update", action="store_true", help="write golden bundles that are missing or other than they were")
    group.addoption("--assay-scheme", action="append", default=[], metavar="NAME|FILE", help="run assay_scheme tests under this; may be repeated")
    parser.addini("assay_golden_dir", "folder of golden bundles, beside each test file", default="golden")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "assay_schemes(name, ...): the schemes that the fixture assay_scheme goes through")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "assay_scheme" not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker("assay_schemes")
    names = metafunc.config.getoption("--assay-scheme") or list(marker.args if marker else ())
    if not names:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: assay_scheme takes a mark, assay_schemes(\"tflite\", ...), or --assay-scheme")
    metafunc.parametrize("assay_scheme", names, indirect=True)


@pytest.fixture
def assay_scheme(request: pytest.FixtureRequest) -> Any:
    """One scheme after the other of those that the test's mark names: an assay.Scheme."""
    import assay
    return assay.Scheme(request.param)


@pytest.fixture
def assay_golden(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """golden(program, samples, name=..., **options): the bundle that is kept beside the test file, an assay.Golden. The name is the test's,
    that of a parameter in brackets; several in one test need names of their own. Options are those of Program.golden."""
    import assay
    folder = os.path.join(os.path.dirname(str(request.node.path)), request.config.getini("assay_golden_dir"))
    update = request.config.getoption("--assay-update")

    def golden(program: Any, samples: Any, name: str = request.node.name, **options: Any) -> Any:
        __tracebackhide__ = True
        path = os.path.join(folder, re.sub(r"[^A-Za-z0-9._\[\]-]", "_", name))
        if not os.path.isdir(path):
            if not update:
                pytest.fail(f"{path}: no such golden bundle; pytest --assay-update writes it", pytrace=False)
            os.makedirs(folder, exist_ok=True)
            return program.golden(path, samples, **options)
        kept = assay.Golden(path)
        fresh = path + ".fresh"
        try:
            made = program.golden(fresh, samples, **{**options, "replace": True})
            others = [k for k in ("scheme", "graph", "nodes", "constants", "tensors", "digest") if made.manifest[k] != kept.manifest[k]]
            if not others:
                return kept
            said = f"other: {', '.join(others)}\n{assay.diff(kept, made)}"
        finally:
            _remove(fresh)
        if not update:
            pytest.fail(f"{path}: the program is another than the bundle is of; pytest --assay-update replaces it\n{said}", pytrace=False)
        return program.golden(path, samples, **{**options, "replace": True})

    return golden


def _remove(path: str) -> None:
    import shutil
    shutil.rmtree(path, ignore_errors=True)
