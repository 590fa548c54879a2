"""Mutation testing results: the mutants, which are engines broken on purpose, and which of them the cases detect."""

from attrs import frozen

from conformance.adapters.mutants import GROUPS, name
from conformance.reports.campaigns import EngineCampaign


@frozen
class MutantResult:
    """One mutant, what it does wrong, and whether a case detects it."""

    name: str
    description: str
    killed: bool


@frozen
class MutationResults:
    """All mutants, grouped by what they break, tested with the first cases of a campaign."""

    engine: str
    cases: int
    killed: int
    groups: dict[str, tuple[MutantResult, ...]]

    @property
    def total(self) -> int:
        return sum(map(len, self.groups.values()))


def list_mutation_results(campaign: EngineCampaign) -> MutationResults | None:
    """List the results that a campaign measured; None if it has not measured them."""
    measured = campaign.tally.measured
    if measured is None:
        return None
    groups = {
        group: tuple(
            MutantResult(name(mutant), (mutant.__doc__ or "").strip(), name(mutant) not in measured.survived)
            for mutant in mutants
        )
        for group, mutants in GROUPS.items()
    }
    return MutationResults(campaign.engine, measured.cases, measured.killed, groups)
