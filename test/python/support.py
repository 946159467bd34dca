"""What the tests of the Python package share: TAP, the library of the build, the command, a small network. Where NumPy is missing a test
skips as a whole."""
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "test/support"))
from tap import Tap, skip_all, skip_sanitized  # noqa: E402

TAP = Tap()
check = TAP.check
PACKAGE = os.path.join(TOP, "interp/python")
LIBRARY, ASSAY = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])
os.environ["ASSAY_LIBRARY"] = LIBRARY
sys.dont_write_bytecode = True
sys.path.insert(0, PACKAGE)
try:
    import numpy as np
except ImportError:
    skip_all("no NumPy (python3-numpy)")
skip_sanitized("a plain python3 cannot open a library that they are in")

SEED = int(os.environ.get("ASSAY_SEED", "0")) or int.from_bytes(os.urandom(4), "little")
RANDOM = np.random.default_rng(SEED)
WORK = tempfile.TemporaryDirectory(prefix="assay-python-")
os.chdir(WORK.name)

# Two layers, one of them of several channels: small enough to be run often.
NET = """graph small {
  input x: f32[1,2,6,6]
  const w: f32[3,2,3,3] = [%s]
  const b: f32[3] = [0.1,-0.2,0.3]
  conv: f32[1,3,4,4] = conv(x, w, b) {}
  act: f32[1,3,4,4] = relu(conv)
  out: f32[1,3,1,1] = global_avg_pool(act)
  output out
}
""" % ",".join(f"{v:.3f}" for v in np.sin(np.arange(54)))


def command(*args, status=0, on=None):
    """Runs `assay`; its output (on="out"), or what it says on standard error (on="err"), as where another status is expected."""
    run = subprocess.run([ASSAY, *args], capture_output=True, text=True, timeout=300, check=False)
    if run.returncode != status:
        raise RuntimeError(f"assay {' '.join(args)}: {run.returncode}: {run.stderr}")
    return run.stderr if on == "err" or (status and on is None) else run.stdout


def raises(error, what, function, *args, words="", **options):
    """The call raises `error`, and its line holds the words."""
    try:
        function(*args, **options)
    except Exception as e:
        check(isinstance(e, error) and words in str(e), what, repr(e))
    else:
        check(False, what, "nothing was raised")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def samples(n, shape=(1, 2, 6, 6)):
    return RANDOM.normal(size=(n, *shape)).astype(np.float32)
