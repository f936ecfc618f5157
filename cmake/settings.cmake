# What every target of ours is compiled with.
#
# rubato_settings   private: warnings, sanitizers, instruction set, strict floating point
# rubato_quick      private, behind rubato_settings: compiled quickly, because it computes little
# rubato_room(NAME DOORS...)  declares library rubato_NAME (alias rubato::NAME) whose link line is its list of doors
# rubato_together(TARGET [N])  compiles N of its files at a time, else sixteen, which saves more than half the time where they share headers
# rubato_precompile(TARGET HEADERS...)  reads the standard headers that most files need, and HEADERS, once for all
# rubato_reuse_precompiled(TARGET FROM) does so with the headers of FROM, which is compiled with the same flags

add_library(rubato_settings INTERFACE)
target_compile_options(rubato_settings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  -ffp-contract=off $<$<CONFIG:Release>:-O3>
  -Wno-maybe-uninitialized -Wno-restrict)  # false alarms of g++ 12: inside Eigen with AVX-512, on std::string +
if(RUBATO_WERROR)
  target_compile_options(rubato_settings INTERFACE -Werror)
endif()
if(RUBATO_NATIVE)
  target_compile_options(rubato_settings INTERFACE -march=native)
  target_compile_definitions(rubato_settings INTERFACE RUBATO_IS_NATIVE)
endif()
if(RUBATO_SANITIZE)
  target_compile_options(rubato_settings INTERFACE -fsanitize=${RUBATO_SANITIZE} -fno-omit-frame-pointer -g)
  target_link_options(rubato_settings INTERFACE -fsanitize=${RUBATO_SANITIZE})
endif()

add_library(rubato_quick INTERFACE)
target_compile_options(rubato_quick INTERFACE $<$<CONFIG:Release>:-O1>
  -Wno-uninitialized)  # g++ 12 sees some at -O1 in its own AVX-512 header

add_library(rubato_together_settings INTERFACE)
target_compile_options(rubato_together_settings INTERFACE -Wno-shadow -Wshadow=local)  # of the next file's globals

# Names in unnamed namespaces of such a target's files must differ.
function(rubato_together TARGET)
  list(APPEND ARGN 16)
  list(GET ARGN 0 files)
  set_target_properties(${TARGET} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  target_link_libraries(${TARGET} PRIVATE $<BUILD_INTERFACE:rubato_together_settings>)
endfunction()

# g++ 12 knows no longer which of its false alarms stem from precompiled system headers.
add_library(rubato_precompile_settings INTERFACE)
target_compile_options(rubato_precompile_settings INTERFACE
  -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)

function(rubato_precompile TARGET)
  target_link_libraries(${TARGET} PRIVATE $<BUILD_INTERFACE:rubato_precompile_settings>)
  target_precompile_headers(${TARGET} PRIVATE <algorithm> <array> <cmath> <filesystem> <functional> <map> <memory> <optional>
    <span> <sstream> <stdexcept> <string> <string_view> <utility> <variant> <vector> ${ARGN})
endfunction()

# The macros that the headers were read with are FROM's, so TARGET is given them too.
function(rubato_reuse_precompiled TARGET FROM)
  target_link_libraries(${TARGET} PRIVATE $<BUILD_INTERFACE:rubato_precompile_settings>)
  target_compile_definitions(${TARGET} PRIVATE $<TARGET_PROPERTY:${FROM},COMPILE_DEFINITIONS>)
  target_precompile_headers(${TARGET} REUSE_FROM ${FROM})
endfunction()

# Public headers are included as <rubato/room/file.hpp>, in this tree as in an installed one; cmake/public_headers.cmake
# lists them. <rubato/run.hpp> lies in the source tree under that name.
file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/include")
file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_BINARY_DIR}/include/rubato" SYMBOLIC)

function(rubato_room NAME)
  cmake_parse_arguments(ROOM "" "" "SOURCES;HEADERS;DOORS;PRIVATE_DOORS" ${ARGN})
  add_library(rubato_${NAME} STATIC ${ROOM_SOURCES})
  add_library(rubato::${NAME} ALIAS rubato_${NAME})
  set_target_properties(rubato_${NAME} PROPERTIES EXPORT_NAME ${NAME} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(rubato_${NAME} PUBLIC cxx_std_20)
  target_include_directories(rubato_${NAME} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:include>)
  target_link_libraries(rubato_${NAME} PUBLIC ${ROOM_DOORS})
  target_link_libraries(rubato_${NAME} PRIVATE $<BUILD_INTERFACE:rubato_settings> ${ROOM_PRIVATE_DOORS})
  set_property(GLOBAL APPEND PROPERTY RUBATO_ROOMS ${NAME})
endfunction()
