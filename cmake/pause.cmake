# The program of src/node/pause: static, without a library, and inside the node module as bytes (node/os/runc/pause_program.cc).
set(pause ${CMAKE_BINARY_DIR}/pause)
set(pause_source ${CMAKE_SOURCE_DIR}/src/node/pause/pause.c)
add_custom_command(OUTPUT ${pause}
  COMMAND ${CMAKE_CXX_COMPILER} -x c -Os -static -nostdlib -nostartfiles -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables
          -fno-pie -no-pie -Wno-unused-command-line-argument -Wl,--build-id=none -s -Wall -Wextra -Werror ${pause_source} -o ${pause}
  DEPENDS ${pause_source} VERBATIM)
add_custom_target(pause_program DEPENDS ${pause})
add_dependencies(node pause_program)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/node/os/runc/pause_program.cc PROPERTIES
  OBJECT_DEPENDS ${pause} COMPILE_DEFINITIONS VOLCANO_PAUSE_FILE="${pause}")
