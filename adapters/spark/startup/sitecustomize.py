"""
Found by Spark's Python workers when they start, and by nobody else: what makes them fast.

For every task a worker invalidates Python's import caches, which makes it read the directory of pyspark.zip again, more
than 100 ms each; the archive does not change while a worker lives. And a worker whose function raised is replaced by
another fork of Spark's daemon: what the daemon has imported, a fork need not.
"""

import sys
import zipimport


def _keep(_: zipimport.zipimporter) -> None:
    """There is nothing to forget."""


zipimport.zipimporter.invalidate_caches = _keep  # type: ignore[assignment,method-assign]

if "pyspark.daemon" in sys.orig_argv:
    import pandas as pd
    import pyarrow as pa

    from conformance.adapters.spark import operators

    __all__ = ["operators", "pa", "pd"]
