# The experiment file: text to values and back. toml++ is heavy and named in config_parse.cpp alone.
find_path(RUBATO_TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)

rubato_room(config
  SOURCES
    config.cpp
    config_bind.cpp
    config_check.cpp
    config_document.cpp
    config_keys.cpp
    config_override.cpp
    config_parse.cpp
    config_relations.cpp
    config_scan.cpp
    config_value.cpp
  DOORS rubato::runtime
)
target_include_directories(rubato_config SYSTEM PRIVATE ${RUBATO_TOMLPLUSPLUS_INCLUDE})
