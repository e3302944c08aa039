// The container whose log is meant, the reason why there is none, and the remains of a log that was read.
#include "apiserver/http/pods/pod_log.h"

#include <gtest/gtest.h>

#include <thread>

#include "api/json/yaml.h"
#include "apiserver/http/served_for_tests.h"
#include "rt/tls/tls.h"

namespace apiserver {
namespace {

TEST(PodLog, why_there_is_none_is_said_as_a_kubelet_says_it) {
  const std::pair<const char*, const char*> rows[] = {
      {"{}", R"(container "c" in pod "p" is not available)"},
      {"{containerStatuses: [{name: c}]}", R"(container "c" in pod "p" is waiting to start - no logs yet)"},
      {"{containerStatuses: [{name: c, state: {waiting: {reason: ErrImagePull}}}]}",
       R"(container "c" in pod "p" is waiting to start: image can't be pulled)"},
      {"{containerStatuses: [{name: c, state: {waiting: {reason: ImagePullBackOff}}}]}",
       R"(container "c" in pod "p" is waiting to start: trying and failing to pull image)"},
      {"{initContainerStatuses: [{name: c, state: {waiting: {reason: PodInitializing}}}]}",
       R"(container "c" in pod "p" is waiting to start: PodInitializing)"},
      {"{ephemeralContainerStatuses: [{name: c, state: {waiting: {reason: ContainerCreating}}}]}",
       R"(container "c" in pod "p" is waiting to start: ContainerCreating)"},
      {"{containerStatuses: [{name: c, state: {running: {}}}]}", ""},
      {"{containerStatuses: [{name: c, state: {terminated: {reason: StartError}}}]}", ""},
      {"{containerStatuses: [{name: c, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {}}}]}",
       ""},
  };
  for (const auto& [status, why] : rows) {
    const auto pod = api::parse_yaml(std::string("{metadata: {name: p}, status: ") + status + "}");
    ASSERT_TRUE(pod.ok()) << status;
    EXPECT_EQ(why_no_log(*pod, "c"), why) << status;
  }
}

TEST(PodLog, a_container_has_to_be_named_where_there_are_several) {
  const auto pod =
      api::parse_yaml("{metadata: {name: p}, spec: {initContainers: [{name: i}], containers: [{name: a}, {name: b}]}}");
  EXPECT_EQ(choose_container(*pod, "").error().message,
            "a container name must be specified for pod p, choose one of: [a b] or one of the init containers: [i]");
  EXPECT_EQ(*choose_container(*pod, "i"), "i");
  EXPECT_EQ(choose_container(*pod, "x").error().message, "container x is not valid for pod p");
}

// A source of logs that says one word. It counts the streams that somebody still holds.
class Words final : public api::PodLogs {
 public:
  enum class Then { kEnds, kRefuses, kFollows };
  ~Words() override {
    for (std::thread& one : threads_) one.join();
  }
  std::shared_ptr<api::PodLogStream> open(std::string, std::string, std::string, api::PodLogOptions,
                                          std::function<void(std::string)> on_data,
                                          std::function<void(base::Status)> on_end) override {
    auto stream = std::make_shared<Stream>(*this);
    if (then == Then::kRefuses) {
      on_end(base::make_error(base::Code::kTooManyRequests, "so many logs are being read"));
      return stream;
    }
    if (then == Then::kFollows) stream->on_end = on_end;
    threads_.emplace_back([on_data = std::move(on_data), on_end = std::move(on_end), ends = then == Then::kEnds] {
      on_data("word");
      if (ends) on_end({});
    });
    return stream;
  }
  bool nothing_stays() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [this] { return open_ == 0; });
  }

  std::atomic<Then> then = Then::kEnds;

 private:
  struct Stream final : api::PodLogStream {
    explicit Stream(Words& o) : of(o) { of.count(1); }
    ~Stream() override { of.count(-1); }
    Words& of;
    std::function<void(base::Status)> on_end;
  };
  void count(int more) {
    const std::lock_guard lock(mutex_);
    open_ += more;
    changed_.notify_all();
  }

  std::vector<std::thread> threads_;  // the API's loop
  std::mutex mutex_;
  std::condition_variable changed_;
  int open_ = 0;
};

// A remainder of an answer would keep its connection, of which a server has so many.
TEST(PodLog, nothing_stays_of_an_answer_that_is_over) {
  const auto env = rt::make_real_env("keys");
  const rt::KeyPair ca = *rt::make_ca("test-ca", env->now(), base::hours(1));
  const rt::KeyPair key = *rt::issue_certificate(
      ca, {.common_name = "server", .ip_addresses = {"127.0.0.1"}, .server = true}, env->now(), base::hours(1));
  const std::string pods = "/api/v1/namespaces/default/pods", log = pods + "/p/log";
  for (const bool http2 : {false, true}) {
    Words words;
    Served served({.pod_logs = &words});
    rt::ServerOptions with_keys;
    with_keys.tls = rt::ServerKeys{key.certificate_pem, key.key_pem, ca.certificate_pem};
    served.server = *start_server(*served.api, {.http = with_keys, .token = "secret", .version = "0"});
    rt::ClientOptions to{.host = "127.0.0.1", .port = served.server->port(), .ca_pem = ca.certificate_pem};
    to.offer_http2 = http2;
    served.http = *rt::make_http_client(to, served.asks->loop());
    ASSERT_EQ(served
                  .ask("POST", pods, {{"Content-Type", "application/json"}}, R"({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}})")
                  .status,
              201);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(served.ask("GET", log, {}).body, "word");
    EXPECT_TRUE(words.nothing_stays()) << "ended, " << http2;
    words.then = Words::Then::kRefuses;
    for (int i = 0; i < 20; ++i) EXPECT_EQ(served.ask("GET", log, {}).status, 429);
    EXPECT_TRUE(words.nothing_stays()) << "refused, " << http2;
    words.then = Words::Then::kFollows;
    for (int i = 0; i < 20; ++i) {
      Received received;
      const auto stream = served.watch(log + "?follow=true", "*/*", received);
      EXPECT_TRUE(received.becomes("word"));
    }
    EXPECT_TRUE(words.nothing_stays()) << "left, " << http2;
  }
}

}  // namespace
}  // namespace apiserver
