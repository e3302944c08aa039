// Waiting for a value in a test: bounded, so that a value that never comes ends the program with the test's name.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>

namespace base {

// Longer than any of them takes on a busy machine, sanitizers included.
inline constexpr std::chrono::seconds kAwaitMax{120};

template <class T>
T await(std::future<T> future) {
  if (future.wait_for(kAwaitMax) != std::future_status::ready) {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    std::fprintf(stderr, "%s.%s: nothing came in %d s\n", test ? test->test_suite_name() : "",
                 test ? test->name() : "outside of a test", static_cast<int>(kAwaitMax.count()));
    std::abort();
  }
  return future.get();
}
template <class T>
T await(std::promise<T>& promise) {
  return await(promise.get_future());
}

}  // namespace base
