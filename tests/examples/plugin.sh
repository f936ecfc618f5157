#!/bin/bash
# The own-algorithm example as a plug-in of the command, beside DRACO; libraries that are refused; learners and a transport as one.
#
#   plugin.sh COMMAND PLUGIN OTHER_VERSION NO_PLUGIN WITH_LEARNERS

set -eu
rubato=$1 plugin=$2 other=$3 none=$4 learners=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }

cat > "$work/draco.toml" << END
name = "draco"
until = 20
[clients]
count = 6
[topology]
kind = "ring"
[algorithm]
name = "draco"
self_apply = true
[data]
name = "digits"
[model]
name = "softmax"
batch = 16
END
sed -e 's/name = "draco"/name = "heavy_ball"/' -e '/self_apply/d' "$work/draco.toml" > "$work/heavy_ball.toml"

"$rubato" list algorithms --plugin "$plugin" | grep -q '^  heavy_ball ' || fail "the list does not have the plug-in's algorithm"
"$rubato" list --keys "--plugin=$plugin" | grep -q 'beta' || fail "the keys do not have the plug-in's options"
"$rubato" compare "$work/draco.toml" "$work/heavy_ball.toml" --plugin "$plugin" --seeds 2 --quiet > "$work/table" 2> "$work/said" ||
  { cat "$work/said"; fail "the comparison fails"; }
grep -q draco "$work/table" && grep -q heavy_ball "$work/table" || fail "the comparison does not have both"
"$rubato" run "$work/heavy_ball.toml" --plugin "$plugin" --quiet --set until=5 --out "$work/run" > /dev/null
"$rubato" replay "$work/run" --plugin "$plugin" > /dev/null || fail "a run with a plug-in does not replay"

# refused SENTENCE LIBRARY
refused() {
  local code=0
  "$rubato" run "$work/draco.toml" --plugin "$2" --quiet > /dev/null 2> "$work/said" || code=$?
  [ $code -eq 2 ] || fail "$2 is not refused: $code"
  grep -q "$1" "$work/said" || { cat "$work/said"; fail "$2 is refused with another sentence"; }
}
refused 'was built with Rubato 0.0.1 of commit 0000000, and this is ' "$other"
refused 'is no plug-in of Rubato' "$none"
refused 'cannot be loaded' "$work/draco.toml"
refused 'cannot be loaded' "$work/there_is_none.so"
code=0
"$rubato" run "$work/heavy_ball.toml" --quiet > /dev/null 2>&1 || code=$?
[ $code -eq 2 ] || fail "the algorithm is known without the plug-in"

# Learners stand for [data] and [model], and meet run, compare, replay and node; a transport carries the scheme of a roster.
cat > "$work/own.toml" << END
until = 40
precision = "float64"
[clients]
count = 4
[topology]
kind = "ring"
[algorithm]
name = "dpsgd"
eta = 0.1
[metrics]
every_seconds = 10.0
END
"$rubato" run "$work/own.toml" --plugin "$learners" --quiet --json --out "$work/own" > "$work/alone"
grep -q '"dimension": 3' "$work/own/summary.json" || fail "the plug-in's learners are not those of the run"
"$rubato" replay "$work/own" --plugin "$learners" > /dev/null || fail "a run with learners of a plug-in does not replay"
"$rubato" compare "$work/own.toml" --plugin "$learners" --seeds 2 --quiet > /dev/null || fail "compare does not know the learners"
code=0
"$rubato" run "$work/own.toml" --quiet > /dev/null 2>&1 || code=$?
[ $code -eq 2 ] || fail "the experiment runs without [data]"

port=$((20000 + RANDOM % 10000))
for host in a b; do
  printf '[[roster]]\nname = "%s"\naddress = "other://127.0.0.1:%d"\n' $host $((port++))
  [ $host = a ] && echo 'clients = [0, 2]' || echo 'clients = [1, 3]'
done > "$work/roster"
cat "$work/own.toml" "$work/roster" > "$work/hosts.toml"
timeout 100 "$rubato" node "$work/hosts.toml" --host b --plugin "$learners" --quiet > /dev/null 2>&1 &
timeout 100 "$rubato" node "$work/hosts.toml" --host a --plugin "$learners" --quiet --json > "$work/together" 2> "$work/said" ||
  { cat "$work/said"; fail "the hosts do not meet over the plug-in's transport"; }
wait
[ "$(grep '"model_digest"' "$work/alone")" = "$(grep '"model_digest"' "$work/together")" ] || fail "hosts come to other models than one process"
code=0
"$rubato" node "$work/hosts.toml" --host a --quiet > /dev/null 2> "$work/said" || code=$?
[ $code -eq 2 ] || fail "the scheme is known without the plug-in"
