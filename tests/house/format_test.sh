#!/bin/bash
# Shows that tools/format --check can fail: a copy of the tree with one planted line must be answered with its file's name.

set -eu
tree=$(cd "$1" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for room in runtime learning algos transports experiment results actors app web rubato examples bench tests; do mkdir "$work/$room"; done
cp -r "$tree/tools" "$tree/.clang-format" "$work/"
cp "$tree/runtime/time.hpp" "$work/runtime/"
"$work/tools/format" --check > "$work/answer" || { cat "$work/answer" >&2; echo "a tree in the style is refused" >&2; exit 1; }
echo 'int  planted ;' >> "$work/runtime/time.hpp"
code=0
"$work/tools/format" --check > "$work/answer" || code=$?
[ $code -eq 1 ] || { echo "a planted line is not found" >&2; exit 1; }
grep -qx "runtime/time.hpp is not in the tree's style; run tools/format" "$work/answer" || { cat "$work/answer" >&2; exit 1; }
