"""
The command `conformance`, also as `python -m conformance`.

It imports nothing before it can be interrupted in good order.
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
