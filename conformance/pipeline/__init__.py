"""Campaigns and observations that are too large for one process, on Spark. Needs the extra `spark`."""
