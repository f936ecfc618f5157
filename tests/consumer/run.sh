#!/bin/bash
# Installs a build tree, moves what was installed, builds the project beside this script against it, without
# -march=native, and compares what it prints with expected_output.txt.
#
# The quick start and four examples have the same digests in a program of C++, from the command and from Python, where the tree
# has these.
#
#   run.sh BUILD_TREE COMPILER BUILD_TYPE SANITIZERS [PYTHON]

set -eu
here=$(cd "$(dirname "$0")" && pwd)
build_tree=$1 compiler=$2 build_type=$3 sanitizers=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build_tree" --prefix "$work/first" > "$work/log" || {
  cat "$work/log"
  exit 1
}
mkdir "$work/another place"
prefix="$work/another place/prefix"
mv "$work/first" "$prefix"
if grep -rF -e "$work/first" -e "$build_tree" "$prefix" --include='*.cmake'; then
  echo "the installed package names the tree it was built in" >&2
  exit 1
fi

cmake -S "$here/project" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" \
  -DEXAMPLES="$here/../../examples" -DCMAKE_BUILD_TYPE="$build_type" -DCMAKE_CXX_FLAGS="${sanitizers:+-fsanitize=$sanitizers}" > "$work/log" || {
  cat "$work/log"
  exit 1
}
cmake --build "$work/build"
"$work/build/consumer" "$work" > "$work/output"
diff -u "$here/expected_output.txt" "$work/output"
for example in embedding own_algorithm own_model; do
  "$work/build/$example" > "$work/output"
  diff -u "$here/../../examples/$example/expected_output.txt" "$work/output"
done
if [ "${5:-}" ] && [ -x "$build_tree/rubato" ]; then
  files=("$here"/../../examples/{quickstart,algorithms/{sgp,choco,fedavg,digest}}.toml)
  "$work/build/digests" 40.0 "${files[@]}" > "$work/of_the_program"
  "$5" "$here/digests.py" --command "$build_tree/rubato" 40.0 "${files[@]}" > "$work/of_the_command"
  PYTHONPATH="$build_tree/python/package" "$5" -B "$here/digests.py" 40.0 "${files[@]}" > "$work/of_python"
  [ "$(wc -l < "$work/of_the_program")" = 5 ]
  diff -u "$work/of_the_program" "$work/of_the_command"
  diff -u "$work/of_the_program" "$work/of_python"
fi
"$work/build/own_algorithm" list algorithms | grep -q '^  heavy_ball '
cat > "$work/ball.toml" << 'EOF'
until = 20
precision = "float64"
clients = { count = 6 }
topology = { kind = "ring" }
algorithm = { name = "heavy_ball", beta = 0.5 }
data = { name = "quadratic", dimension = 8 }
model = { name = "quadratic" }
EOF
"$work/build/own_algorithm" run "$work/ball.toml" --quiet --out "$work/ball" > "$work/output"
"$work/build/own_algorithm" replay "$work/ball"
"$work/build/own_algorithm" resume "$work/ball" | grep -q 'is complete'
cat > "$work/jitter.toml" << 'EOF'
until = 20
clients = { count = 6, compute = { law = "jitter", numbers = [0.25] } }
topology = { kind = "ring" }
algorithm = { name = "dpsgd" }
data = { name = "quadratic", dimension = 8 }
model = { name = "quadratic" }
EOF
"$work/build/consumer" run "$work/jitter.toml" --quiet --out "$work/jitter" > "$work/output"
"$work/build/consumer" replay "$work/jitter"
"$work/build/consumer" list --keys | grep -q 'jitter'
if "$work/build/consumer" run "$work/jitter.toml" --set 'clients.compute.numbers=[-1]' 2> "$work/refusal"; then exit 1; fi
grep -q 'jitter has one number' "$work/refusal"
