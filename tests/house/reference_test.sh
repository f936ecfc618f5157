#!/bin/bash
# Every public name has its sentence; one without is named with its place.
#
#   reference_test.sh SOURCE_TREE

set -eu
tree=$(cd "$1" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$tree/tools/reference" "$work/reference"
grep -q 'RunResult' "$work/reference/annotated.html" || { echo "the reference does not list RunResult" >&2; exit 1; }

mkdir "$work/tree"
(cd "$tree" && find runtime learning algos transports experiment results actors app rubato -name '*.hpp' -exec cp --parents {} "$work/tree" \;)
cp -r "$tree/tools" "$tree/cmake" "$work/tree/"
echo 'namespace rubato { int planted(); }' >> "$work/tree/results/summary.hpp"
code=0
"$work/tree/tools/reference" "$work/planted" 2> "$work/answer" || code=$?
{ [ $code -eq 1 ] && grep -q '^results/summary.hpp:[0-9]*: warning: Member planted() .* is not documented' "$work/answer"; } ||
  { cat "$work/answer" >&2; echo "a planted name without a sentence is not found" >&2; exit 1; }
