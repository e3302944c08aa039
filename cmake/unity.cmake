# Several sources of a target are compiled as one where their names allow it (tools/unity_groups): a clean build then reads each header
# a few times instead of hundreds. Groups are found anew whenever CMake runs, as tools/build makes it do.
option(VOLCANO_UNITY "compile several sources of a target as one" OFF)

function(compile_in_groups)
  get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
  set(lines "")
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(NOT type MATCHES "STATIC_LIBRARY|EXECUTABLE")
      continue()
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)  # it asks whether it reads the main file
    # A group names its sources by their whole path, which must not get into programs: two clones make the same ones.
    target_compile_options(${target} PRIVATE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
    get_target_property(sources ${target} SOURCES)
    foreach(source ${sources})
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
      string(APPEND lines "${target} ${source}\n")
    endforeach()
  endforeach()
  file(WRITE ${CMAKE_BINARY_DIR}/unity_sources.txt "${lines}")
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/unity_groups INPUT_FILE ${CMAKE_BINARY_DIR}/unity_sources.txt OUTPUT_VARIABLE groups
                  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" groups "${groups}")
  foreach(line ${groups})
    string(REPLACE " " ";" line "${line}")
    list(GET line 0 group)
    list(GET line 1 path)
    set_source_files_properties(${CMAKE_SOURCE_DIR}/${path} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

if(VOLCANO_UNITY)
  compile_in_groups()
endif()
