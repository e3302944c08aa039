// libnghttp2 behind the interface of http2_session.h.
#include "rt/http/client/http2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/letters.h"

namespace rt {

using base::Code;

namespace {

// How much the server may send before we have read it: of one answer, and of all together. Lists are long.
constexpr std::uint32_t kStreamWindowBytes = std::uint32_t{4} << 20;
constexpr std::int32_t kConnectionWindowBytes = std::int32_t{32} << 20;
constexpr std::size_t kOutputBytes = std::size_t{64} << 10;  // taken at a time, so that acknowledgements are counted

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

struct Stream {
  Http2Session::Callbacks callbacks;
  std::string body;  // of the request; read from `sent` on
  std::size_t sent = 0;
  int status = 0;
  Headers headers;
  std::size_t header_bytes = 0;
  bool head_reported = false;
  bool muted = false;  // nobody waits for it; kept until the library has closed the stream, since it reads the body
};

}  // namespace

struct Http2Session::State {
  nghttp2_session* session = nullptr;
  std::map<StreamId, std::unique_ptr<Stream>> streams;
  bool leaving = false;  // GOAWAY, or an error
  std::string flaw;      // why the session cannot go on

  ~State() { nghttp2_session_del(session); }

  Stream* find(StreamId id) {
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : found->second.get();
  }
  void end(StreamId id, End how, const std::string& why) {
    const auto found = streams.find(id);
    if (found == streams.end()) return;
    const std::unique_ptr<Stream> stream = std::move(found->second);
    streams.erase(found);
    if (!stream->muted && stream->callbacks.on_end) stream->callbacks.on_end(how, why);
  }

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* self);
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size,
                     void* self);
  static int on_unsent(nghttp2_session*, const nghttp2_frame* frame, int error, void* self);
  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t error, void* self);
  static ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags,
                           nghttp2_data_source* source, void*);
};

int Http2Session::State::on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                                   std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                                   std::uint8_t, void* self) {
  Stream* stream = static_cast<State*>(self)->find(frame->hd.stream_id);
  if (!stream) return 0;
  stream->header_bytes += name_size + value_size + 32;  // as HTTP/2 counts them
  if (stream->header_bytes > kAnswerHeaderBytesMax) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  if (stream->head_reported) return 0;  // trailers
  const std::string_view key = text_of(name, name_size);
  const std::string_view text = text_of(value, value_size);
  if (key == ":status")
    std::from_chars(text.data(), text.data() + text.size(), stream->status);
  else if (!key.starts_with(':'))
    stream->headers.emplace_back(key, text);
  return 0;
}

int Http2Session::State::on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  State& state = *static_cast<State*>(self);
  if (frame->hd.type == NGHTTP2_GOAWAY) state.leaving = true;
  if (frame->hd.type != NGHTTP2_HEADERS) return 0;
  Stream* stream = state.find(frame->hd.stream_id);
  if (!stream || stream->head_reported) return 0;
  if (stream->status >= 100 && stream->status < 200) {  // the answer proper follows
    stream->status = 0;
    stream->headers.clear();
    return 0;
  }
  stream->head_reported = true;
  if (!stream->muted && stream->callbacks.on_head)
    stream->callbacks.on_head(stream->status, std::exchange(stream->headers, {}));
  return 0;
}

int Http2Session::State::on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                                 std::size_t size, void* self) {
  Stream* stream = static_cast<State*>(self)->find(id);
  if (stream && !stream->muted && stream->callbacks.on_data) stream->callbacks.on_data(text_of(data, size));
  return 0;
}

// A request that waited for its turn when the server went away, or that nobody wants any more.
int Http2Session::State::on_unsent(nghttp2_session*, const nghttp2_frame* frame, int error, void* self) {
  if (frame->hd.type == NGHTTP2_HEADERS)
    static_cast<State*>(self)->end(frame->hd.stream_id, End::kRefused, nghttp2_strerror(error));
  return 0;
}

int Http2Session::State::on_close(nghttp2_session*, std::int32_t id, std::uint32_t error, void* self) {
  State& state = *static_cast<State*>(self);
  const Stream* stream = state.find(id);
  if (!stream) return 0;
  if (error == NGHTTP2_NO_ERROR && stream->head_reported)
    state.end(id, End::kDone, "");
  else if (error == NGHTTP2_REFUSED_STREAM && !stream->head_reported)
    state.end(id, End::kRefused, "the server refused the request");
  else if (stream->header_bytes > kAnswerHeaderBytesMax)
    state.end(id, End::kLost, base::format("the header of the answer has more than {} bytes", kAnswerHeaderBytesMax));
  else
    state.end(id, End::kLost, base::format("the server ended the request: {}", nghttp2_http2_strerror(error)));
  return 0;
}

