// The end of an exchange, in a test.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rt/http/http.h"

namespace apiserver {

// Notes the answer.
class RecordingExchange final : public rt::HttpExchange {
 public:
  void respond(rt::HttpResponse response) override { status = response.status; }
  void start(int, rt::Headers) override {}
  void start_web_socket(rt::Headers with, Messages form, OnBytes reader) override {
    headers = std::move(with);
    messages = form;
    on_peer_bytes = std::move(reader);
  }
  void start_upgraded(rt::Headers, OnBytes) override {}
  void resume_reading() override { ++resumed; }
  void send(std::vector<Bytes> pieces) override {
    sent.emplace_back();
    for (const Bytes& piece : pieces) sent.back() += *piece;
  }
  void send_shared(std::shared_ptr<const rt::SharedChunk>) override {}
  void finish() override { finished = true; }
  void abandon() override {}
  std::size_t backlog_bytes() const override { return 0; }
  void on_drained(std::function<void()>) override {}
  void wait_until_drained() override {}
  void on_closed(std::function<void()> callback) override { closed = std::move(callback); }

  int status = 0;
  rt::Headers headers;  // of a WebSocket
  Messages messages = Messages::kText;
  OnBytes on_peer_bytes;  // what its peer sends goes there
  std::vector<std::string> sent;
  int resumed = 0;
  bool finished = false;
  std::function<void()> closed;
};

}  // namespace apiserver
