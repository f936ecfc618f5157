#!/bin/bash
# Shows that readme_test.sh can fail: on made-up READMEs it must answer with the exit codes below.

set -eu
readme_test=$(cd "$(dirname "$0")" && pwd)/readme_test.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/a tree" "$work/build"
echo mine > "$work/a tree/file"

# expect CODE WHY
expect() {
  code=0
  "$readme_test" "$work/a tree" "$work/build" > "$work/output" 2>&1 || code=$?
  if [ $code -ne "$1" ]; then
    echo "$2: exit code $code instead of $1" >&2
    cat "$work/output" >&2
    exit 1
  fi
}

# readme LINE...
readme() { printf '%s\n' "$@" > "$work/a tree/README.md"; }

expect 77 "no README"
readme 'Text.' '```sh' 'true' '```'
expect 1 "no block is marked"
readme '<!-- test -->' '```sh' 'cat file' 'test -d build' '```' 'Text.' '```sh' 'false' '```'
expect 0 "the marked block works, the other one is not run"
readme '<!-- test -->' '' '```sh' 'true' '```' '<!-- test -->' '```sh' 'false' 'true' '```'
expect 1 "the second marked block fails"
readme '<!-- test -->' 'Text.' '```sh' 'true' '```'
expect 1 "a mark does not reach beyond text"
readme '<!-- test -->' '```sh' 'tools/test' '```'
expect 1 "a block that would run itself"
