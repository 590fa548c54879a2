"""A conviction, before real engines are put to the test: an engine that is broken on purpose bills an order twice."""

from conformance.adapters.mutants import Mutant
from conformance.case import Case, Graph, Kill, Task
from conformance.cli.say import say
from conformance.cli.verdicts import show
from conformance.engine import RunRequest
from conformance.judge import judge
from conformance.programs import Map

MUTANT = "appended-on-replay"

CASE = Case(
    graph=Graph(sources=("orders",), tasks=(Task("billing", ("orders",), "bills", Map(mul=1, add=0)),)),
    inputs={"orders": ((42,),)},
    failures=(Kill("worker", 1, "snapshot"),),
    name="a billing task is killed before its first order is saved",
)


def demonstrate() -> None:
    """Run the case on the mutant, and print the verdict."""
    (seen,) = Mutant([MUTANT]).run([RunRequest(CASE)])
    say(f"First, an engine that is broken on purpose, mutant:{MUTANT}: its sink keeps what it wrote before a failure.")
    say("The case: one order, 42; the worker is killed while its epoch is saved, recovers, and bills the order again.")
    show(judge(CASE, seen))
    say("Now the engines that can run here, on the same cases for all of them.\n")
