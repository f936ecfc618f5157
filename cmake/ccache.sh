#!/bin/sh
# Compiles with ccache: ccache.sh COMPILER ARGUMENT...
#
# A precompiled header that lies there already is removed before it is made again: ccache would take it for all that the
# new one is made of, and give back one of other headers.
output=
before=
for word; do
  if [ "$before" = -o ]; then output=$word; fi
  before=$word
done
case $output in
  *.gch) rm -f "$output" ;;
esac
CCACHE_SLOPPINESS=pch_defines,time_macros exec ccache "$@"  # what it must know of precompiled headers
