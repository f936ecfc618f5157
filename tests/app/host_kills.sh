#!/bin/bash
# Runs three hosts in real time again and again, over tcp with CURVE, and kills one of them with SIGKILL: EARLY times at a
# random moment, after which it is started again, LATE times in the last 0.3 s of its run, where a kill that came when it was
# done counts for none. The records must replay each time.
# Usage: host_kills.sh RUBATO [EARLY [LATE [SEED [ALGORITHM]]]]
set -u
rubato=$1 early=${2:-3} late=${3:-3} RANDOM=${4:-1} algorithm=${5:-draco}
home=$(mktemp -d)
trap 'kill -9 $(jobs -p) 2> /dev/null; rm -rf "$home"' EXIT
hosts=(a b c)
address=127.$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1)).$((RANDOM % 250 + 1))

cat > "$home/run.toml" << EOF
seed = 3
clock = "wall"
time_scale = 20.0
until = 60.0
checkpoint_every = 5.0
[hosts]
wait = 60.0
lost_after = 3.0
[clients]
count = 6
compute = { law = "poisson", rate = 2.0 }
[topology]
kind = "ring"
[mailbox]
window = 0.05
$([ "$algorithm" = draco ] || echo "deadline = 2.0")
[algorithm]
name = "$algorithm"
eta = 0.1
[data]
name = "digits"
[model]
name = "softmax"
batch = 16
[metrics]
every_events = 0
every_seconds = 2.0
test_samples = 300
EOF
for i in 0 1 2; do
  "$rubato" keygen "${hosts[i]}" --out "$home" > /dev/null || exit 1
  printf '\n[[roster]]\nname = "%s"\naddress = "tcp://%s:%d"\npublic_key = "%s"\n' "${hosts[i]}" "$address" $((20100 + i)) \
    "$(head -c 40 "$home/${hosts[i]}.public")" >> "$home/run.toml"
done

declare -A process
start() {
  "$rubato" node "$home/run.toml" --host "$1" --out "$home/$1" --quiet --threads 1 > "$home/$1.said" 2>&1 &
  process[$1]=$!
}
start_all() {
  rm -rf "$home"/[abc] "$home"/[abc].partial
  for host in "${hosts[@]}"; do start "$host"; done
}
folder() { [ -e "$home/$1" ] && echo "$home/$1" || echo "$home/$1.partial"; }
# Until the host has recorded a step: from then on its run has begun.
await_beginning() {
  until [ "$(stat -c %s "$(folder "$1")/timeline.rbt" 2> /dev/null || echo 0)" -gt 200 ]; do
    kill -0 "${process[$1]}" 2> /dev/null || return 1
    sleep 0.01
  done
}
now() { date +%s.%N; }
# A moment between two numbers of seconds.
moment() { awk -v from="$1" -v to="$2" -v part=$RANDOM 'BEGIN { printf "%.3f", from + (to - from) * part / 32768 }'; }

# Seconds from the beginning of each host's run to its results.
declare -A lasts
start_all
for host in "${hosts[@]}"; do
  await_beginning "$host" || { cat "$home/$host.said"; exit 1; }
  lasts[$host]=$(now)
done
for host in "${hosts[@]}"; do
  until [ -e "$home/$host" ]; do
    kill -0 "${process[$host]}" 2> /dev/null || [ -e "$home/$host" ] || { cat "$home/$host.said"; exit 1; }
    sleep 0.01
  done
  lasts[$host]=$(awk -v from="${lasts[$host]}" -v to="$(now)" 'BEGIN { print to - from }')
done
wait

run=0 same=0 killed=0 killed_late=0
while ((run < early || (killed_late < late && run < early + 5 * late))); do
  run=$((run + 1))
  victim=${hosts[RANDOM % 3]}
  whole=${lasts[$victim]}
  ((run <= early)) && at=$(moment 0 "$whole") || at=$(moment "$(awk -v w="$whole" 'BEGIN { print w - 0.3 }')" "$whole")
  start_all
  await_beginning "$victim"
  sleep "$at"
  kill -9 "${process[$victim]}" 2> /dev/null
  wait "${process[$victim]}" 2> /dev/null
  story="$victim killed at $at of $whole s"
  if [ -e "$home/$victim" ]; then
    story+=", when it was done"
  else
    killed=$((killed + 1))
    ((run <= early)) || killed_late=$((killed_late + 1))
  fi
  # The others can be met again only while the run lasts.
  if ((run <= early)) && [ ! -e "$home/$victim" ] && awk -v at="$at" -v w="$whole" 'BEGIN { exit !(at < w - 1) }'; then
    start "$victim"
    story+=" and started again"
  fi
  wait
  verdict=replays
  "$rubato" replay "$(folder a)" "$(folder b)" "$(folder c)" > "$home/replayed" 2>&1 || verdict="does not replay"
  [ "$verdict" = replays ] && same=$((same + 1)) || { cat "$home/replayed" "$home"/?.said; cp -r "$home" "${TMPDIR:-/tmp}/host_kills.$run"; }
  echo "$run: $story: $verdict"
done
echo "$same of $run replay; $killed kills came before the host was done, $killed_late of these in the last 0.3 s"
[ $same -eq $run ] && ((late == 0 || killed_late > 0))
