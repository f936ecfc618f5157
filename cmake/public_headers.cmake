# The headers that a user of the library sees: those below, and what they include.
#
#   cmake -D SOURCE=tree -D DESTINATION=include/rubato -P cmake/public_headers.cmake
#
# copies them, a folder a room. In the tree they include each other as "runtime/time.hpp"; the copies say
# <rubato/runtime/time.hpp>, so that a user's search path needs nothing beside the folder that holds rubato/.
cmake_minimum_required(VERSION 3.25)
set(public_headers
  rubato/run.hpp
  actors/host_run.hpp
  actors/run.hpp
  algos/algorithm.hpp
  app/bindings.hpp
  app/plugin.hpp
  experiment/experiment.hpp
  learning/learner.hpp
  results/run_folder.hpp
  results/run_result.hpp
  results/summary.hpp
  transports/transport.hpp
)

file(REMOVE_RECURSE "${DESTINATION}")
set(seen ${public_headers})
while(public_headers)
  list(POP_FRONT public_headers header)
  file(READ "${SOURCE}/${header}" text)
  string(REGEX MATCHALL "#include \"[^\"]+\"" includes "${text}")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include \"(.*)\"" "\\1" included "${include}")
    if(NOT included IN_LIST seen)
      list(APPEND seen "${included}")
      list(APPEND public_headers "${included}")
    endif()
  endforeach()
  string(REGEX REPLACE "#include \"([^\"]+)\"" "#include <rubato/\\1>" text "${text}")
  string(REGEX REPLACE "^rubato/" "" place "${header}")  # the folder in the tree is the one that the others go to
  file(WRITE "${DESTINATION}/${place}" "${text}")
endwhile()
