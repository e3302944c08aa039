// One call over libnghttp2.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "rt/grpc/grpc_session.h"

namespace rt {

namespace {

constexpr std::size_t kOutputBytes = std::size_t{64} << 10;
constexpr std::size_t kStatusTextMax = 4096;

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size() && out.size() < kStatusTextMax; ++i) {
    unsigned byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The meaning of an answer without a status of gRPC's.
GrpcStatus from_http(int status) {
  const std::string text = base::format("unexpected HTTP status code received from server: {}", status);
  switch (status) {
    case 400: return {GrpcCode::kInternal, text};
    case 401: return {GrpcCode::kUnauthenticated, text};
    case 403: return {GrpcCode::kPermissionDenied, text};
    case 404: return {GrpcCode::kUnimplemented, text};
    case 429:
    case 502:
    case 503:
    case 504: return {GrpcCode::kUnavailable, text};
    default: return {GrpcCode::kUnknown, text};
  }
}

}  // namespace

struct GrpcClientSession::State {
  Call call;
  nghttp2_session* session = nullptr;
  std::string body;  // of the request; read from `sent` on
  std::size_t sent = 0;
  GrpcFrames frames;
  int http_status = 0;
  int grpc_status = -1;
  std::string grpc_message;
  std::size_t header_bytes = 0;
  int messages = 0;
  bool over = false;

  explicit State(Call c) : call(std::move(c)), body(grpc_frame(call.request)), frames(call.message_bytes_max) {}
  ~State() { nghttp2_session_del(session); }

  void end(GrpcStatus status) {
    if (std::exchange(over, true)) return;
    status.message.resize(std::min(status.message.size(), kStatusTextMax));
    if (call.on_end) call.on_end(std::move(status));
  }
  void end_by_peer(std::uint32_t error) {
    if (grpc_status > 0 || (grpc_status == 0 && !frames.is_midway()))
      return end({static_cast<GrpcCode>(grpc_status), percent_decoded(grpc_message)});
    if (http_status != 0 && http_status != 200) return end(from_http(http_status));
    if (error != NGHTTP2_NO_ERROR)
      return end({error == NGHTTP2_REFUSED_STREAM ? GrpcCode::kUnavailable
                  : error == NGHTTP2_CANCEL       ? GrpcCode::kCancelled
                                                  : GrpcCode::kInternal,
                  base::format("the server ended the call: {}", nghttp2_http2_strerror(error))});
    end({GrpcCode::kInternal,
         grpc_status == 0 ? "the answer ends within a message" : "server closed the stream without sending trailers"});
  }

  bool may_have_another(nghttp2_session* session, std::int32_t id) {
    if (call.messages_max == 0 || messages++ < call.messages_max) return true;
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    end({GrpcCode::kInternal, base::format("the server sends more than {} message", call.messages_max)});
    return false;
  }

  static int on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* self) {
    State& state = *static_cast<State*>(self);
    state.header_bytes += name_size + value_size + 32;
    if (state.header_bytes > kGrpcHeaderBytesMax) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const std::string_view key = text_of(name, name_size), text = text_of(value, value_size);
    if (key == ":status") std::from_chars(text.data(), text.data() + text.size(), state.http_status);
    if (key == "grpc-status") {
      int code = -1;
      std::from_chars(text.data(), text.data() + text.size(), code);
      state.grpc_status = code < 0 || code > 1000 ? static_cast<int>(GrpcCode::kUnknown) : code;
    }
    if (key == "grpc-message") state.grpc_message = text;
    return 0;
  }
  static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t size, void* self) {
    State& state = *static_cast<State*>(self);
    if (state.over) return 0;
    std::vector<std::string> messages;
    const base::Status read = state.frames.receive(text_of(data, size), messages);
    for (std::string& message : messages) {
      if (state.over || !state.may_have_another(session, id)) return 0;
      state.call.on_message(std::move(message));
    }
    if (read.ok()) return 0;
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    state.end({read.error().code == base::Code::kTooLarge ? GrpcCode::kResourceExhausted : GrpcCode::kInternal,
               "the server sends " + read.error().message});
    return 0;
  }
  static int on_close(nghttp2_session* session, std::int32_t, std::uint32_t error, void* self) {
    static_cast<State*>(self)->end_by_peer(error);
    nghttp2_session_terminate_session(session, NGHTTP2_NO_ERROR);
    return 0;
  }
  static ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags,
                           nghttp2_data_source* source, void*) {
    State& state = *static_cast<State*>(source->ptr);
    const std::size_t part = std::min(size, state.body.size() - state.sent);
    std::copy_n(state.body.data() + state.sent, part, buffer);
    state.sent += part;
    if (state.sent == state.body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(part);
  }
};

GrpcClientSession::GrpcClientSession(Call call) : state_(std::make_unique<State>(std::move(call))) {
  State& state = *state_;
  nghttp2_session_callbacks* callbacks = nullptr;
  CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, State::on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, State::on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, State::on_close);
  CHECK(nghttp2_session_client_new(&state.session, callbacks, &state) == 0);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(kGrpcHeaderBytesMax)}};
  CHECK(nghttp2_submit_settings(state.session, NGHTTP2_FLAG_NONE, settings, std::size(settings)) == 0);
  std::vector<std::pair<std::string, std::string>> fields = {{":method", "POST"},
                                                             {":scheme", "http"},
                                                             {":path", state.call.method},
                                                             {":authority", state.call.authority},
                                                             {"te", "trailers"},
                                                             {"content-type", "application/grpc"},
                                                             {"user-agent", "kube-probe/1.36"}};
  if (state.call.timeout_ms > 0 && state.call.timeout_ms < 100'000'000)
    fields.emplace_back("grpc-timeout", base::format("{}m", state.call.timeout_ms));
  std::vector<nghttp2_nv> pairs;
  for (auto& [name, value] : fields)
    pairs.push_back({reinterpret_cast<std::uint8_t*>(name.data()), reinterpret_cast<std::uint8_t*>(value.data()),
                     name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  nghttp2_data_provider body{};
  body.source.ptr = &state;
  body.read_callback = State::read_body;
  CHECK(nghttp2_submit_request(state.session, nullptr, pairs.data(), pairs.size(), &body, nullptr) > 0);
}
GrpcClientSession::~GrpcClientSession() = default;

void GrpcClientSession::receive(std::string_view bytes) {
  const ssize_t used =
      nghttp2_session_mem_recv(state_->session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used < 0) close({GrpcCode::kUnavailable, base::format("HTTP/2: {}", nghttp2_strerror(static_cast<int>(used)))});
  if (!state_->over && nghttp2_session_want_read(state_->session) == 0 &&
      nghttp2_session_want_write(state_->session) == 0)
    close({GrpcCode::kUnavailable, "the server has closed the connection"});
}

std::string GrpcClientSession::take_output() {
  std::string out;
  while (out.size() < kOutputBytes) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(state_->session, &bytes);
    if (size <= 0) break;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
  return out;
}

void GrpcClientSession::close(GrpcStatus status) { state_->end(std::move(status)); }
bool GrpcClientSession::is_over() const { return state_->over; }

}  // namespace rt
