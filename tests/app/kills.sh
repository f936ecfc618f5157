#!/bin/bash
# Kills a run with checkpoints at random moments and resumes it, and kills every second resume as well: each must leave
# what the uninterrupted run leaves. Usage: kills.sh RUBATO EXPERIMENT [KILLS [CHECKPOINT_EVERY [SEED]]]
set -u
rubato=$1 experiment=$2 kills=${3:-20} every=${4:-5} RANDOM=${5:-1}
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

run() { exec "$rubato" run "$experiment" --quiet --set "checkpoint_every=$every" --out "$1" > "$home/said" 2>&1; }
resume() { exec "$rubato" resume "$1" --quiet > "$home/said" 2>&1; }

# killed_after SECONDS COMMAND...: true if the kill came before the command was done.
killed_after() {
  local seconds=$1
  shift
  ("$@") &
  local process=$!
  sleep "$seconds"
  kill -9 $process 2> /dev/null
  wait $process 2> /dev/null
  [ $? -eq 137 ]
}

# A moment within the seconds that the whole run takes.
moment() { awk -v part=$RANDOM -v whole="$whole" 'BEGIN { printf "%.4f", part / 32768 * whole }'; }

newest() { ls "$1.partial/checkpoint" 2> /dev/null | sed -n 's/^checkpoint-\([0-9]*\)\.rbc$/\1/p' | sort -n | tail -1; }

began=$(date +%s.%N)
(run "$home/whole") || { cat "$home/said"; exit 1; }
whole=$(awk -v from="$began" -v to="$(date +%s.%N)" 'BEGIN { print to - from }')
digests() { grep -E '"(model|timeline)_digest"' "$1/summary.json"; }

same=0 writing=0 from_start=0
for ((kill = 1; kill <= kills; ++kill)); do
  out=$home/run
  # Before there is a folder there is nothing to resume, and after the end neither.
  until rm -rf "$out" "$out".*; at=$(moment); killed_after "$at" run "$out" && [ -e "$out.partial/experiment.toml" ]; do :; done
  story="killed at $at s, newest checkpoint $(newest "$out")"
  [ -e "$out.partial/checkpoint/checkpoint.partial" ] && { writing=$((writing + 1)); story+=", while writing one"; }
  if ((kill % 2 == 0)); then
    at=$(awk -v some="$(moment)" 'BEGIN { print some / 3 }')
    killed_after "$at" resume "$out" && story+="; the resumed one after $at s, newest $(newest "$out")"
    [ -e "$out.partial/checkpoint/checkpoint.partial" ] && { writing=$((writing + 1)); story+=", while writing one"; }
  fi
  (resume "$out")
  code=$?
  grep -q "starts from the beginning" "$home/said" && { from_start=$((from_start + 1)); story+="; from the beginning"; }
  verdict=same
  [ $code -eq 0 ] || verdict="ended with code $code"
  [ "$(digests "$out")" = "$(digests "$home/whole")" ] || verdict="other digests"
  for file in metrics.csv timeline.rbt clients.csv links.csv models/models.npy samples.npz; do
    cmp -s "$out/$file" "$home/whole/$file" || verdict="another $file"
  done
  [ "$verdict" = same ] && same=$((same + 1)) || cat "$home/said"
  echo "$kill: $story: $verdict"
done
echo "$same of $kills ended like the uninterrupted run; $writing kills while a checkpoint was written, $from_start from the beginning"
[ $same -eq "$kills" ]
