// libnghttp2 behind the interface of http2_server_session.h.
#include "rt/http/server/http2_server_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/utf8.h"

namespace rt {

namespace {

// How much of one request may be on its way before we have read it, and of all together.
constexpr std::uint32_t kStreamWindowBytes = std::uint32_t{256} << 10;
constexpr std::int32_t kConnectionWindowBytes = std::int32_t{4} << 20;
constexpr std::size_t kOutputBytes = std::size_t{128} << 10;
constexpr std::size_t kSmallOutput = (std::size_t{16} << 10) + 64;  // a frame, and its header
constexpr base::Duration kNewsTime = base::seconds(1);              // in which a client hears that the end comes
constexpr base::Duration kNever = base::Duration{INT64_MAX};
const HttpRefusal kTooManyBytes{429, "the server holds too many bytes of requests, please try again later", 1};

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// Facts that frames have themselves have no place among the headers.
bool belongs_to_http1(std::string_view name) {
  return name == "connection" || name == "transfer-encoding" || name == "keep-alive" || name == "upgrade";
}

struct Stream {
  enum class Step : std::uint8_t {
    kHeader,
    kBody,
    kAsked,    // the request is with the server
    kRefused,  // it is not, and what comes of it is dropped
  };
  Step step = Step::kHeader;
  HttpRequest request;
  std::string scheme;
  std::size_t header_bytes = 0;
  std::int64_t held = 0;
  base::Duration due = kNever;  // for the peer: to end its request

  std::deque<Http2ServerSession::Slice> out;
  std::size_t sent = 0;  // of the first
  std::size_t waiting_bytes = 0;
  base::Duration write_due = kNever;  // for the peer: to take some of it
  bool started = false;
  bool ended = false;     // nothing is added to the answer
  bool complete = false;  // its end was taken
};

}  // namespace

struct Http2ServerSession::State {
  Limits limits;
  Callbacks callbacks;
  nghttp2_session* session = nullptr;
  std::unordered_map<StreamId, Stream> streams;
  base::Duration now{};
  StreamId heading = 0;  // whose header has begun and has not ended
  base::Duration header_due = kNever;
  std::size_t receiving = 0, sending = 0;  // streams with a due, with a write_due
  std::string output;                      // of take_output()
  bool flawed = false;
  bool announced = false;  // that the end comes
  base::Duration last_words_due = kNever;
  StreamId last = INT32_MAX;  // of those that are answered, once the last words are said

  ~State() { nghttp2_session_del(session); }

  Stream* find(StreamId id) {
    const auto found = streams.find(id);
    return found == streams.end() ? nullptr : &found->second;
  }
  // The request is complete.
  void request_ended(Stream& stream) {
    if (stream.due != kNever) --receiving;
    stream.due = kNever;
  }
  void set_write_due(Stream& stream, base::Duration due) {
    if (stream.write_due != kNever) --sending;
    stream.write_due = due;
    if (due != kNever) ++sending;
  }
  bool hold(Stream& stream, std::int64_t bytes) {
    stream.held += bytes;
    return callbacks.hold(bytes);
  }
  void begin_answer(StreamId id, Stream& stream, int status, const Headers& headers,
                    std::optional<std::size_t> content_length);
  void answer_alone(StreamId id, Stream& stream, HttpResponse response);
  void refuse(StreamId id, Stream& stream, const HttpRefusal& refusal) {
    answer_alone(id, stream, callbacks.refused(refusal));
  }
  void add(StreamId id, Stream& stream, std::vector<Slice> pieces, bool end);
  void head_is_there(StreamId id, Stream& stream, bool has_body);
  void ask(StreamId id, Stream& stream);
  void forget(StreamId id, Stream& stream);

  static int on_begin(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                       const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* self);
  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self);
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data, std::size_t size,
                     void* self);
  static int on_sent(nghttp2_session* session, const nghttp2_frame* frame, void* self);
  static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t error, void* self);
  static ssize_t read_answer(nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t size,
                             std::uint32_t* flags, nghttp2_data_source*, void* self);
  static ssize_t send(nghttp2_session*, const std::uint8_t* bytes, std::size_t size, int, void* self);
  static int send_data(nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* header, std::size_t size,
                       nghttp2_data_source*, void* self);
};

