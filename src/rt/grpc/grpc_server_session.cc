// Calls of one client over libnghttp2.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "rt/grpc/grpc_session.h"

namespace rt {

namespace {

constexpr std::size_t kOutputBytes = std::size_t{64} << 10;

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 1024)) {
    if (c >= 0x20 && c <= 0x7e && c != '%')
      out += c;
    else
      out += base::format("%{:02X}", static_cast<int>(static_cast<unsigned char>(c)));
  }
  return out;
}

using Fields = std::vector<std::pair<std::string, std::string>>;

std::vector<nghttp2_nv> pairs_of(Fields& fields) {
  std::vector<nghttp2_nv> pairs;
  for (auto& [name, value] : fields)
    pairs.push_back({reinterpret_cast<std::uint8_t*>(name.data()), reinterpret_cast<std::uint8_t*>(value.data()),
                     name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  return pairs;
}

Fields trailer_of(const GrpcStatus& status) {
  Fields fields = {{"grpc-status", std::to_string(static_cast<int>(status.code))}};
  if (!status.message.empty()) fields.emplace_back("grpc-message", percent_encoded(status.message));
  return fields;
}

struct Call {
  std::string method, path, content_type;
  std::size_t header_bytes = 0;
  GrpcFrames frames{kGrpcMessageBytesMax};
  std::vector<std::string> requests;
  bool asked = false;      // on_call was called
  bool answering = false;  // the head of the answer is sent
  bool finished = false;
  std::string output;  // frames that wait
  std::size_t sent = 0;
  GrpcStatus status;
};

}  // namespace

struct GrpcServerSession::State {
  Callbacks callbacks;
  nghttp2_session* session = nullptr;
  std::map<StreamId, std::unique_ptr<Call>> calls;

  ~State() { nghttp2_session_del(session); }
  Call* find(StreamId id) {
    const auto found = calls.find(id);
    return found == calls.end() ? nullptr : found->second.get();
  }
  void complete(StreamId id, Call& call);

  static int on_begin(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    State& state = *static_cast<State*>(self);
    if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      if (state.calls.size() >= kGrpcCallsMax) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
      state.calls[frame->hd.stream_id] = std::make_unique<Call>();
    }
    return 0;
  }
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* self) {
    Call* call = static_cast<State*>(self)->find(frame->hd.stream_id);
    if (call == nullptr) return 0;
    call->header_bytes += name_size + value_size + 32;
    if (call->header_bytes > kGrpcHeaderBytesMax) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const std::string_view key = text_of(name, name_size), text = text_of(value, value_size);
    if (key == ":path") call->path = text;
    if (key == ":method") call->method = text;
    if (key == "content-type") call->content_type = text;
    return 0;
  }
  static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                     std::size_t size, void* self) {
    Call* call = static_cast<State*>(self)->find(id);
    if (call == nullptr || call->finished) return 0;
    const base::Status read = call->frames.receive(text_of(data, size), call->requests);
    if (!read.ok() || call->requests.size() > 1)
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_ENHANCE_YOUR_CALM);
    return 0;
  }
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
    State& state = *static_cast<State*>(self);
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    if (Call* call = state.find(frame->hd.stream_id)) state.complete(frame->hd.stream_id, *call);
    return 0;
  }
  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* self) {
    State& state = *static_cast<State*>(self);
    const auto found = state.calls.find(id);
    if (found == state.calls.end()) return 0;
    const bool gone = found->second->asked && !found->second->finished;
    state.calls.erase(found);
    if (gone && state.callbacks.on_gone) state.callbacks.on_gone(id);
    return 0;
  }
  static ssize_t read_answer(nghttp2_session* session, std::int32_t id, std::uint8_t* buffer, std::size_t size,
                             std::uint32_t* flags, nghttp2_data_source* source, void*) {
    Call& call = *static_cast<Call*>(source->ptr);
    const std::size_t part = std::min(size, call.output.size() - call.sent);
    if (part == 0 && !call.finished) return NGHTTP2_ERR_DEFERRED;
    std::copy_n(call.output.data() + call.sent, part, buffer);
    call.sent += part;
    if (call.sent == call.output.size()) {
      call.output.clear();
      call.sent = 0;
      if (call.finished) {
        *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
        Fields fields = trailer_of(call.status);
        const std::vector<nghttp2_nv> pairs = pairs_of(fields);
        (void)nghttp2_submit_trailer(session, id, pairs.data(), pairs.size());
      }
    }
    return static_cast<ssize_t>(part);
  }
};

