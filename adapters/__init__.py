"""Adapters, one for each engine: an adapter translates a case for its engine and judges nothing."""
