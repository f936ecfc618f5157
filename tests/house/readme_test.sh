#!/bin/bash
# Runs the commands of README.md: every ```sh block that follows the line <!-- test -->.
#
#   readme_test.sh SOURCE_TREE BUILD_TREE
#
# The commands see the source tree with the build tree as build/. Exit code 77, "skipped", without a README.md; a
# README.md without such a block is a failure.

set -eu
source_tree=$(cd "$1" && pwd -P)
export RUBATO_BUILD_DIR=$2
readme=$source_tree/README.md
if [ ! -e "$readme" ]; then
  echo "there is no README.md yet"
  exit 77
fi

view=$(mktemp -d)
trap 'rm -rf "$view"' EXIT
mkdir "$view/tree" "$view/blocks"
mkdir -p "$source_tree/runs"
for entry in "$source_tree"/* "$source_tree"/.[!.]*; do
  if [ -e "$entry" ] && [ "$entry" != "$source_tree/build" ]; then ln -s "$entry" "$view/tree/"; fi
done
ln -s "$RUBATO_BUILD_DIR" "$view/tree/build"

# One file a block, named after its first line in README.md.
awk -v blocks="$view/blocks" '
  /^```/ && inside { inside = 0; close(file); next }
  /^```sh$/ && marked { inside = 1; file = sprintf("%s/%06d", blocks, NR + 1); printf "" > file; marked = 0; next }
  inside { print > file; next }
  /^<!-- test -->$/ { marked = 1; next }
  NF { marked = 0 }' "$readme"

count=0
for block in "$view"/blocks/*; do
  [ -e "$block" ] || break
  line=$((10#$(basename "$block")))
  if grep -q 'tools/test' "$block"; then
    echo "README.md:$line: a block that runs tools/test would run itself for ever" >&2
    exit 1
  fi
  echo "README.md:$line:"
  cat "$block"
  if ! (cd "$view/tree" && bash -eu "$block" < /dev/null); then
    echo "README.md:$line: this block fails" >&2
    exit 1
  fi
  count=$((count + 1))
done
if [ $count -eq 0 ]; then
  echo "README.md has no block that is tested; write <!-- test --> on the line before a \`\`\`sh block" >&2
  exit 1
fi
echo "$count blocks of README.md work"
