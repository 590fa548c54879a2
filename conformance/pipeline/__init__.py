"""What is too large for one process: Spark as a data pipeline of our own. Needs the extra `spark`."""
