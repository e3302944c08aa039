# The program of src/pipelines/launcher: static, without a library, and inside the pipelines module as bytes (pipelines/launcher/program.cc).
set(launch ${CMAKE_BINARY_DIR}/launch)
set(launch_source ${CMAKE_SOURCE_DIR}/src/pipelines/launcher/launch.c)
set(launch_headers ${CMAKE_SOURCE_DIR}/src/pipelines/launcher/system_calls.inc ${CMAKE_SOURCE_DIR}/src/pipelines/launcher/send.inc
    ${CMAKE_SOURCE_DIR}/src/pipelines/launcher/result.inc ${CMAKE_SOURCE_DIR}/src/pipelines/launcher/keep.inc)
# No loop becomes a call of memset or memcpy, which are not there.
set(launch_loops -fno-tree-loop-distribute-patterns)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(launch_loops -fno-builtin)
endif()
add_custom_command(OUTPUT ${launch}
  COMMAND ${CMAKE_CXX_COMPILER} -x c -Os -static -nostdlib -nostartfiles -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables
          ${launch_loops} -fno-pie -no-pie -Wno-unused-command-line-argument -Wl,--build-id=none -s -Wall -Wextra -Werror
          ${launch_source} -o ${launch}
  DEPENDS ${launch_source} ${launch_headers} VERBATIM)
add_custom_target(launch_program DEPENDS ${launch})
add_dependencies(pipelines launch_program)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/pipelines/launcher/program.cc PROPERTIES
  OBJECT_DEPENDS ${launch} COMPILE_DEFINITIONS VOLCANO_LAUNCH_FILE="${launch}")
