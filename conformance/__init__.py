"""
Conformance of streaming engines: cases, the reference model, and the judge that compares an engine with it.

One import name holds the whole product. In a checkout the folders adapters/, generators/ and reports/ stand at the
top level, and `conformance.adapters`, `conformance.generators` and `conformance.reports` are symbolic links to them; a
wheel holds them as ordinary sub-packages.
"""

from pathlib import Path

__version__ = "0.1.0"

if not Path(__file__).with_name("adapters").is_dir():
    # A checkout made without symbolic links, as git makes them on Windows: the packages are one folder up.
    __path__.append(str(Path(__file__).resolve().parents[1]))
