"""One engine each: an adapter translates a case for its engine and judges nothing."""
