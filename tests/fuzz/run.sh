#!/bin/bash
# Fuzzes what arrives from the network: run.sh BUILD_DIRECTORY SECONDS, half of them for each program.
#
# The inputs it grows lie in BUILD_DIRECTORY/fuzz and are used again. A finding ends it with exit code 1 and leaves the
# input there; feed it to the program again to see what happened.

set -eu
folder=$1/fuzz
seconds=$2
cd "$folder"
./fuzz_seeds seeds
for name in frame connection; do
  mkdir -p "corpus/$name"
  echo "fuzzing: $name, $((seconds / 2)) seconds"
  if ! "./${name}_fuzz" -max_total_time=$((seconds / 2)) -max_len=30000 -use_value_profile=1 -timeout=10 -rss_limit_mb=1024 \
    -malloc_limit_mb=16 -print_final_stats=1 -artifact_prefix="finding-$name-" "corpus/$name" "seeds/$name" \
    > "$name.log" 2>&1; then
    tail -n 60 "$name.log"
    echo "run.sh: a finding; its input is in $folder" >&2
    exit 1
  fi
  grep -E '^(Done|stat::(number_of_executed_units|peak_rss_mb))' "$name.log"
done
