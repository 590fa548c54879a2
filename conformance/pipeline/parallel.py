"""
The explanation of the last observation, task by task and epoch by epoch, in parallel.

Why that is enough. Let a task's inputs and output be observed throughout, and let s(e) be the state at the start of
epoch e that `states` derives from what was observed in the epochs before. If a failure-free execution shows the task's
epochs up to e - 1, it leaves s(e), because every order that explains an epoch leaves the same state. So:

- If every epoch is explained from its s(e), then, by induction, these orders one after the other are an execution:
  each leaves the state that the next one starts in. (A group that finds an order replays it and compares.)
- Let e be the first epoch that is not explained from s(e). Those before it are, so every execution that explains them
  leaves s(e), and none explains e. Findings at later epochs assume a state that did not occur, and are not reported.

Tasks of which that cannot be said, because they share an unobserved stream or are an `average` that is reset, are
judged together in all epochs, by `judge.explain` unchanged, in one group.

Epochs are not split further, by key. An output of `keyed_sum` does not say which key it belongs to. With one input that
is known, because the n-th output belongs to the n-th event; but then each output has to be joined with its event, and
that join moves every row once more, while replaying a `keyed_sum` costs two microseconds a row, a small part of what it
costs to move the row. Also, a group checks that rows are numbered without a gap, because it has all of a segment;
otherwise that would need a pass of its own.
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from attrs import evolve, frozen

from conformance.case import Case, Task
from conformance.errors import Malformed, OutOfBudget
from conformance.judge.diagnose import diagnose
from conformance.judge.explain import StreamSegments, Unexplained, task_groups
from conformance.judge.judge import epochs_to_judge, first_shown, stream_segments, surplus_epochs
from conformance.judge.ordering import Segment
from conformance.judge.verdict import Finding
from conformance.judge.witness import Unproven
from conformance.observation import Observations
from conformance.pipeline.digest_view import SegmentIndex
from conformance.pipeline.groups import ANSWER, BORDERS, STATE, JudgingPlan, Subgraph, explainer
from conformance.pipeline.progress import report_progress
from conformance.pipeline.segments import NUMBERED, RECORDED, SegmentKey, SegmentSummary, path_of
from conformance.pipeline.states import is_determined, key_count, keyed_state, start_states
from conformance.programs import P


@frozen
class Explanation:
    """The numbers of epochs, groups and rows that were explained and replayed."""

    epochs: int
    groups: int
    rows: int


@frozen
class ParallelExplainer:
    """Explains the last observation. `seen` may be a digest view; the rows are in `index`."""

    index: SegmentIndex
    seen: Observations
    seconds: float
    tell: Callable[[str], None]

    def __call__(self, judged: Case, *, complete: bool) -> Explanation | list[Finding]:  # noqa: ARG002 - aligned
        epochs = epochs_to_judge(judged, self.seen)
        extra = surplus_epochs(judged, self.seen)
        segments = stream_segments(judged, self.seen, epochs)
        found = [tuple(part) for part in task_groups(judged.graph, segments)]
        plan = JudgingPlan(
            tuple(self._subgraph(judged, tasks, epochs) for tasks in found), self.index.rows.kind, epochs, self.seconds
        )
        answers = self._answers(judged, plan)
        self._refuse_misnumbered(judged, answers)
        if unproven := [each for each in answers if each.answer == "unproven"]:
            tasks = ", ".join(task.name for task in plan.subgraphs[unproven[0].part].tasks)
            raise Unproven(f"an order that was found for {tasks} does not show what was seen; please report both files")
        unexplained, undecided = self._first_of_each(answers)
        findings = extra + [finding for each in unexplained for finding in self._findings(judged, each, epochs)]
        if undecided and not findings:
            raise OutOfBudget(undecided[0])
        return findings or Explanation(epochs, len(answers), sum(each.rows for each in answers))

    def _origin(self, judged: Case, stream: str) -> int:
        """Return the origin of the rows of a stream: sources are taken as recorded."""
        return RECORDED if stream in judged.inputs else len(self.seen.observations) - 1

    def _summary(self, judged: Case, stream: str, epoch: int) -> SegmentSummary:
        return self.index.summaries[self._origin(judged, stream), stream, epoch]

    def _subgraph(self, judged: Case, tasks: tuple[Task, ...], epochs: int) -> Subgraph:
        streams = tuple(dict.fromkeys(s for task in tasks for s in (*task.inputs, task.output)))
        (task, *others) = tasks
        undivided = Subgraph(tasks, streams, split=False, shown=epochs)
        if others:
            return undivided
        shown = min(epochs, self.index.shown(self._origin(judged, task.output), task.output))
        read = [[self._summary(judged, each, e) for each in task.inputs] for e in range(1, shown + 1)]
        if not all(is_determined(task, inputs) for inputs in read):
            return undivided
        if key_count(task.program) is not None:
            return Subgraph(tasks, streams, split=True, shown=shown)
        written = [self._summary(judged, task.output, e) for e in range(1, shown + 1)]
        states = tuple(start_states(task, list(zip(read, written, strict=True))))
        return Subgraph(tasks, streams, split=True, shown=shown, states=states)

    def _answers(self, judged: Case, plan: JudgingPlan) -> list[Any]:
        spark = self.index.rows.frame.sparkSession
        routed = self._routed(judged, plan)
        if routed is None:
            return []
        groups = sum(subgraph.shown if subgraph.split else 1 for subgraph in plan.subgraphs)
        self.tell(f"judging {groups:,} groups: each task in each epoch, or tasks that have to be judged together")
        known, counted = spark.sparkContext.broadcast(plan), spark.sparkContext.accumulator(0)
        with report_progress(counted, self._row_count(judged, plan), self.tell):
            explained = routed.groupBy("part", "slice").applyInPandas(explainer(known, counted), ANSWER)
            answers: list[Any] = explained.collect()
        return sorted(answers, key=lambda each: (each.part, each.slice))

    def _row_count(self, judged: Case, plan: JudgingPlan) -> int:
        """Count the rows, each once for every group that needs it."""
        routes = [(each[0], each[1], each[5]) for each in self._routes(judged, plan)]
        found = self.index.summaries
        return sum(found[o, s, e].rows for o, s, upto in routes for e in range(1, upto + 1) if (o, s, e) in found)

    def _routed(self, judged: Case, plan: JudgingPlan) -> Any:
        """Return each row once for every group that needs it, and the states that are in the rows."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - the extra `spark` may not be installed

        frame, kind = self.index.rows.frame, self.index.rows.kind
        routes = list(self._routes(judged, plan))
        if not routes:
            return None
        schema = "origin long, stream string, part long, number long, split boolean, upto long, keys long"
        few = frame.sparkSession.createDataFrame(routes, schema)
        rows = frame.join(f.broadcast(few), ["origin", "stream"]).filter(f.col("epoch") <= f.col("upto"))
        slice_ = f.when(f.col("split"), f.col("epoch")).otherwise(0).alias("slice")
        value = f.coalesce("value", f.lit(BORDERS[kind])).alias("value")
        routed = rows.select("part", slice_, f.col("number").alias("stream"), "epoch", "seq", value)
        if any(keys is not None for *_, keys in routes):
            states = _states_in(rows.filter(f.col("keys").isNotNull()), kind)
            routed = routed.unionByName(states)
        return routed

    def _routes(self, judged: Case, plan: JudgingPlan) -> Iterator[tuple[int, str, int, int, bool, int, int | None]]:
        for part, subgraph in enumerate(plan.subgraphs):
            outputs = {task.output for task in subgraph.tasks}
            for number, stream in enumerate(subgraph.streams):
                keys = key_count(subgraph.tasks[0].program) if subgraph.split and stream not in outputs else None
                yield self._origin(judged, stream), stream, part, number, subgraph.split, subgraph.shown, keys

    def _refuse_misnumbered(self, judged: Case, answers: Sequence[Any]) -> None:
        for each in answers:
            if each.answer == "misnumbered":
                stream, epoch, found = pickle.loads(each.said)  # noqa: S301 - written by our own worker
                origin = self._origin(judged, stream)
                raise Malformed(
                    f"{found} in epoch {epoch}",
                    NUMBERED,
                    path=path_of(origin, stream),
                    file=self.index.rows.file(origin),
                )

    def _first_of_each(self, answers: Sequence[Any]) -> tuple[list[Unexplained], list[str]]:
        """Return the first unexplained epoch of each part, and why the search of a part stopped before it found one."""
        unexplained: dict[int, Unexplained] = {}
        undecided: dict[int, str] = {}
        for each in answers:
            if each.part in unexplained or each.part in undecided:
                continue
            if each.answer == "unexplained":
                unexplained[each.part] = pickle.loads(each.said)  # noqa: S301 - written by our own worker
            elif each.answer == "out of budget":
                undecided[each.part] = bytes(each.said).decode()
        return list(unexplained.values()), list(undecided.values())

    def _findings(self, judged: Case, found: Unexplained, epochs: int) -> list[Finding]:
        """
        Return the findings in the judge's own words, from the rows of that epoch and the next.

        An unobserved stream stays unknown here, also if its content is determined: `diagnose.add_determined_streams`
        would need all of its past in one place.
        """
        near = [epoch for epoch in (found.epoch, found.epoch + 1) if epoch <= epochs]
        keys: dict[tuple[str, int], SegmentKey] = {
            (stream, epoch): key
            for stream in (*found.task.inputs, found.stream)
            for epoch in near
            if (key := (self._origin(judged, stream), stream, epoch)) in self.index.summaries
        }
        events = self.index.rows.events(keys.values())

        def segment(stream: str, epoch: int) -> Segment | None:
            return events[keys[stream, epoch]] if (stream, epoch) in keys else None

        segments: StreamSegments = {
            stream: [segment(stream, epoch) for epoch in range(1, epochs + 1)]
            for stream in (*found.task.inputs, found.stream)
        }
        if key_count(found.task.program) is not None and not any(
            None in (segments[s][e - 1] for e in near) for s in found.task.inputs
        ):
            found = evolve(found, state=self._state(judged, found, near))
        return diagnose(segments, found, partial(first_shown, self.seen, found.stream), aligned=True)

    def _state(self, judged: Case, found: Unexplained, near: Sequence[int]) -> Any:
        """Return the state at the start of that epoch, as far as these epochs depend on it."""
        from pyspark.sql import functions as f  # noqa: PLC0415 - as above

        program, frame = found.task.program, self.index.rows.frame
        read = [
            (f.col("origin") == self._origin(judged, stream)) & (f.col("stream") == stream)
            for stream in found.task.inputs
        ]
        rows = frame.filter(_any(read)).withColumn("keys", f.lit(key_count(program)))
        keyed = rows.select("epoch", *_key(self.index.rows.kind)).filter("number is not null")
        wanted = keyed.filter(f.col("epoch").isin(list(near))).select("key").distinct()
        sums = keyed.filter(f.col("epoch") < found.epoch).join(wanted, "key").groupBy("key").agg(f.sum("number"))
        return keyed_state(program, {row[0]: row[1] for row in sums.collect()})