ssize_t Http2Session::State::read_body(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size,
                                       std::uint32_t* flags, nghttp2_data_source* source, void*) {
  Stream& stream = *static_cast<Stream*>(source->ptr);
  const std::size_t part = std::min(size, stream.body.size() - stream.sent);
  std::copy_n(stream.body.data() + stream.sent, part, buffer);
  stream.sent += part;
  if (stream.sent == stream.body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(part);
}

Http2Session::Http2Session() : state_(std::make_unique<State>()) {
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, State::on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, State::on_frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, State::on_data);
  nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, State::on_unsent);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, State::on_close);
  CHECK(nghttp2_session_client_new(&state_->session, callbacks, state_.get()) == 0);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(kAnswerHeaderBytesMax)}};
  CHECK(nghttp2_submit_settings(state_->session, NGHTTP2_FLAG_NONE, settings, std::size(settings)) == 0);
  CHECK(nghttp2_session_set_local_window_size(state_->session, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes) == 0);
}
Http2Session::~Http2Session() = default;

base::Result<Http2Session::StreamId> Http2Session::start(const HttpRequest& request, const std::string& authority,
                                                         bool tls, Callbacks callbacks) {
  if (!takes_requests()) return base::make_error(Code::kUnavailable, "the connection takes no more requests");
  std::vector<std::pair<std::string, std::string>> fields = {{":method", request.method},
                                                             {":scheme", tls ? "https" : "http"},
                                                             {":authority", authority},
                                                             {":path", request.target}};
  for (const auto& [name, value] : request.headers) fields.emplace_back(base::lower(name), value);
  if (!request.body.empty()) fields.emplace_back("content-length", std::to_string(request.body.size()));
  std::vector<nghttp2_nv> pairs;
  for (auto& [name, value] : fields) {
    // A bearer token must not be learnt from how well it is compressed.
    const std::uint8_t flags = name == "authorization" ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
    pairs.push_back({reinterpret_cast<std::uint8_t*>(name.data()), reinterpret_cast<std::uint8_t*>(value.data()),
                     name.size(), value.size(), flags});
  }
  auto stream = std::make_unique<Stream>();
  stream->callbacks = std::move(callbacks);
  stream->body = request.body;
  nghttp2_data_provider body{};
  body.source.ptr = stream.get();
  body.read_callback = State::read_body;
  const std::int32_t id = nghttp2_submit_request(state_->session, nullptr, pairs.data(), pairs.size(),
                                                 request.body.empty() ? nullptr : &body, nullptr);
  if (id < 0) return base::make_error(Code::kUnavailable, nghttp2_strerror(id));
  state_->streams[id] = std::move(stream);
  return id;
}

void Http2Session::reset(StreamId stream) {
  const auto found = state_->streams.find(stream);
  if (found == state_->streams.end()) return;
  found->second->muted = true;
  nghttp2_submit_rst_stream(state_->session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

base::Status Http2Session::receive(std::string_view bytes) {
  const ssize_t used =
      nghttp2_session_mem_recv(state_->session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) state_->flaw = nghttp2_strerror(static_cast<int>(used));
  if (state_->flaw.empty() && is_over()) state_->flaw = "the session has ended";
  if (state_->flaw.empty()) return {};
  close(state_->flaw);
  return base::make_error(Code::kUnavailable, base::format("HTTP/2: {}", state_->flaw));
}

std::string Http2Session::take_output() {
  std::string out;
  while (out.size() < kOutputBytes) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(state_->session, &bytes);
    if (size <= 0) break;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
  return out;
}

void Http2Session::close(const std::string& why) {
  state_->leaving = true;
  while (!state_->streams.empty()) state_->end(state_->streams.begin()->first, End::kLost, why);
}

void Http2Session::ping() { nghttp2_submit_ping(state_->session, NGHTTP2_FLAG_NONE, nullptr); }

std::size_t Http2Session::open_count() const { return state_->streams.size(); }
std::size_t Http2Session::open_max() const {
  return nghttp2_session_get_remote_settings(state_->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}
bool Http2Session::is_over() const {
  return nghttp2_session_want_read(state_->session) == 0 && nghttp2_session_want_write(state_->session) == 0;
}
bool Http2Session::takes_requests() const {
  return !state_->leaving && nghttp2_session_check_request_allowed(state_->session) != 0;
}

}  // namespace rt
