// An API server that listens, and a client of it, for tests of what goes over the wire.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "apiserver/http/server.h"
#include "base/await_for_tests.h"
#include "rt/http/client/http_client.h"
#include "rt/storage/kv.h"

namespace apiserver {

// The bytes of a stream, as they come.
struct Received {
  std::mutex mutex;
  std::condition_variable changed;
  std::string bytes, type;

  bool becomes(const std::string& expected) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(30), [&] { return bytes == expected; });
  }
};

struct Served {
  std::unique_ptr<rt::KvStore> kv = rt::make_memory_kv();
  std::unique_ptr<rt::RealEnv> env = rt::make_real_env("api"), asks = rt::make_real_env("asks");
  std::unique_ptr<store::Store> store = *store::Store::open(*env, *kv);
  std::unique_ptr<Api> api;
  std::unique_ptr<Server> server;
  std::unique_ptr<rt::HttpClient> http;

  explicit Served(ApiOptions options = {}) : api(std::make_unique<Api>(*env, *store, std::move(options))) {
    std::promise<void> begun;
    env->loop().post([&] { api->bootstrap([&](base::Status) { begun.set_value(); }); });
    base::await(begun);
    server = *start_server(*api, {.http = {}, .token = "secret", .version = "0"});
    http = *rt::make_http_client({.host = "127.0.0.1", .port = server->port(), .tls = false}, asks->loop());
  }
  ~Served() {
    http.reset();
    asks->stop();
    server.reset();
    env->stop();
  }

  rt::HttpResponse ask(std::string method, std::string path, rt::Headers headers, std::string body = "") {
    rt::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(path);
    request.headers = std::move(headers);
    request.headers.emplace_back("Authorization", "Bearer secret");
    request.body = std::move(body);
    std::promise<base::Result<rt::HttpResponse>> answered;
    http->send(std::move(request),
               [&](base::Result<rt::HttpResponse> answer) { answered.set_value(std::move(answer)); });
    auto answer = base::await(answered);
    EXPECT_TRUE(answer.ok());
    return answer.ok() ? *std::move(answer) : rt::HttpResponse();
  }
  // A stream that is heard until what is returned goes.
  auto watch(std::string path, std::string accept, Received& received) {
    rt::HttpRequest request;
    request.method = "GET";
    request.target = std::move(path);
    request.headers = {{"Authorization", "Bearer secret"}, {"Accept", std::move(accept)}};
    return http->stream(request, {.on_start =
                                      [&](int, const rt::Headers& headers) {
                                        const std::lock_guard lock(received.mutex);
                                        received.type = rt::header(headers, "Content-Type");
                                      },
                                  .on_data =
                                      [&](std::string_view bytes) {
                                        const std::lock_guard lock(received.mutex);
                                        received.bytes += bytes;
                                        received.changed.notify_all();
                                      },
                                  .on_end = [](base::Status) {}});
  }
};

}  // namespace apiserver