def _any(conditions: Sequence[Any]) -> Any:
    one, *others = conditions
    for other in others:
        one |= other
    return one


def _key(kind: str) -> tuple[Any, Any]:
    """Return columns for the key of a row and for its integer, null if it has none."""
    from pyspark.sql import functions as f  # noqa: PLC0415 - as above

    number = f.col("value") if kind == "integers" else f.expr("try_cast(value as bigint)")
    key = f.when(f.col("keys") == 0, number).otherwise(number % f.when(f.col("keys") > 0, f.col("keys")))
    return key.alias("key"), number.alias("number")


def _states_in(rows: Any, kind: str) -> Any:
    """
    Return rows that hold the state at the start of each epoch, for the group of that epoch.

    There is one for each key of the epoch that occurred before, with the sum of its events so far.
    """
    from pyspark.sql import Window  # noqa: PLC0415 - as above
    from pyspark.sql import functions as f  # noqa: PLC0415

    keyed = rows.select("part", "epoch", *_key(kind)).filter("number is not null")
    sums = keyed.groupBy("part", "key", "epoch").agg(f.sum("number").alias("number"))
    over = Window.partitionBy("part", "key").orderBy("epoch").rowsBetween(Window.unboundedPreceding, -1)
    before = sums.withColumn("before", f.sum("number").over(over)).filter("before is not null")
    value = (f.col("before") % P).cast("long" if kind == "integers" else "string").alias("value")
    return before.select(
        "part",
        f.col("epoch").alias("slice"),
        f.lit(STATE).cast("long").alias("stream"),
        "epoch",
        f.col("key").alias("seq"),
        value,
    )