// --- requests ---

int Http2ServerSession::State::on_begin(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  State& state = *static_cast<State*>(self);
  if (frame->hd.type != NGHTTP2_HEADERS) return 0;
  if (frame->hd.stream_id > state.last) return 0;  // it crosses our last words, which close it
  state.heading = frame->hd.stream_id;
  state.header_due = state.now + state.limits.header_time_max;
  if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) state.streams.try_emplace(frame->hd.stream_id);
  return 0;
}

int Http2ServerSession::State::on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                                         std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                                         std::uint8_t, void* self) {
  State& state = *static_cast<State*>(self);
  Stream* stream = state.find(frame->hd.stream_id);
  if (stream == nullptr || stream->step != Stream::Step::kHeader) return 0;  // trailers say nothing to us
  stream->header_bytes += name_size + value_size + 32;                       // as HTTP/2 counts them
  if (stream->header_bytes > state.limits.header_bytes_max) return 0;        // refused when all of it is there
  const std::string_view key = text_of(name, name_size), text = text_of(value, value_size);
  HttpRequest& request = stream->request;
  if (key == ":method")
    request.method = text;
  else if (key == ":path")
    request.target = text;
  else if (key == ":authority")
    request.headers.emplace_back("Host", base::to_utf8(text));
  else if (!key.starts_with(':'))
    request.headers.emplace_back(key, base::to_utf8(text));  // header text ends in objects, messages and logs
  return 0;
}

void Http2ServerSession::State::head_is_there(StreamId id, Stream& stream, bool has_body) {
  HttpRequest& request = stream.request;
  stream.step = Stream::Step::kBody;
  const nghttp2_extpri turns{NGHTTP2_EXTPRI_DEFAULT_URGENCY, 1};  // a long list does not stand before a watch
  (void)nghttp2_session_change_extpri_stream_priority(session, id, &turns, 1);
  if (stream.header_bytes > limits.header_bytes_max)
    return refuse(id, stream, {431, "the header of the request is too large"});
  const std::size_t hosts = all_headers(request.headers, "host").size();
  if (hosts != 1)
    return refuse(id, stream,
                  {400, base::format("a request names exactly one host (:authority), and this one {}", hosts)});
  if (request.target.empty() || request.method == "CONNECT")
    return refuse(id, stream, {405, "CONNECT is not a method of this server"});
  if (auto response = callbacks.refusal_of_head(request, has_body))
    return answer_alone(id, stream, std::move(*response));
  if (!has_body) return ask(id, stream);
  stream.due = now + limits.request_time_max;
  ++receiving;
  // Twenty bytes of a client's may be 64 KiB of headers, and are held until the body is there.
  if (!hold(stream, static_cast<std::int64_t>(stream.header_bytes))) refuse(id, stream, kTooManyBytes);
}

int Http2ServerSession::State::on_data(nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* data,
                                       std::size_t size, void* self) {
  State& state = *static_cast<State*>(self);
  Stream* stream = state.find(id);
  if (stream == nullptr || stream->step != Stream::Step::kBody) return 0;
  std::string& body = stream->request.body;
  if (body.size() + size > state.limits.body_bytes_max) {
    state.refuse(id, *stream,
                 {413, base::format("Request entity too large: limit is {}", state.limits.body_bytes_max)});
    return 0;
  }
  body.append(text_of(data, size));
  if (!state.hold(*stream, static_cast<std::int64_t>(size))) state.refuse(id, *stream, kTooManyBytes);
  return 0;
}

