"""
Reports on a campaign: from a results folder to one HTML page, a badge, JUnit XML and a summary in the terminal.

1. `campaigns` reads the journal and files of each engine in the folder: an `EngineCampaign` each.
2. `report` builds a `Report`, the values of all sections, from `overview` (verdicts and the matrix of guarantees),
   `counterexamples`, `comparison` (engines side by side), `coverage`, `times`, `mutation_results`, `case_details` and
   `history` (earlier folders).
3. Counterexamples and cases have diagrams. `timeline` reads what tasks did from the engine's log, or infers it;
   `closest_execution` finds what could have happened instead; `diagrams` chooses what to draw; `lanes` places it, and
   `spacetime` draws it. `alignment` puts observed and possible output side by side. `graph` and `charts` draw the rest.
4. `html` fills `templates/` with the report. `sanitize`, `labels` and `svg` turn values into safe text and markup.
5. `folder` writes all files of a finished campaign: the page, `junit`, `badge` and the certificate. `summary` is text.
"""
