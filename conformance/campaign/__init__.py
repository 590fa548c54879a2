"""Many cases on an engine: from a plan, through events, to a certificate."""
