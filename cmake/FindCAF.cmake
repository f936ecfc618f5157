# Finds the C++ Actor Framework 0.17 as Debian's libcaf-dev installs it, which brings no CMake files of its own.
#
# Targets: CAF::core, and CAF::io when the component io is asked for and found. Variable: CAF_VERSION.

find_path(CAF_INCLUDE_DIR caf/all.hpp)
find_library(CAF_CORE_LIBRARY caf_core)
find_library(CAF_IO_LIBRARY caf_io)
mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY CAF_IO_LIBRARY)

if(CAF_INCLUDE_DIR)
  # #define CAF_VERSION 1706 means 0.17.6
  file(STRINGS "${CAF_INCLUDE_DIR}/caf/config.hpp" CAF_VERSION REGEX "^#define CAF_VERSION [0-9]+$")
  string(REGEX MATCH "[0-9]+$" CAF_VERSION "${CAF_VERSION}")
  if(CAF_VERSION)
    math(EXPR CAF_VERSION_MAJOR "${CAF_VERSION} / 10000")
    math(EXPR CAF_VERSION_MINOR "${CAF_VERSION} / 100 % 100")
    math(EXPR CAF_VERSION_PATCH "${CAF_VERSION} % 100")
    set(CAF_VERSION "${CAF_VERSION_MAJOR}.${CAF_VERSION_MINOR}.${CAF_VERSION_PATCH}")
  endif()
endif()
if(CAF_CORE_LIBRARY)
  set(CAF_core_FOUND TRUE)
endif()
if(CAF_IO_LIBRARY)
  set(CAF_io_FOUND TRUE)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CAF
  REQUIRED_VARS CAF_CORE_LIBRARY CAF_INCLUDE_DIR VERSION_VAR CAF_VERSION
  HANDLE_VERSION_RANGE HANDLE_COMPONENTS REASON_FAILURE_MESSAGE "Debian's package is libcaf-dev")

if(CAF_FOUND AND NOT TARGET CAF::core)
  find_package(Threads REQUIRED)
  add_library(CAF::core UNKNOWN IMPORTED)
  set_target_properties(CAF::core PROPERTIES
    IMPORTED_LOCATION "${CAF_CORE_LIBRARY}"
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}"
    INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
if(CAF_FOUND AND CAF_IO_LIBRARY AND NOT TARGET CAF::io)
  add_library(CAF::io UNKNOWN IMPORTED)
  set_target_properties(CAF::io PROPERTIES
    IMPORTED_LOCATION "${CAF_IO_LIBRARY}"
    INTERFACE_LINK_LIBRARIES CAF::core)
endif()
