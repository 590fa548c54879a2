"""The speed of generating cases, on one core."""

from time import perf_counter

from conformance.generators import DEEP, DEFAULT, Numbered, cases


def main() -> None:
    """Print the figures: the best of several rounds."""
    for name, size, number in (("default", DEFAULT, 200), ("deep", DEEP, 40)):
        values = Numbered(cases(size=size), seed=1).distinct()
        best = 0.0
        for _ in range(5):
            started = perf_counter()
            for _ in range(number):
                next(values)
            best = max(best, number / (perf_counter() - started))
        print(f"generators: {best:,.0f} {name} cases/s")
