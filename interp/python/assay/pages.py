"""What is known about a network, as one page of HTML."""
import json
import os
import tempfile
from typing import Any, List, Optional, Tuple

from ._library import call, text, texts
from ._structs import ReportOptions
from .devices import Blame, Diff
from .golden import Golden


def _file(source: Any, folder: str, i: int) -> Tuple[str, str]:
    """A source's file, and what the page calls it."""
    if isinstance(source, Golden):
        return source.path, source.path
    if isinstance(source, (Diff, Blame)):
        name, source = type(source).__name__.lower(), source.report
    else:
        name = "measures"
    if not isinstance(source, dict):
        return os.fspath(source), os.fspath(source)
    path = os.path.join(folder, f"{i}.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(source, f)
    return path, name


def report(page: Any, *sources: Any, tensors: Optional[str] = None, model_explorer: Any = None) -> None:
    """Gathers bundles, profiles and measures in one page of HTML, self-contained: the graph, each tensor, the memory plan, accuracy,
    sensitivity, differences and their causes.

    page: the file to write, None for none; sources: Golden, Diff, Blame, what evaluate() and sensitivity() return, or files: bundles,
    profiles, and what commands write with --json. tensors: a pattern; of bundles, only these tensors are read. model_explorer: a new folder
    for the measures by node that Google's Model Explorer takes.
    """
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        files: List[Tuple[str, str]] = [_file(s, folder, i) for i, s in enumerate(sources)]
        options = ReportOptions(name=texts(name for _, name in files), tensors=text(tensors), model_explorer=text(model_explorer))
        call("assay_write_report", texts(path for path, _ in files), len(files), text(page), options)
