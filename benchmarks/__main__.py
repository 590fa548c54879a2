"""Run the benchmarks named on the command line, or all of them."""

import os
import platform
import sys
from importlib import import_module

from conformance import __version__

ALL = ("model", "generators", "judge", "campaign", "report", "datasets", "spark", "flink")


def main() -> None:
    """Print the machine, then each benchmark's figures."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    print(f"dataflow-conformance {__version__}, {python}, {platform.system()} {platform.machine()}, {cores} cores")
    print(f"processor: {_processor()}")
    for name in sys.argv[1:] or ALL:
        import_module(f"benchmarks.{name}").main()


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:  # noqa: PTH123
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"


if __name__ == "__main__":
    main()
