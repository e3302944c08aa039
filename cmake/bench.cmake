# Benchmarks and tools that are not part of the product. Benchmarks are always built: one that does not compile measures
# nothing.
file(GLOB scheduler_bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/scheduler/*.cc)
add_executable(scheduler_bench ${scheduler_bench_sources} src/main/programs/schedule.cc src/main/host/flags/schedule_files.cc src/main/host/flags/manifests.cc
               src/main/host/flags/schedule_flags.cc src/main/host/base/resource_use.cc src/cli/text/terminal_text.cc)
target_link_libraries(scheduler_bench PRIVATE scheduler apiserver admission rt api mimalloc)

file(GLOB scenario_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/scenarios/runner/*.cc)
add_executable(scenario_test ${scenario_sources} ${CMAKE_SOURCE_DIR}/src/scheduler/session/plain_twin_for_tests.cc)
target_include_directories(scenario_test PRIVATE ${CMAKE_SOURCE_DIR}/tests/scenarios/runner)
target_link_libraries(scenario_test PRIVATE scheduler)
add_test(NAME scenarios COMMAND scenario_test ${CMAKE_SOURCE_DIR}/tests/scenarios)
add_executable(agent_bench ${CMAKE_SOURCE_DIR}/bench/agent/main.cc)
target_link_libraries(agent_bench PRIVATE scheduler mimalloc)
file(GLOB apiserver_bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/apiserver/*.cc)
add_executable(apiserver_bench ${apiserver_bench_sources})
target_link_libraries(apiserver_bench PRIVATE apiserver admission client rt api mimalloc)

add_executable(policies_bench ${CMAKE_SOURCE_DIR}/bench/policies/main.cc)
target_link_libraries(policies_bench PRIVATE node api mimalloc)

add_executable(cluster_fill ${CMAKE_SOURCE_DIR}/bench/cluster/fill.cc)
target_link_libraries(cluster_fill PRIVATE client rt api mimalloc)

add_executable(kill_writers EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/kills/main.cc)
target_link_libraries(kill_writers PRIVATE client rt api)

# The plugin of docs/extending.md, beside the program's own.
add_executable(extending_test ${CMAKE_SOURCE_DIR}/tests/extending/node_price.cc ${CMAKE_SOURCE_DIR}/tests/extending/node_price_test.cc)
target_link_libraries(extending_test PRIVATE scheduler test_main)
add_test(NAME extending COMMAND extending_test WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
add_executable(training_bench ${CMAKE_SOURCE_DIR}/bench/training/main.cc)
target_link_libraries(training_bench PRIVATE sim controllers client mimalloc)

# What tests give the node agent for NVIDIA's library.
add_library(fake_nvml SHARED ${CMAKE_SOURCE_DIR}/tests/gpu/fake_nvml.cc)
set_target_properties(fake_nvml PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})

# What tests give the node agent for a driver of Dynamic Resource Allocation.
add_executable(fake_dra_driver ${CMAKE_SOURCE_DIR}/tests/dra/fake_driver.cc)
target_link_libraries(fake_dra_driver PRIVATE rt base)

# The functions of plugins one by one; clusters are written as in scenarios.
file(GLOB plugins_test_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/plugins/*.cc)
set(scenario_runner ${CMAKE_SOURCE_DIR}/tests/scenarios/runner)
add_executable(plugins_test ${plugins_test_sources} ${scenario_runner}/objects.cc ${scenario_runner}/device_objects.cc
               ${scenario_runner}/line.cc)
target_include_directories(plugins_test PRIVATE ${CMAKE_SOURCE_DIR}/tests/plugins ${CMAKE_SOURCE_DIR}/tests/scenarios/runner)
target_link_libraries(plugins_test PRIVATE scheduler test_main)
add_test(NAME plugins COMMAND plugins_test)

# What the differential test reads and writes protobuf with.
add_executable(protobuf_form EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tests/stock/differential/protobuf_form.cc)
target_link_libraries(protobuf_form PRIVATE api)
