"""Starts cProfile in a Python of a tracked run; its statistics are written into the folder of the run.

Python imports a module of this name when it starts. The folder of this one is in PYTHONPATH.
"""

import os
import sys


def _let_others_be():
    """Keeps children from being profiled, and imports the module that this one hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [path for path in paths if path and os.path.abspath(path) != here]
    if paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    else:
        os.environ.pop("PYTHONPATH", None)
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    this = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        sys.modules.setdefault("sitecustomize", this)


def _profile():
    run = os.environ.get("IMPACT_RUN_DIR")
    if run is None:
        return
    import atexit
    import cProfile

    profile = cProfile.Profile()
    owner = os.getpid()

    def write():
        profile.disable()
        # A forked child ends here too.
        if os.getpid() != owner:
            return
        name = os.path.join(run, "profile.pstats")
        if os.path.exists(name):
            name = os.path.join(run, "profile-%d.pstats" % owner)
        profile.dump_stats(name)

    atexit.register(write)
    profile.enable()


_let_others_be()
_profile()
