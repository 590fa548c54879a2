"""What the speed claims are measured with. Run them all with `tox -e benchmark`, or some by name."""
