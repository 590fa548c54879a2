"""Where commands write: never over something that is there."""

from pathlib import Path

from conformance.errors import Unwritable


def make_new(folder: Path) -> None:
    """A new folder, or an empty one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError as error:
        raise Unwritable(str(folder), error.strerror or "it cannot be made", "Give another folder.") from None
    if taken:
        raise Unwritable(str(folder), "there is something in it already", "Give a new folder, or empty this one.")
