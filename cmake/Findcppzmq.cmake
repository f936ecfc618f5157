# Finds ZeroMQ with its C++ header as Debian's libzmq3-dev and cppzmq-dev install them.
#
# Target: cppzmq::cppzmq. Variable: cppzmq_VERSION, of libzmq.

find_path(cppzmq_INCLUDE_DIR zmq.hpp)
find_library(cppzmq_LIBRARY zmq)
mark_as_advanced(cppzmq_INCLUDE_DIR cppzmq_LIBRARY)

if(cppzmq_INCLUDE_DIR AND EXISTS "${cppzmq_INCLUDE_DIR}/zmq.h")
  set(cppzmq_VERSION "")
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS "${cppzmq_INCLUDE_DIR}/zmq.h" line REGEX "^#define ZMQ_VERSION_${part} [0-9]+$")
    string(REGEX MATCH "[0-9]+$" number "${line}")
    list(APPEND cppzmq_VERSION "${number}")
  endforeach()
  list(JOIN cppzmq_VERSION "." cppzmq_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(cppzmq
  REQUIRED_VARS cppzmq_LIBRARY cppzmq_INCLUDE_DIR VERSION_VAR cppzmq_VERSION
  REASON_FAILURE_MESSAGE "Debian's packages are libzmq3-dev and cppzmq-dev")

if(cppzmq_FOUND AND NOT TARGET cppzmq::cppzmq)
  add_library(cppzmq::cppzmq UNKNOWN IMPORTED)
  set_target_properties(cppzmq::cppzmq PROPERTIES
    IMPORTED_LOCATION "${cppzmq_LIBRARY}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${cppzmq_INCLUDE_DIR}"
    INTERFACE_INCLUDE_DIRECTORIES "${cppzmq_INCLUDE_DIR}")
endif()
