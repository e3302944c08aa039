# The program of src/pipelines/stage: static, with musl and Debian's mbedTLS, and inside the pipelines module as bytes (pipelines/stage/program.cc).
# Without them it is empty, and runs whose artifacts lie in S3-compatible stores are refused with a sentence.
set(stage ${CMAKE_BINARY_DIR}/stage)
set(stage_sources fortified.c http.c sign.c stage.c transfer.c)
list(TRANSFORM stage_sources PREPEND ${CMAKE_SOURCE_DIR}/src/pipelines/stage/)
set(stage_headers http.inc sign.inc transfer.inc)
list(TRANSFORM stage_headers PREPEND ${CMAKE_SOURCE_DIR}/src/pipelines/stage/)
find_program(MUSL_COMPILER musl-gcc)
find_path(MBEDTLS_HEADERS mbedtls/ssl.h)
find_library(MBEDTLS_TLS libmbedtls.a)
find_library(MBEDTLS_X509 libmbedx509.a)
find_library(MBEDTLS_CRYPTO libmbedcrypto.a)
if(MUSL_COMPILER AND MBEDTLS_HEADERS AND MBEDTLS_TLS AND MBEDTLS_X509 AND MBEDTLS_CRYPTO)
  add_custom_command(OUTPUT ${stage}
    COMMAND ${MUSL_COMPILER} -x c -std=gnu11 -D_GNU_SOURCE -Os -static -ffunction-sections -fdata-sections -Wl,--gc-sections -Wl,--build-id=none -s
            -Wall -Wextra -Werror -Wno-format-truncation -idirafter ${MBEDTLS_HEADERS} ${stage_sources}
            -x none -Wl,--start-group ${MBEDTLS_TLS} ${MBEDTLS_X509} ${MBEDTLS_CRYPTO} -Wl,--end-group -o ${stage}
    DEPENDS ${stage_sources} ${stage_headers} VERBATIM)
else()
  message(STATUS "musl-tools or libmbedtls-dev is missing: pipelines keep artifacts in volumes only")
  add_custom_command(OUTPUT ${stage} COMMAND ${CMAKE_COMMAND} -E touch ${stage} VERBATIM)
endif()
add_custom_target(stage_program DEPENDS ${stage})
add_dependencies(pipelines stage_program)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/pipelines/stage/program.cc PROPERTIES
  OBJECT_DEPENDS ${stage} COMPILE_DEFINITIONS VOLCANO_STAGE_FILE="${stage}")
