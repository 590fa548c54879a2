#!/usr/bin/env bash
# Certify engines for action.yml, and write the verdicts to the summary of the job.
#
# The inputs of the action are the environment variables ENGINES (one a line), PROFILE, CASES, SEED, OUT and ARTIFACT.
# The exit code is that of certify.
set -euo pipefail

arguments=(--out="$OUT")
[ -z "$PROFILE" ] || arguments+=(--profile="$PROFILE")
[ -z "$CASES" ] || arguments+=(--cases="$CASES")
[ -z "$SEED" ] || arguments+=(--seed="$SEED")
arguments+=(--)
while read -r engine; do
    [ -z "$engine" ] || arguments+=("$engine")
done <<<"$ENGINES"

case "$OUT" in
    /*) results=$OUT ;;
    *) results=$PWD/$OUT ;;
esac
printf 'results=%s\n' "$results" >>"$GITHUB_OUTPUT"

# -P, because a project may have a package that is named like ours.
printed=$(mktemp)
status=0
python -P -m conformance certify "${arguments[@]}" | tee "$printed" || status=$?

{
    printf '### Conformance\n\n'
    if [ -s "$printed" ]; then
        sed 's/^/    /' "$printed"  # code, whatever an engine has printed
        printf '\nThe report is `index.html` in the artifact `%s`.\n' "$ARTIFACT"
    else
        printf 'Nothing was certified: exit code %s. The log of the step says why.\n' "$status"
    fi
} >>"$GITHUB_STEP_SUMMARY"
rm -f "$printed"
exit "$status"
