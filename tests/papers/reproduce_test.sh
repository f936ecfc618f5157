#!/bin/bash
# Shows that tools/reproduce runs a study once, goes on where it was, and finds a number that has changed. Exit code 77, "skipped",
# without python3.
#
#   reproduce_test.sh SOURCE_TREE RUBATO

set -eu
tree=$(cd "$1" && pwd -P)
rubato=$(realpath "$2")
command -v python3 > /dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
reproduce() {
  "$tree/tools/reproduce" "$@" --rubato "$rubato" --runs "$work/runs" --docs "$work/docs/reproduction" > "$work/said" 2>&1
}
complain() {
  cat "$work/said" >&2
  echo "$1" >&2
  exit 1
}

reproduce decefl-consensus gap --quick --jobs 1 || complain "two studies that need no data cannot be run"
grep -q "^22 runs, 0 of them done" "$work/said" || complain "the forecast does not say what is to be done"
reproduce decefl-consensus gap --quick --jobs 2 || complain "a study that is done cannot be shown again"
grep -q "^22 runs, 22 of them done" "$work/said" || complain "runs that are done are done again"

for figure in gap decefl-consensus; do
  python3 -c 'import sys, xml.dom.minidom as m; d = m.parse(sys.argv[1]); assert len(d.getElementsByTagName("text")) > 5' \
    "$work/docs/reproduction/$figure.svg" || complain "$figure.svg is no figure with words"
done
grep -q '^| complete, 1.0 s | ' "$work/docs/reproduction.md" || complain "the page has no line of a setting"
grep -q 'ring: a stricter deadline, a smaller gap | direction reproduced (quick column) |' "$work/docs/reproduction.md" ||
  complain "the page has no verdict"

rm -r "$work/runs/quick/decefl-consensus"
reproduce decefl-consensus gap --quick --check --jobs 1 || complain "the same runs give other numbers"
sed -i 's/"1": -[12]\.[0-9]*/"1": -1.5/' "$work/docs/reproduction/decefl-consensus.json"
reproduce decefl-consensus --quick --check --jobs 1 && complain "a number that has changed is not found"
grep -q "seed 1: slope is " "$work/said" || complain "the number that has changed is not named"

reproduce pame-share pame-kappa decefl-consensus --try || complain "a setting of a study cannot be run"
echo "studies are run once, gone on with, and compared"
