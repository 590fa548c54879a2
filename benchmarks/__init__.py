"""Benchmarks behind the speed claims. Run all with `tox -e benchmark`, or some by name."""
