"""TAP as the Python tests print it: a line a check, the reason behind one that failed, the plan in the end."""
import os
import sys


def skip_all(why):
    """Ends a test that cannot run here."""
    print(f"1..0 # SKIP {why}")
    sys.exit(0)


def skip_sanitized(why):
    """The same in a build with sanitizers (test/meson.build says whether it is one)."""
    if os.environ.get("ASSAY_SANITIZED", "none") != "none":
        skip_all(f"in a build with sanitizers: {why}")


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def check(self, good, what, *why):
        """The next line; why: what to show where it is not good."""
        self.n += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.n} - {what}", flush=True)
        for reason in why if not good else ():
            print("# " + str(reason).replace("\n", "\n# "), flush=True)

    def end(self):
        """The plan; exit status 1 where a check failed."""
        print(f"1..{self.n}")
        sys.exit(self.failed != 0)
