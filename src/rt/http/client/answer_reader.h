// The answer to one HTTP/1.1 request, read from bytes that come by another way than a socket of ours.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "rt/http/http.h"

namespace rt {

// One thread at a time. The sender is not trusted: what is held is bounded, but for bodies, which are handed on.
class AnswerReader {
 public:
  struct Callbacks {
    // Once, before the body. Only 101 of informational answers (1xx) is told; after it all that comes is body.
    std::function<void(int status, Headers headers)> on_head;
    std::function<void(std::string bytes)> on_body;
  };

  // `head`: the request was a HEAD, whose answer has no body.
  AnswerReader(bool head, Callbacks callbacks);
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  // kUnavailable: these bytes are not an answer. No more is read after it, or once is_done().
  base::Status read(std::string_view bytes);
  // The sender has ended. An error if the answer is not whole.
  base::Status end();
  // The answer is whole.
  bool is_done() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rt
