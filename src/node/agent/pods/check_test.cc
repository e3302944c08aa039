// Checks of kind grpc against a server of health: the words are a kubelet's.
#include "node/agent/pods/check.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>

#include "api/json/yaml.h"
#include "base/await_for_tests.h"
#include "base/protobuf_wire.h"
#include "rt/grpc/grpc.h"

namespace node {
namespace {

class GrpcProbes : public testing::Test {
 protected:
  GrpcProbes() {
    server = std::move(*rt::start_grpc_server(
        io, {.address = "127.0.0.1"},
        [](const std::string& method, const std::string& request, const std::shared_ptr<rt::GrpcAnswer>& answer) {
          std::string service;
          base::WireReader reader(request);
          for (base::WireField field; reader.next(field);)
            if (field.number == 1) service = field.bytes;
          if (method != "/grpc.health.v1.Health/Check" || service == "none")
            return answer->finish({rt::GrpcCode::kUnimplemented, "unknown service"});
          if (service == "silent") return;
          if (service == "missing") return answer->finish({rt::GrpcCode::kNotFound, "unknown service"});
          base::WireWriter response;
          response.add(1, std::uint64_t{service.empty() ? 1U : service == "odd" ? 77U : 2U});
          answer->send(service == "rubbish" ? std::string("\x0a\x7f") : response.take());
          answer->finish({});
        }));
  }
  ~GrpcProbes() override { env->stop(); }

  CheckAnswer check(const std::string& handler) {
    std::promise<CheckAnswer> promise;
    std::shared_ptr<Check> running;
    env->loop().post([&] {
      CheckRequest wanted{*api::parse_yaml(handler), {}, "uid", "127.0.0.1", base::milliseconds(500)};
      running = begin_check({*env, nullptr, &io}, std::move(wanted),
                            [&](const CheckAnswer& answer) { promise.set_value(answer); });
    });
    CheckAnswer answer = base::await(promise);
    std::promise<void> gone;
    env->loop().post([&] {
      running.reset();
      gone.set_value();
    });
    base::await(gone);
    return answer;
  }
  CheckAnswer ask(const std::string& service) {
    return check("grpc: {port: " + std::to_string(server->port()) + ", service: '" + service + "'}");
  }

  std::unique_ptr<rt::RealEnv> env = rt::make_real_env("check-test");
  rt::GrpcIo io;
  std::unique_ptr<rt::GrpcServer> server;
};

TEST_F(GrpcProbes, ask_the_health_service) {
  EXPECT_EQ(ask("").answer, Answer::kSuccess);
  const struct {
    const char* service;
    const char* words;
  } rows[] = {
      {"ill", "service unhealthy (responded with \"NOT_SERVING\")"},
      {"odd", "service unhealthy (responded with \"77\")"},
      {"rubbish", "error: health rpc probe failed: the answer is malformed"},
      {"none",
       "error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown service"},
      {"missing", "error: health rpc probe failed: rpc error: code = NotFound desc = unknown service"},
      {"silent", "timeout: health rpc did not complete within 500ms"},
  };
  for (const auto& row : rows) {
    const CheckAnswer answer = ask(row.service);
    EXPECT_EQ(answer.answer, Answer::kFailure) << row.service;
    EXPECT_EQ(answer.text, row.words);
  }
}

// The sockets of the last few may still be open.
TEST_F(GrpcProbes, leave_no_descriptors_behind) {
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  EXPECT_EQ(ask("").answer, Answer::kSuccess);
  const auto before = descriptors();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(ask("").answer, Answer::kSuccess);
  EXPECT_LT(descriptors(), before + 50);
}

TEST_F(GrpcProbes, fail_where_nobody_listens) {
  const std::string port = std::to_string(server->port());
  server.reset();
  const CheckAnswer answer = check("grpc: {port: " + port + "}");
  EXPECT_EQ(answer.answer, Answer::kFailure);
  EXPECT_TRUE(
      answer.text.starts_with("error: health rpc probe failed: rpc error: code = Unavailable desc = cannot connect"))
      << answer.text;
  EXPECT_EQ(check("grpc: {port: 0}").answer, Answer::kUnknown);
}

}  // namespace
}  // namespace node
