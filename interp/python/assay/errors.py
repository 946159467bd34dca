"""Exceptions: what the library refuses, each with its one line."""
from typing import Dict, NoReturn, Type


class AssayError(Exception):
    """The base class of everything that the library refuses; the text is its message: the file, node or value at fault, what was
    expected, what was found."""


class MissingLibraryError(AssayError, ImportError):
    """The shared library is missing, or of another version."""


class InputError(AssayError, ValueError):
    """Malformed or inconsistent: a file, a model, a profile, an argument."""


class UnsupportedError(AssayError):
    """Well-formed, but an op, type or attribute that is not supported."""


class FileError(AssayError, OSError):
    """A file that cannot be opened, read, written or renamed."""


class OutOfMemoryError(AssayError, MemoryError):
    """An allocation failed."""


class LimitError(AssayError):
    """A size above the accepted limit."""


class SchemeError(AssayError):
    """The scheme refuses a width or a range, or traps on overflow."""


class InternalError(AssayError):
    """A broken invariant of Assay itself: please report it."""


_BY_STATUS: Dict[int, Type[AssayError]] = {
    1: InputError, 2: UnsupportedError, 3: FileError, 4: OutOfMemoryError, 5: LimitError, 6: SchemeError, 7: InternalError}


def raise_for(status: int, line: str) -> NoReturn:
    """The exception of an assay_status."""
    raise _BY_STATUS.get(status, InternalError)(line)
