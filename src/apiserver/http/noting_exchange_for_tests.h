// The end of an exchange, in a test.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "rt/http.h"

namespace apiserver {

// The answer is only noted.
class NotingExchange final : public rt::HttpExchange {
 public:
  void respond(rt::HttpResponse response) override { status = response.status; }
  void start(int, rt::Headers) override {}
  void start_web_socket(rt::Headers, OnBytes) override {}
  void start_upgraded(rt::Headers, OnBytes) override {}
  void resume_reading() override {}
  void send(std::vector<Bytes>) override {}
  void send_shared(std::shared_ptr<const rt::SharedChunk>) override {}
  void finish() override {}
  void abandon() override {}
  std::size_t backlog_bytes() const override { return 0; }
  void on_drained(std::function<void()>) override {}
  void wait_until_drained() override {}
  void on_closed(std::function<void()> callback) override { closed = std::move(callback); }

  int status = 0;
  std::function<void()> closed;
};

}  // namespace apiserver
