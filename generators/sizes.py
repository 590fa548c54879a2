"""Sizes of generated cases."""

from attrs import evolve, frozen

from conformance.engine import Capabilities


@frozen
class Size:
    """Upper bounds of a generated case. `flood` is the size of an epoch that fills an engine's buffers, 0 for never."""

    sources: int = 3
    tasks: int = 5
    inputs: int = 3
    epochs: int = 4
    events: int = 5
    failures: int = 3
    holds: int = 2
    flood: int = 0

    def within(self, capabilities: Capabilities) -> "Size":
        """Lower the bounds to those of an engine."""
        tasks, events = capabilities.most_tasks, capabilities.most_events
        return evolve(
            self,
            tasks=self.tasks if tasks is None else min(self.tasks, tasks),
            events=self.events if events is None else min(self.events, events),
            flood=0 if events is not None and self.flood > events else self.flood,
            holds=self.holds if capabilities.holds else 0,
        )


DEFAULT = Size()

DEEP = Size(sources=4, tasks=12, inputs=4, epochs=8, events=50, failures=4, holds=3, flood=20_000)
"""Large graphs and long runs; a flood of small integers is some hundred kilobytes on the wire."""
