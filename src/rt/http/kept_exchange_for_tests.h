// An exchange that keeps its answer.
#pragma once

#include <utility>
#include <vector>

#include "rt/http/http.h"

namespace rt {

// `answer` outlives it.
class KeptExchange final : public rt::HttpExchange {
 public:
  explicit KeptExchange(rt::HttpResponse& answer) : answer_(answer) {}
  void respond(rt::HttpResponse response) override { answer_ = std::move(response); }
  void start(int, rt::Headers) override {}
  void start_web_socket(rt::Headers, Messages, OnBytes) override {}
  void start_upgraded(rt::Headers, OnBytes) override {}
  void resume_reading() override {}
  void send(std::vector<Bytes>) override {}
  void send_shared(std::shared_ptr<const rt::SharedChunk>) override {}
  void finish() override {}
  void abandon() override {}
  std::size_t backlog_bytes() const override { return 0; }
  void on_drained(std::function<void()>) override {}
  void wait_until_drained() override {}
  void on_closed(std::function<void()>) override {}

 private:
  rt::HttpResponse& answer_;
};

}  // namespace rt
