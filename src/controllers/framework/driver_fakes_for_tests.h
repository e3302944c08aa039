// A loop, a clock and a server that are made up, for tests of the driver.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "client/watch/initial_events.h"
#include "controllers/framework/driver.h"
#include "rt/http/client/http_client.h"

namespace controllers::driver_fakes {

using api::Json;
namespace resources = api::resources;

class FakeLoop final : public rt::Loop {
 public:
  void post(rt::Task task) override { after({}, std::move(task)); }
  TimerId after(base::Duration delay, rt::Task task) override {
    timers_.push_back({now + std::max(delay, base::Duration{}), ++last_, std::move(task)});
    return last_;
  }
  void cancel(TimerId timer) override {
    std::erase_if(timers_, [timer](const Timer& one) { return one.id == timer; });
  }
  // Runs everything due until `until` from now.
  void run(base::Duration until) {
    const base::Time end = now + until;
    for (int steps = 0; steps < 100000; ++steps) {
      auto next = std::min_element(timers_.begin(), timers_.end(), [](const Timer& a, const Timer& b) {
        return a.due != b.due ? a.due < b.due : a.id < b.id;
      });
      if (next == timers_.end() || next->due > end) break;
      now = std::max(now, next->due);
      rt::Task task = std::move(next->task);
      timers_.erase(next);
      task();
    }
    now = end;
  }
  base::Time now{1'774'000'000'000'000'000};

 private:
  struct Timer {
    base::Time due;
    TimerId id;
    rt::Task task;
  };
  std::vector<Timer> timers_;
  TimerId last_ = 0;
};

// Answers what its host's name says: "204", "503"; "open" accepts connections; others never answer.
class FakeHttp final : public rt::HttpClient {
 public:
  FakeHttp(FakeLoop& loop, std::string host) : loop_(loop), host_(std::move(host)) {}
  void send(rt::HttpRequest, OnResponse on_response) override {
    if (host_ != "204" && host_ != "503") return;
    loop_.post([this, on_response] { on_response(rt::HttpResponse{.status = std::stoi(host_)}); });
  }
  std::unique_ptr<rt::HttpStream> stream(rt::HttpRequest, StreamCallbacks) override { return nullptr; }
  void connect(std::function<void(base::Status)> on_connected) override {
    if (host_ == "open") loop_.post([on_connected] { on_connected({}); });
  }

 private:
  FakeLoop& loop_;
  std::string host_;
};

class FakeEnv final : public rt::Env {
 public:
  base::Result<std::unique_ptr<rt::HttpClient>> http_client(rt::ClientOptions options) override {
    if (options.host == "nowhere") return base::make_error(base::Code::kInvalid, "no such host");
    return std::unique_ptr<rt::HttpClient>(std::make_unique<FakeHttp>(loop_, options.host));
  }
  base::Time now() const override { return loop_.now; }
  base::Duration uptime() const override { return {loop_.now.ns}; }
  base::Random& random() override { return random_; }
  FakeLoop& loop() override { return loop_; }
  void offload(rt::Task work, rt::Task done) override {
    work();
    loop_.post(std::move(done));
  }

 private:
  FakeLoop loop_;
  base::Random random_{1};
};

// Lists nothing, watches, and answers writes with what the test wants.
class FakeClient final : public client::Client {
 public:
  explicit FakeClient(FakeEnv& env) : env_(env) {}
  void call(client::Request request, OnResult on_result) override {
    env_.loop().post([this, request = std::move(request), on_result] {
      if (request.verb == client::Verb::kList) {
        on_result(Json::object({{"metadata", Json::object({{"resourceVersion", "1"}})}, {"items", Json::array()}}));
        return;
      }
      if (request.resource == resources::kEvents) {
        if (request.verb == client::Verb::kCreate) events.push_back(request.body["message"].str());
        return on_result(request.body);
      }
      calls.push_back(base::format("{} {}", request.resource.plural,
                                   request.name.empty() ? request.body["metadata"]["name"].str() : request.name));
      if (!answers.empty()) {
        const base::Code code = answers.front();
        answers.pop_front();
        if (code != base::Code::kMethodNotAllowed) return on_result(base::make_error(code, refusal));
      }
      if (on_write) on_write(request);
      Json body = request.body;
      body.edit("metadata").set("resourceVersion", std::to_string(++revision));
      on_result(body);
    });
  }
  std::function<void(const client::Request&)> on_write;
  std::unique_ptr<client::Watch> watch(client::WatchRequest request, OnEvent on_event, OnEnd) override {
    if (request.resource_version.empty())
      env_.loop().post([on_event] {
        on_event({client::EventType::kBookmark, client::make_bookmark("", "", 1, true)});
      });
    watches[request.resource.plural] = std::move(on_event);
    return std::make_unique<client::Watch>();
  }
  void show(const std::string& plural, Json object) { watches[plural]({client::EventType::kAdded, std::move(object)}); }

  std::vector<std::string> calls;
  std::vector<std::string> events;
  std::deque<base::Code> answers;  // kMethodNotAllowed: success
  std::string refusal = "because";
  std::map<std::string, OnEvent> watches;
  std::int64_t revision = 10;

 private:
  FakeEnv& env_;
};

}  // namespace controllers::driver_fakes
