# fuzz_test runs every target for a short while in every build. With VOLCANO_FUZZ (Clang), fuzz_<target> is a libFuzzer program.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fuzz/*.cc)
list(FILTER fuzz_sources EXCLUDE REGEX "(libfuzzer|fuzz_test)\\.cc$")
add_library(fuzz STATIC ${fuzz_sources} ${CMAKE_SOURCE_DIR}/src/main/host/keys/credentials.cc
  ${CMAKE_SOURCE_DIR}/src/main/host/keys/key_files.cc)
target_include_directories(fuzz PUBLIC ${CMAKE_SOURCE_DIR}/fuzz)
target_link_libraries(fuzz PUBLIC sim apiserver node colocation pipelines rt api)
add_executable(fuzz_test ${CMAKE_SOURCE_DIR}/fuzz/fuzz_test.cc)
target_link_libraries(fuzz_test PRIVATE fuzz test_main)
add_test(NAME fuzz COMMAND fuzz_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
if(VOLCANO_FUZZ)
  set(fuzz_targets
    canary cbor cel colocation connection cron database definition devices discovery grpc http http2 http2_server image json keys patch patch_limits plugin_arguments plugins policies protobuf quantity
    route scheduler_config scheduler_objects selector sharding shell_words spdy termination workflow writes yaml)
  foreach(target ${fuzz_targets})
    add_executable(fuzz_${target} ${CMAKE_SOURCE_DIR}/fuzz/libfuzzer.cc)
    target_compile_definitions(fuzz_${target} PRIVATE FUZZ_TARGET="${target}")
    target_link_libraries(fuzz_${target} PRIVATE fuzz)
    target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer)
  endforeach()
endif()
