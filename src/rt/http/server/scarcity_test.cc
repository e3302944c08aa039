// A process without threads or descriptors: what needs one more fails, and the process goes on.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <future>

#include "base/await_for_tests.h"
#include "rt/env.h"
#include "rt/grpc/grpc.h"
#include "rt/http/client/http_client.h"
#include "rt/no_threads_for_tests.h"

namespace rt {
namespace {

// Clang's check of virtual calls asks the system, through a pipe, whether an object can be read.
#if defined(__has_feature)
#if __has_feature(undefined_behavior_sanitizer)
constexpr bool kChecksNeedDescriptors = true;
#else
constexpr bool kChecksNeedDescriptors = false;
#endif
#else
constexpr bool kChecksNeedDescriptors = false;
#endif

class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

class Scarcity : public ::testing::Test {
 protected:
  ~Scarcity() override { env->stop(); }

  base::Result<std::unique_ptr<HttpClient>> client_of(const std::string& host) {
    ClientOptions options;
    options.host = host;
    options.port = 1;  // where nobody listens
    options.tls = false;
    return make_http_client(std::move(options), env->loop());
  }
  static std::string connect(HttpClient& client) {
    std::promise<std::string> got;
    client.connect(
        [&](const base::Status& status) { got.set_value(status.ok() ? std::string() : status.error().message); });
    return base::await(got);
  }

  std::unique_ptr<RealEnv> env = make_real_env("test");
};

TEST_F(Scarcity, a_client_without_descriptors_is_an_error) {
  if (kChecksNeedDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  base::Result<std::unique_ptr<HttpClient>> made = base::make_error(base::Code::kInternal, "");
  {
    const NoDescriptors none;
    made = client_of("127.0.0.1");
  }
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, base::Code::kUnavailable);
  EXPECT_TRUE(made.error().message.starts_with("127.0.0.1:1: no thread or descriptor is free")) << made.error().message;
}

TEST_F(Scarcity, a_client_without_a_thread_is_an_error) {
  const NoThreads none;
  const auto made = client_of("127.0.0.1");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, base::Code::kUnavailable);
}

TEST_F(Scarcity, a_connection_without_a_descriptor_is_an_error) {
  if (kChecksNeedDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  const auto client = client_of("127.0.0.1");
  ASSERT_TRUE(client.ok());
  const NoDescriptors none;
  EXPECT_EQ(connect(**client), "127.0.0.1:1: cannot connect: Too many open files");
}

TEST_F(Scarcity, a_name_is_not_resolved_without_a_thread) {
  const auto client = client_of("localhost");
  ASSERT_TRUE(client.ok());
  {
    const NoThreads none;
    const std::string why = connect(**client);
    EXPECT_TRUE(why.starts_with("localhost:1: cannot resolve the name: ")) << why;
  }
  const std::string later = connect(**client);
  EXPECT_TRUE(later.starts_with("localhost:1: cannot connect: ")) << later;
}

TEST_F(Scarcity, an_address_needs_no_thread_to_be_resolved) {
  const auto threads = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
  };
  for (const char* host : {"127.0.0.1", "::1"}) {
    const auto client = client_of(host);
    ASSERT_TRUE(client.ok());
    const auto before = threads();
    EXPECT_NE(connect(**client), "");
    EXPECT_EQ(threads(), before) << host;
  }
}

TEST_F(Scarcity, calls_of_grpc_without_a_thread_or_descriptors_are_an_error) {
  if (kChecksNeedDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  {
    const NoThreads none;
    EXPECT_EQ(make_grpc_io().error().code, base::Code::kUnavailable);
  }
  const NoDescriptors none;
  EXPECT_EQ(make_grpc_io().error().code, base::Code::kUnavailable);
}

TEST_F(Scarcity, the_pool_has_its_threads_from_the_start) {
  const NoThreads none;
  std::promise<void> done;
  env->offload([] {}, [&] { done.set_value(); });
  base::await(done);
}

TEST_F(Scarcity, an_environment_without_threads_does_not_start) {
  const NoThreads none;
  EXPECT_THROW(make_real_env("none"), std::system_error);
}

}  // namespace
}  // namespace rt
