#!/bin/bash
# Fuzzes what comes from others: run.sh SOURCE_DIRECTORY BUILD_DIRECTORY SECONDS [NAME...], so long for each program: frame,
# connection, record, checkpoint, experiment, golden.
#
# The inputs it grows lie in BUILD_DIRECTORY/fuzz and are used again. A finding ends it with exit code 1 and leaves the
# input there; feed it to the program again to see what happened.

set -eu
source=$1
folder=$2/fuzz
seconds=$3
shift 3
cd "$folder"
rm -rf scratch-*
trap 'rm -rf "$folder"/scratch-*' EXIT
./fuzz_seeds seeds
mkdir -p seeds/experiment seeds/golden
for kind in "experiment examples toml" "golden tests/golden json"; do
  read -r name from ending <<< "$kind"
  (cd "$source" && find "$from" -name "*.$ending" -size -8k -exec cp --parents -t "$folder/seeds/$name" {} +)
done
if [ $# -eq 0 ]; then
  set -- frame connection record checkpoint experiment
  [ ! -x golden_fuzz ] || set -- "$@" golden
fi
for name in "$@"; do
  mkdir -p "corpus/$name"
  # Golden cases compute, and may ask for much; the others have as many bytes and seconds as their inputs need.
  bounds=(-max_len=30000 -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=16)
  [ "$name" != golden ] || bounds=(-max_len=8192 -timeout=60 -rss_limit_mb=4096 -malloc_limit_mb=1024)
  echo "fuzzing: $name, $seconds seconds"
  if ! "./${name}_fuzz" -max_total_time="$seconds" -use_value_profile=1 "${bounds[@]}" \
    -print_final_stats=1 -artifact_prefix="finding-$name-" "corpus/$name" "seeds/$name" \
    > "$name.log" 2>&1; then
    tail -n 60 "$name.log"
    echo "run.sh: a finding; its input is in $folder" >&2
    exit 1
  fi
  grep -E '^(Done|stat::(number_of_executed_units|peak_rss_mb))' "$name.log"
done