int Http2ServerSession::State::on_frame(nghttp2_session*, const nghttp2_frame* frame, void* self) {
  State& state = *static_cast<State*>(self);
  const StreamId id = frame->hd.stream_id;
  if (frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0 && state.last_words_due != kNever)
    state.last_words_due = {};
  if (frame->hd.type == NGHTTP2_HEADERS && id == state.heading) {
    state.heading = 0;
    state.header_due = kNever;
  }
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  Stream* stream = state.find(id);
  if (stream == nullptr) return 0;
  const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (stream->step == Stream::Step::kHeader)
    state.head_is_there(id, *stream, !ends);
  else if (ends && stream->step == Stream::Step::kBody)
    state.ask(id, *stream);
  return 0;
}

void Http2ServerSession::State::ask(StreamId id, Stream& stream) {
  request_ended(stream);
  stream.step = Stream::Step::kAsked;
  callbacks.on_request(id, std::move(stream.request));
}

// --- answers ---

void Http2ServerSession::State::begin_answer(StreamId id, Stream& stream, int status, const Headers& headers,
                                             std::optional<std::size_t> content_length) {
  if (std::exchange(stream.started, true)) return;
  std::vector<std::pair<std::string, std::string>> fields = {{":status", std::to_string(status)}};
  for (const auto& [name, value] : headers) {
    std::string key = base::lower(name);
    if (!belongs_to_http1(key)) fields.emplace_back(std::move(key), value);
  }
  if (content_length) fields.emplace_back("content-length", std::to_string(*content_length));
  std::vector<nghttp2_nv> pairs;
  for (auto& [name, value] : fields) {
    // Values that differ from answer to answer would only push other entries out of the table.
    const bool unique = name == "audit-id" || name == "content-length";
    pairs.push_back({reinterpret_cast<std::uint8_t*>(name.data()), reinterpret_cast<std::uint8_t*>(value.data()),
                     name.size(), value.size(),
                     static_cast<std::uint8_t>(unique ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE)});
  }
  nghttp2_data_provider body{};
  body.read_callback = read_answer;
  if (nghttp2_submit_response(session, id, pairs.data(), pairs.size(), &body) != 0)
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);
}

void Http2ServerSession::State::add(StreamId id, Stream& stream, std::vector<Slice> pieces, bool end) {
  const bool was_empty = stream.out.empty();
  for (Slice& piece : pieces) {
    if (piece.bytes.empty()) continue;
    stream.waiting_bytes += piece.bytes.size();
    stream.out.push_back(std::move(piece));
  }
  stream.ended = stream.ended || end;
  if (stream.write_due == kNever) set_write_due(stream, now + limits.write_time_max);
  if (was_empty) (void)nghttp2_session_resume_data(session, id);  // an error: it was not told to wait
}

void Http2ServerSession::State::answer_alone(StreamId id, Stream& stream, HttpResponse response) {
  request_ended(stream);
  stream.step = Stream::Step::kRefused;
  hold(stream, -stream.held);
  stream.request = {};
  begin_answer(id, stream, response.status, response.headers, response.body.size());
  const auto text = std::make_shared<const std::string>(std::move(response.body));
  add(id, stream, {{text, *text}}, true);
}

// Says how much is there; send_data() brings it to where it goes.
ssize_t Http2ServerSession::State::read_answer(nghttp2_session*, std::int32_t id, std::uint8_t*, std::size_t size,
                                               std::uint32_t* flags, nghttp2_data_source*, void* self) {
  State& state = *static_cast<State*>(self);
  Stream* stream = state.find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  size = std::min(size, stream->waiting_bytes);
  const bool is_end = stream->ended && size == stream->waiting_bytes;
  if (is_end) *flags |= NGHTTP2_DATA_FLAG_EOF;
  if (size > 0) {
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    return static_cast<ssize_t>(size);
  }
  state.set_write_due(*stream, kNever);
  stream->complete = is_end;
  return is_end ? 0 : static_cast<ssize_t>(NGHTTP2_ERR_DEFERRED);
}

// Control frames, which are small.
ssize_t Http2ServerSession::State::send(nghttp2_session*, const std::uint8_t* bytes, std::size_t size, int,
                                        void* self) {
  std::string& output = static_cast<State*>(self)->output;
  if (output.size() >= kOutputBytes) return NGHTTP2_ERR_WOULDBLOCK;
  output.append(text_of(bytes, size));
  return static_cast<ssize_t>(size);
}

