"""Stands for the module of this name in `impact.compat`."""

import importlib
import sys

from impact.compat import install

install()
sys.modules[__name__] = importlib.import_module(f"impact.compat.{__name__}")
