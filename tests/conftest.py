"""Hypothesis profiles: 40 examples in every run, 200 in `tox -m full`, 5,000 at night."""

import os

from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("default", max_examples=40, deadline=None, suppress_health_check=SLOW)
settings.register_profile("ci", max_examples=40, deadline=None, suppress_health_check=SLOW, derandomize=True)
settings.register_profile("full", max_examples=200, deadline=None, suppress_health_check=SLOW, derandomize=True)
settings.register_profile("nightly", max_examples=5000, deadline=None, suppress_health_check=SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "default"))
