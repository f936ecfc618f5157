# The installed package: find_package(rubato) gives one target a room, rubato::<room>.

include(CMakePackageConfigHelpers)
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/rubato")

# Which package brings a library that a room links; what a room links and is not listed here could not be found again by
# the consumer's project.
set(package_of_Boost Boost)
set(package_of_CAF CAF)
set(package_of_CLI11 CLI11)
set(package_of_DNNL dnnl)
set(package_of_Eigen3 "Eigen3 3.4")
set(package_of_LibLZMA LibLZMA)
set(package_of_OpenMP OpenMP)
set(package_of_Threads Threads)
set(package_of_ZLIB ZLIB)
set(package_of_cppzmq cppzmq)
set(package_of_fmt fmt)
set(package_of_nlohmann_json nlohmann_json)
set(package_of_tomlplusplus tomlplusplus)

get_property(rooms GLOBAL PROPERTY RUBATO_ROOMS)
set(packages "")
foreach(room IN LISTS rooms)
  get_target_property(doors rubato_${room} LINK_LIBRARIES)
  foreach(door IN LISTS doors)
    if(NOT door MATCHES "^([A-Za-z0-9_]+)::" OR CMAKE_MATCH_1 STREQUAL "rubato")
      continue()
    endif()
    set(family "${CMAKE_MATCH_1}")
    if(NOT DEFINED package_of_${family})
      message(FATAL_ERROR "room ${room} links ${door}; cmake/install.cmake does not know the package that brings it")
    endif()
    list(APPEND packages "${package_of_${family}}")
  endforeach()

  install(TARGETS rubato_${room} EXPORT rubato-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endforeach()

set(public_headers "${CMAKE_CURRENT_BINARY_DIR}/public_headers/rubato")
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" -D \"SOURCE=${PROJECT_SOURCE_DIR}\"
  -D \"DESTINATION=${public_headers}\" -P \"${PROJECT_SOURCE_DIR}/cmake/public_headers.cmake\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY "${public_headers}" DESTINATION include)

list(REMOVE_DUPLICATES packages)
list(TRANSFORM packages PREPEND "find_dependency(")
list(TRANSFORM packages APPEND ")")
list(JOIN packages "\n" RUBATO_DEPENDENCIES)
configure_package_config_file(cmake/rubato-config.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/rubato-config.cmake"
  INSTALL_DESTINATION "${package_folder}" NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/rubato-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(EXPORT rubato-targets NAMESPACE rubato:: DESTINATION "${package_folder}")
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/rubato-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/rubato-config-version.cmake"
  cmake/FindCAF.cmake cmake/Findcppzmq.cmake
  DESTINATION "${package_folder}")

if(TARGET rubato)
  install(TARGETS rubato RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(DIRECTORY examples/data DESTINATION share/rubato OPTIONAL)
install(DIRECTORY examples/ DESTINATION share/rubato/examples FILES_MATCHING
  PATTERN "*.toml" PATTERN "*.csv" PATTERN "*.npy" PATTERN "*.txt" PATTERN data EXCLUDE PATTERN expected_output.txt EXCLUDE PATTERN CMakeLists.txt EXCLUDE)
install(FILES LICENSE DESTINATION share/doc/rubato)