int Http2ServerSession::State::send_data(nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* header,
                                         std::size_t size, nghttp2_data_source*, void* self) {
  State& state = *static_cast<State*>(self);
  if (state.output.size() >= kOutputBytes) return NGHTTP2_ERR_WOULDBLOCK;
  const StreamId id = frame->hd.stream_id;
  Stream* stream = state.find(id);
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  constexpr std::size_t kHeaderBytes = 9;
  // Most answers are small; the others get all the room at once.
  if (state.output.capacity() < state.output.size() + kHeaderBytes + size)
    state.output.reserve(state.output.size() < kSmallOutput ? 2 * kSmallOutput : kOutputBytes + kSmallOutput);
  state.output.append(text_of(header, kHeaderBytes));
  for (std::size_t left = size; left > 0;) {
    const std::string_view part = stream->out.front().bytes.substr(stream->sent, left);
    state.output.append(part);
    left -= part.size();
    stream->sent += part.size();
    if (stream->sent < stream->out.front().bytes.size()) break;
    stream->out.pop_front();
    stream->sent = 0;
  }
  stream->waiting_bytes -= size;
  stream->complete = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  state.set_write_due(*stream, stream->out.empty() ? kNever : state.now + state.limits.write_time_max);
  if (stream->step == Stream::Step::kAsked) state.callbacks.on_taken(id, size);
  return 0;
}

// A refused request that still goes on has no reader. And who answers the ping behind the news that the end comes has
// heard the news.
int Http2ServerSession::State::on_sent(nghttp2_session* session, const nghttp2_frame* frame, void* self) {
  if (frame->hd.type == NGHTTP2_GOAWAY && frame->goaway.last_stream_id == INT32_MAX)
    nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, nullptr);
  if (frame->hd.type != NGHTTP2_DATA && frame->hd.type != NGHTTP2_HEADERS) return 0;
  if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  const Stream* stream = static_cast<State*>(self)->find(frame->hd.stream_id);
  if (stream != nullptr && stream->step == Stream::Step::kRefused &&
      nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id) == 0)
    nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
  return 0;
}

int Http2ServerSession::State::on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* self) {
  State& state = *static_cast<State*>(self);
  if (Stream* stream = state.find(id)) state.forget(id, *stream);
  return 0;
}

void Http2ServerSession::State::forget(StreamId id, Stream& stream) {
  request_ended(stream);
  set_write_due(stream, kNever);
  hold(stream, -stream.held);
  const bool asked = stream.step == Stream::Step::kAsked, complete = stream.complete;
  const std::size_t unsent = stream.waiting_bytes;
  if (heading == id) heading = 0, header_due = kNever;
  streams.erase(id);
  if (!asked) return;
  if (unsent > 0) callbacks.on_taken(id, unsent);
  callbacks.on_end(id, complete);
}

// --- the session ---

Http2ServerSession::Http2ServerSession(const Limits& limits, Callbacks callbacks) : state_(std::make_unique<State>()) {
  state_->limits = limits;
  state_->callbacks = std::move(callbacks);
  nghttp2_session_callbacks* table = nullptr;
  nghttp2_option* options = nullptr;
  CHECK(nghttp2_session_callbacks_new(&table) == 0 && nghttp2_option_new(&options) == 0);
  nghttp2_session_callbacks_set_on_begin_headers_callback(table, State::on_begin);
  nghttp2_session_callbacks_set_on_header_callback(table, State::on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(table, State::on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(table, State::on_frame);
  nghttp2_session_callbacks_set_on_frame_send_callback(table, State::on_sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(table, State::on_close);
  nghttp2_session_callbacks_set_send_callback(table, State::send);
  nghttp2_session_callbacks_set_send_data_callback(table, State::send_data);
  nghttp2_option_set_no_closed_streams(options, 1);
  nghttp2_option_set_max_send_header_block_length(options, std::size_t{1} << 20);
  CHECK(nghttp2_session_server_new2(&state_->session, table, state_.get(), options) == 0);
  nghttp2_option_del(options);
  nghttp2_session_callbacks_del(table);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreamsMax},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindowBytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.header_bytes_max)},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1}};
  CHECK(nghttp2_submit_settings(state_->session, NGHTTP2_FLAG_NONE, settings, std::size(settings)) == 0);
  CHECK(nghttp2_session_set_local_window_size(state_->session, NGHTTP2_FLAG_NONE, 0, kConnectionWindowBytes) == 0);
}
Http2ServerSession::~Http2ServerSession() = default;

