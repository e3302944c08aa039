// Beast's parser, fed by hand.
#include "rt/http/client/answer_reader.h"

#include <boost/beast/http/parser.hpp>
#include <optional>
#include <utility>

#include "base/format.h"
#include "rt/http/client/http_client.h"
#include "rt/http/growing_body.h"
#include "rt/http/parser_bytes.h"

namespace rt {

namespace http = boost::beast::http;
using base::Code;
using base::make_error;

namespace {

constexpr int kSwitchingProtocols = 101;

}  // namespace

struct AnswerReader::State {
  State(bool is_head, Callbacks c) : head(is_head), callbacks(std::move(c)) {}

  const bool head;
  const Callbacks callbacks;
  std::string in = {};
  std::optional<http::response_parser<GrowingBody>> parser = {};
  bool head_reported = false;
  bool upgraded = false;
  bool done = false;
  bool has_left = false;

  void begin() {
    parser.emplace();
    parser->body_limit(boost::none);
    parser->header_limit(kAnswerHeaderBytesMax);
    parser->eager(true);
    if (head) parser->skip(true);
    has_left = false;
  }
  // 0: it has not come yet.
  int status() const { return parser->is_header_done() ? static_cast<int>(parser->get().result_int()) : 0; }
  // Tells what the parser has found since the last call.
  void report() {
    if (!parser->is_header_done()) return;
    const int status = this->status();
    if (status >= 100 && status < 200 && status != kSwitchingProtocols) {
      if (parser->is_done()) begin();  // the answer proper follows
      return;
    }
    if (!std::exchange(head_reported, true)) {
      Headers headers;
      for (const auto& field : parser->get())
        headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
      callbacks.on_head(status, std::move(headers));
    }
    upgraded = status == kSwitchingProtocols;
    std::string body = std::exchange(parser->get().body(), {});
    if (!body.empty()) callbacks.on_body(std::move(body));
    done = !upgraded && parser->is_done();
  }
};

AnswerReader::AnswerReader(bool head, Callbacks callbacks)
    : state_(std::make_unique<State>(head, std::move(callbacks))) {
  state_->begin();
}
AnswerReader::~AnswerReader() = default;

base::Status AnswerReader::read(std::string_view bytes) {
  State& state = *state_;
  state.in += bytes;
  while (!state.in.empty() && !state.done) {
    if (state.upgraded) {
      state.callbacks.on_body(std::exchange(state.in, {}));
      break;
    }
    if (state.has_left && !may_parse_again(*state.parser, state.in.size())) break;
    boost::system::error_code error;
    const std::size_t used = put_bytes(*state.parser, state.in, error);
    state.in.erase(0, used);
    state.has_left = !state.in.empty();
    if (error == http::error::need_more) error = {};
    if (error) return make_error(Code::kUnavailable, base::format("the answer is not HTTP: {}", error.message()));
    if (const int status = state.status(); status != 0 && (status < 100 || status > 599))
      return make_error(Code::kUnavailable, base::format("the answer is not HTTP: its status is {}", status));
    state.report();
    if (used == 0) break;
  }
  if (state.in.size() > kAnswerHeaderBytesMax)
    return make_error(Code::kUnavailable, base::format("the answer is not HTTP: more than {} bytes around its body",
                                                       kAnswerHeaderBytesMax));
  return {};
}

base::Status AnswerReader::end() {
  State& state = *state_;
  if (state.done || state.upgraded) return {};
  if (state.head_reported && state.parser->need_eof()) {
    state.done = true;
    return {};
  }
  return make_error(Code::kUnavailable, "the connection ended before the answer did");
}

bool AnswerReader::is_done() const { return state_->done; }

}  // namespace rt
