"""
Conformance of streaming engines: what it means, and the commands that test it.

The lower modules (errors, programs, case, branches, observation, model, engine, judge, codec) say what conformance
means. The other ones run it: registry, campaign, pipeline and cli, with generators, adapters and reports.
ARCHITECTURE.md has the layers.

One import name holds the whole product. In a checkout the folders adapters/, generators/ and reports/ stand at the
top level, and `conformance.adapters`, `conformance.generators` and `conformance.reports` are symbolic links to them; a
wheel holds them as ordinary sub-packages.
"""

from pathlib import Path

__version__ = "0.1.0"

if not Path(__file__).with_name("adapters").is_dir():
    # A checkout made without symbolic links, as git makes them on Windows: the packages are one folder up.
    __path__.append(str(Path(__file__).resolve().parents[1]))