base::Status Http2ServerSession::receive(std::string_view bytes, base::Duration now) {
  state_->now = now;
  const ssize_t used =
      nghttp2_session_mem_recv(state_->session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (used >= 0) return {};
  state_->flawed = true;
  nghttp2_session_terminate_session(state_->session, NGHTTP2_PROTOCOL_ERROR);
  return base::make_error(base::Code::kInvalid, base::format("HTTP/2: {}", nghttp2_strerror(static_cast<int>(used))));
}

std::string Http2ServerSession::take_output(base::Duration now, std::string buffer) {
  state_->now = now;
  state_->output = std::move(buffer);
  state_->output.clear();
  if (now >= state_->last_words_due) go_away();
  if (nghttp2_session_send(state_->session) != 0) state_->flawed = true;  // no memory: it cannot go on
  std::string out = std::move(state_->output);
  if (out.empty()) return {};  // the memory goes, too: most connections wait
  return out;
}

bool Http2ServerSession::expire(base::Duration now) {
  state_->now = now;
  if (now >= state_->header_due) return false;
  if (!has_deadlines()) return true;
  for (auto& [id, stream] : state_->streams)
    if (now >= stream.due || now >= stream.write_due) {
      state_->request_ended(stream);
      state_->set_write_due(stream, kNever);
      nghttp2_submit_rst_stream(state_->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    }
  return true;
}

bool Http2ServerSession::has_deadlines() const {
  return state_->heading != 0 || state_->receiving > 0 || state_->sending > 0 || state_->last_words_due != kNever;
}

void Http2ServerSession::start(StreamId id, int status, const Headers& headers,
                               std::optional<std::size_t> content_length) {
  if (Stream* stream = state_->find(id)) state_->begin_answer(id, *stream, status, headers, content_length);
}

bool Http2ServerSession::send(StreamId id, std::vector<Slice> pieces, bool end, base::Duration now) {
  Stream* stream = state_->find(id);
  if (stream == nullptr || stream->ended) return false;
  state_->now = now;
  state_->add(id, *stream, std::move(pieces), end);
  return true;
}

void Http2ServerSession::refuse_stream(StreamId id) {
  nghttp2_submit_rst_stream(state_->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
}

void Http2ServerSession::break_off(StreamId id) {
  nghttp2_submit_rst_stream(state_->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_INTERNAL_ERROR);
}

void Http2ServerSession::announce_end(base::Duration now) {
  if (std::exchange(state_->announced, true)) return;
  state_->last_words_due = now + kNewsTime;
  (void)nghttp2_submit_shutdown_notice(state_->session);
}

// Frames before it may fill the output: until it is sent a client may ask more, which counts no longer.
void Http2ServerSession::go_away() {
  state_->announced = true;
  state_->last_words_due = kNever;
  state_->last = nghttp2_session_get_last_proc_stream_id(state_->session);
  (void)nghttp2_submit_goaway(state_->session, NGHTTP2_FLAG_NONE, state_->last, NGHTTP2_NO_ERROR, nullptr, 0);
}

std::size_t Http2ServerSession::open_count() const { return state_->streams.size(); }
bool Http2ServerSession::is_over() const {
  return state_->flawed ||
         (nghttp2_session_want_read(state_->session) == 0 && nghttp2_session_want_write(state_->session) == 0);
}

}  // namespace rt
