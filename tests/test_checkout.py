"""A checkout is importable with and without symbolic links."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINKED = ("adapters", "generators", "reports")


def test_a_checkout_without_symbolic_links_is_importable(tmp_path):
    if not (ROOT / "conformance" / "adapters").is_symlink():
        pytest.skip("not a checkout with symbolic links")
    (tmp_path / "conformance").mkdir()
    for entry in (ROOT / "conformance").iterdir():
        copied = tmp_path / "conformance" / entry.name
        if entry.name in LINKED:
            copied.write_text(f"../{entry.name}")
            (tmp_path / entry.name).symlink_to(ROOT / entry.name)
        elif entry.name != "__pycache__":
            copied.symlink_to(entry)
    # Python finds a package through its __init__.py, so that one is a copy.
    (tmp_path / "conformance" / "__init__.py").unlink()
    (tmp_path / "conformance" / "__init__.py").write_text((ROOT / "conformance" / "__init__.py").read_text())
    imported = subprocess.run(
        [sys.executable, "-c", "import conformance.generators as found; print(found.__path__[0])"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert imported.stdout.strip() == str(tmp_path / "generators")
