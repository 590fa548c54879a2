"""
The command `conformance`, also as `python -m conformance`.

It imports the command line inside a block that handles Ctrl-C, so an early interrupt prints no traceback.
"""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line."""
    try:
        from conformance.cli import main as run  # noqa: PLC0415

        run()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