GrpcServerSession::GrpcServerSession(Callbacks callbacks) : state_(std::make_unique<State>()) {
  state_->callbacks = std::move(callbacks);
  nghttp2_session_callbacks* table = nullptr;
  CHECK(nghttp2_session_callbacks_new(&table) == 0);
  nghttp2_session_callbacks_set_on_begin_headers_callback(table, State::on_begin);
  nghttp2_session_callbacks_set_on_header_callback(table, State::on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, State::on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(table, State::on_frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(table, State::on_close);
  CHECK(nghttp2_session_server_new(&state_->session, table, state_.get()) == 0);
  nghttp2_session_callbacks_del(table);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, static_cast<std::uint32_t>(kGrpcCallsMax)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(kGrpcHeaderBytesMax)}};
  CHECK(nghttp2_submit_settings(state_->session, NGHTTP2_FLAG_NONE, settings, std::size(settings)) == 0);
}
GrpcServerSession::~GrpcServerSession() = default;

// The request is here as a whole.
void GrpcServerSession::State::complete(StreamId id, Call& call) {
  if (std::exchange(call.asked, true)) return;
  if (call.method != "POST" || !call.content_type.starts_with("application/grpc") || call.requests.size() != 1 ||
      call.frames.is_midway()) {
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_PROTOCOL_ERROR);
    call.asked = false;
    return;
  }
  const std::string path = call.path;  // on_call may end the call
  callbacks.on_call(id, path, std::move(call.requests.front()));
}

base::Status GrpcServerSession::receive(std::string_view bytes) {
  const ssize_t used =
      nghttp2_session_mem_recv(state_->session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used < 0)
    return base::make_error(base::Code::kUnavailable,
                            base::format("HTTP/2: {}", nghttp2_strerror(static_cast<int>(used))));
  return {};
}

std::string GrpcServerSession::take_output() {
  std::string out;
  while (out.size() < kOutputBytes) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(state_->session, &bytes);
    if (size <= 0) break;
    out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
  return out;
}

void GrpcServerSession::send(StreamId stream, std::string_view message) {
  Call* call = state_->find(stream);
  if (call == nullptr || call->finished) return;
  call->output += grpc_frame(message);
  if (std::exchange(call->answering, true)) {
    (void)nghttp2_session_resume_data(state_->session, stream);
    return;
  }
  Fields fields = {{":status", "200"}, {"content-type", "application/grpc"}};
  const std::vector<nghttp2_nv> pairs = pairs_of(fields);
  nghttp2_data_provider body{};
  body.source.ptr = call;
  body.read_callback = State::read_answer;
  (void)nghttp2_submit_response(state_->session, stream, pairs.data(), pairs.size(), &body);
}

void GrpcServerSession::finish(StreamId stream, const GrpcStatus& status) {
  Call* call = state_->find(stream);
  if (call == nullptr || std::exchange(call->finished, true)) return;
  call->status = status;
  if (call->answering) {
    (void)nghttp2_session_resume_data(state_->session, stream);
    return;
  }
  Fields fields = {{":status", "200"}, {"content-type", "application/grpc"}};
  for (auto& field : trailer_of(status)) fields.push_back(std::move(field));
  const std::vector<nghttp2_nv> pairs = pairs_of(fields);
  (void)nghttp2_submit_response(state_->session, stream, pairs.data(), pairs.size(), nullptr);
}

bool GrpcServerSession::is_answering() const {
  return std::ranges::any_of(state_->calls,
                             [](const auto& call) { return call.second->asked && !call.second->finished; });
}

bool GrpcServerSession::is_over() const {
  return nghttp2_session_want_read(state_->session) == 0 && nghttp2_session_want_write(state_->session) == 0;
}

}  // namespace rt
