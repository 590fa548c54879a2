"""The implementation model of asynchronous barrier snapshotting, executable. docs/paper.md maps it to the paper."""
