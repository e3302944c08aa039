// A connection whose answers are written down beforehand, and an environment that makes it.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/fake_env_for_tests.h"
#include "rt/http/client/http_client.h"

namespace client::testing {

struct ScriptedHttp : rt::HttpClient {
  explicit ScriptedHttp(rt::Env& made_by) : env(made_by) {}

  rt::Env& env;
  std::deque<std::pair<rt::HttpResponse, bool>> answers;  // each with whether it came to the second sending
  std::vector<std::string> asked;                         // the method, and a star where it may be repeated
  std::vector<double> asked_at;                           // seconds
  std::vector<StreamCallbacks> streams;
  std::vector<std::string> streams_asked;  // their targets
  bool holds = false;                      // answers wait for answer_one()
  std::deque<OnResponse> held;

  void answer_one() {
    const OnResponse next = std::move(held.front());
    held.pop_front();
    next(answers.front().first);
  }

  void send(rt::HttpRequest request, OnResponse on_response) override {
    asked.push_back(request.method + (request.may_repeat ? "*" : ""));
    asked_at.push_back(env.uptime().seconds());
    if (holds) return held.push_back(std::move(on_response));
    auto [response, repeated] = answers.front();
    if (answers.size() > 1) answers.pop_front();  // the last one is given for ever
    response.repeated = repeated;
    on_response(std::move(response));
  }
  std::unique_ptr<rt::HttpStream> stream(rt::HttpRequest request, StreamCallbacks callbacks) override {
    streams_asked.push_back(request.target);
    streams.push_back(std::move(callbacks));
    return std::make_unique<rt::HttpStream>();
  }
  void connect(std::function<void(base::Status)> on_connected) override { on_connected({}); }
};

struct ScriptedEnv : FakeEnv {
  ScriptedHttp* http = nullptr;

  base::Result<std::unique_ptr<rt::HttpClient>> http_client(rt::ClientOptions) override {
    auto made = std::make_unique<ScriptedHttp>(*this);
    http = made.get();
    return std::unique_ptr<rt::HttpClient>(std::move(made));
  }
};

}  // namespace client::testing
