"""Hypothesis strategies for graphs, programs, inputs and failure schedules."""
