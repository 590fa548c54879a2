"""
Startup code that makes Spark's Python workers fast. Python imports it when a worker starts.

For every task a worker invalidates Python's import caches, and then reads the directory of pyspark.zip again, which
takes more than 100 ms; the archive does not change while a worker lives. Spark replaces a worker whose function raised
by another fork of its daemon: a fork need not import the modules that the daemon has imported.
"""

import sys
import zipimport


def _keep_caches(_: zipimport.zipimporter) -> None:
    """Do nothing instead of invalidating the caches."""


zipimport.zipimporter.invalidate_caches = _keep_caches  # type: ignore[assignment,method-assign]

if "pyspark.daemon" in sys.orig_argv:
    import pandas as pd
    import pyarrow as pa

    from conformance.adapters.spark import operators

    __all__ = ["operators", "pa", "pd"]
