#!/bin/bash
# What a program sees that includes <rubato/run.hpp> of an installed tree: Rubato's public headers, Eigen and the standard
# library, and nothing of what Rubato is made with.
#
#   public_headers_test.sh SOURCE_TREE COMPILER EIGEN_FOLDER

set -eu
tree=$(cd "$1" && pwd -P) compiler=$2 eigen=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake -D SOURCE="$tree" -D DESTINATION="$work/include/rubato" -P "$tree/cmake/public_headers.cmake"
count=$(find "$work/include" -type f | wc -l)
[ "$count" -le 40 ] || { echo "$count headers are public; a user reads at most 40" >&2; exit 1; }
echo '#include <rubato/run.hpp>' > "$work/one_line.cpp"

# Names the headers of other libraries, and fails if there are any.
look() {
  "$compiler" -std=c++20 -E -I"$work/include" -isystem "$eigen" "$work/one_line.cpp" > "$work/seen"
  grep -qF "\"$work/include/rubato/actors/run.hpp\"" "$work/seen" || { echo "the program does not see run()"; return 2; }
  sed -n 's/^# [0-9]* "\(.*\)".*/\1/p' "$work/seen" | sort -u |
    grep -E '/(caf|nlohmann|boost|fmt|spdlog|CLI|toml\+\+|sodium|zmq|oneapi|Random123)(/|[a-z_.]*\.h)' && return 1
  return 0
}
look || { echo "a user's program sees another library" >&2; exit 1; }

echo '#include <nlohmann/json.hpp>' >> "$work/include/rubato/results/sample.hpp"
code=0
look > "$work/answer" || code=$?
{ [ $code -eq 1 ] && grep -q '/nlohmann/json.hpp$' "$work/answer"; } || { echo "a planted include is not found" >&2; exit 1; }
echo "$count public headers"
