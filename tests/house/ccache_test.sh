#!/bin/bash
# Whether cmake/ccache.sh makes a precompiled header of the headers as they are, whatever it has made before.
#
#   ccache_test.sh SOURCE COMPILER
set -eu
source=$1 compiler=$2
command -v ccache > /dev/null || { echo "skipped: ccache is missing"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
unset "${!CCACHE_@}"
export CCACHE_DIR=$place/cache
# As CMake does it: a source without words, and the header given to the compiler.
echo '#include "other.hpp"' > all.hpp
touch all.hpp.cxx
echo 'int main() { return number; }' > program.cpp
make() {
  "$source/cmake/ccache.sh" "$compiler" -Winvalid-pch -x c++-header -include "$place/all.hpp" -o all.hpp.gch -c all.hpp.cxx
}
number_of() {
  printf '#pragma once\nconstexpr int number = %s;\n' "$1" > other.hpp
  touch -d '1 minute ago' other.hpp  # ccache keeps nothing of headers that have just been written
  make
  "$compiler" -Winvalid-pch -Werror -include "$place/all.hpp" program.cpp -o program
  local number=0
  ./program || number=$?
  echo "$number"
}
is_right() {
  local number
  number=$(number_of "$1")
  [ "$number" = "$1" ] || { echo "$2: the precompiled header says $number in place of $1"; exit 1; }
}
is_right 1 "at first"
cp all.hpp.gch first.gch
is_right 2 "after a change"
cp first.gch all.hpp.gch
is_right 3 "after another change of the first"
is_right 2 "once more"
ccache --print-stats | grep -Eq '^(direct|preprocessed)_cache_hit[[:space:]]+[1-9]' || { echo "nothing came from the cache"; exit 1; }
