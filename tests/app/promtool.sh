#!/bin/bash
# Whether promtool (package prometheus) finds no fault in what --serve shows at /metrics, at the beginning and in the middle of a run.
#
#   promtool.sh RUBATO EXPERIMENT
set -eu
rubato=$1 experiment=$2
command -v promtool > /dev/null || { echo "skipped: promtool is missing (package prometheus)"; exit 77; }
command -v curl > /dev/null || { echo "skipped: curl is missing"; exit 77; }
home=$(mktemp -d)
run=
end() {
  [ -z "$run" ] || kill "$run" 2> /dev/null || true
  rm -rf "$home"
}
trap end EXIT
: > "$home/said" # it is read before the command may have opened it
"$rubato" run "$experiment" --set until=1e7 --quiet --serve 0 > /dev/null 2> "$home/said" &
run=$!
url=
for _ in $(seq 100); do
  url=$(sed -n 's/.*shown at \(http:[^ #]*\).*/\1/p' "$home/said")
  [ -z "$url" ] || break
  sleep 0.1
done
[ -n "$url" ] || { echo "the command does not say where it shows the run"; cat "$home/said"; exit 1; }
for wait in 0 2; do
  sleep "$wait"
  curl -sS --fail "${url}metrics" > "$home/metrics"
  # The papers count bits; promtool would have bytes.
  faults=$(promtool check metrics < "$home/metrics" 2>&1 | grep -v '^rubato_paper_bits_total use base unit "bytes"' || true)
  [ -z "$faults" ] || { echo "$faults"; exit 1; }
done
grep -q '^rubato_messages_total{outcome="sent"} [1-9]' "$home/metrics"
grep -q '^rubato_staleness_seconds_count [1-9]' "$home/metrics"
echo "$(grep -c '^# TYPE' "$home/metrics") names, no fault"
