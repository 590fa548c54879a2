"""Output folders. Commands never overwrite files."""

from pathlib import Path

from conformance.errors import Unwritable


def make_new(folder: Path) -> None:
    """Make a folder, unless it exists and is empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError as error:
        raise Unwritable(str(folder), error.strerror or "it cannot be created", "Give another folder.") from None
    if taken:
        raise Unwritable(str(folder), "the folder is not empty", "Give a new folder, or empty this one.")
