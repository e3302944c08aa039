# Benchmarks and tools that are not part of the product: built on request only.
file(GLOB scheduler_bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/scheduler/*.cc)
add_executable(scheduler_bench EXCLUDE_FROM_ALL ${scheduler_bench_sources} src/main/schedule.cc src/main/schedule_files.cc
               src/main/schedule_flags.cc src/main/resource_use.cc)
target_link_libraries(scheduler_bench PRIVATE scheduler rt api mimalloc)
