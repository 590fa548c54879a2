"""
Checks that segments form streams: rows are numbered without a gap, epochs are consecutive, each ends in its border.

These checks read summaries of segments only. In a summary, a missing and a repeated number may cancel out. `groups`
finds them in the segments that are judged, because it reads every row of these. A segment of an earlier observation
either has the same hashes as a judged segment, or differs from it and is compared row by row.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import NoReturn

from attrs import frozen

from conformance.errors import Malformed, quote
from conformance.pipeline.segments import NUMBERED, Rows, SegmentKey, SegmentSummary, numbering_error, path_of
from conformance.programs import P


@frozen
class Structure:
    """The structure of all segments, by their summaries."""

    rows: Rows
    summaries: Mapping[SegmentKey, SegmentSummary]

    def epochs(self) -> dict[tuple[int, str], int]:
        """Return the number of epochs of each stream of each origin; refuse what is no stream."""
        epochs: dict[tuple[int, str], list[int]] = defaultdict(list)
        for origin, stream, epoch in self.summaries:
            epochs[origin, stream].append(epoch)
        for (origin, stream), found in sorted(epochs.items()):
            found.sort()
            self._check_epochs(origin, stream, found)
            for epoch in found:
                self._check_order(origin, stream, epoch)
            for epoch in found:
                self._check_segment((origin, stream, epoch))
        return {key: len(found) for key, found in epochs.items()}

    def _check_epochs(self, origin: int, stream: str, found: list[int]) -> None:
        for wanted, epoch in enumerate(found, start=1):
            if epoch != wanted:
                self._refuse(origin, stream, f"epoch {epoch} and no epoch {wanted}", "every epoch from 1 on")

    def _check_order(self, origin: int, stream: str, epoch: int) -> None:
        this, following = self.summaries[origin, stream, epoch], self.summaries.get((origin, stream, epoch + 1))
        if following is None:
            return
        if following.low == this.high:
            self._refuse(origin, stream, f"seq {this.high} in epoch {epoch} and in epoch {epoch + 1}", NUMBERED)
        if following.low < this.high:
            found = f"rows out of order: seq {following.low} is of epoch {epoch + 1}, seq {this.high} of epoch {epoch}"
            self._refuse(origin, stream, found, "epochs that go up with seq")

    def _check_segment(self, key: SegmentKey) -> None:
        origin, stream, epoch = key
        found = self.summaries[key]
        previous = self.summaries.get((origin, stream, epoch - 1))
        first = 0 if previous is None else previous.high + 1
        if found.low != first:
            self._refuse(origin, stream, f"no row with seq {first}, before that of epoch {epoch}", NUMBERED)
        if found.rows != found.high - first + 1 or 2 * found.seq_sum != (first + found.high) * found.rows:
            self._refuse_numbers(key, first)
        if not found.borders:
            expected = "a row with a null value behind the events of each epoch"
            self._refuse(origin, stream, f"epoch {epoch} without its border", expected)
        if found.borders > 1:
            self._refuse(origin, stream, f"{found.borders} borders in epoch {epoch}", "one")
        if found.border_at != found.high:
            self._refuse(
                origin, stream, f"seq {found.border_at + 1} behind the border of epoch {epoch}", "it in the next epoch"
            )
        if found.wrong_at >= 0:
            value = dict(self.rows.fetch([key])[key])[found.wrong_at]
            self._refuse(origin, stream, f"{quote(value)} at seq {found.wrong_at} of epoch {epoch}", _event(self.rows))

    def _refuse_numbers(self, key: SegmentKey, first: int) -> NoReturn:
        numbers = [seq for seq, _ in self.rows.fetch([key])[key]]
        found = numbering_error(numbers, first) or f"{len(numbers)} rows, and others when they were counted"
        self._refuse(key[0], key[1], f"{found} in epoch {key[2]}", NUMBERED)

    def _refuse(self, origin: int, stream: str, found: str, expected: str) -> NoReturn:
        raise Malformed(found, expected, path=path_of(origin, stream), file=self.rows.file(origin))


def _event(rows: Rows) -> str:
    number = f"an integer from 0 to {P - 1}"
    if rows.kind == "integers":
        return number
    return f'{number}, or a string of at most 64 characters, as JSON in ASCII without spaces around it ("reset")'
