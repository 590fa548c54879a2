"""What conformance means: cases, the reference model, and the judge that compares an engine with it."""

__version__ = "0.1.0"
