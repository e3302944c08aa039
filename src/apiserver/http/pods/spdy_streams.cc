// The meaning of frames, and the readers that pause while somebody is full.
#include "apiserver/http/pods/spdy_streams.h"

#include <utility>

#include "apiserver/http/pods/remote_command.h"

namespace apiserver {

namespace {

constexpr std::size_t kEarlyBytesMax = std::size_t{1} << 20;  // said on streams that nobody listens to yet
// A client that reads none of our answers may ask for no more of them.
constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 10;
// A message of a tunnel may have a hundred thousand frames, and the loop has others to serve.
constexpr int kFramesInATurn = 256;

}  // namespace

// Bytes are read when those before them are taken.
rt::HttpExchange::OnBytes SpdyStreams::reader() {
  return [&loop = loop_, self = shared_from_this()](std::string bytes) {
    loop.post([self, bytes = std::move(bytes)] {
      self->reader_.put(bytes);
      self->take();
    });
    return false;
  };
}

void SpdyStreams::begin_upgraded(rt::Headers headers) {
  headers.emplace_back("Upgrade", "SPDY/3.1");
  exchange_->start_upgraded(std::move(headers), reader());
  exchange_->on_closed([&loop = loop_, self = shared_from_this()] { loop.post([self] { self->gone(); }); });
}

void SpdyStreams::begin_tunnel(rt::Headers headers) {
  exchange_->start_web_socket(std::move(headers), rt::HttpExchange::Messages::kBytes, reader());
  exchange_->on_closed([&loop = loop_, self = shared_from_this()] { loop.post([self] { self->gone(); }); });
}

void SpdyStreams::take() {
  taking_ = true;
  for (int i = 0; i < kFramesInATurn && taking_; ++i) {
    auto frame = reader_.next();
    if (!frame.ok() && !gone_) finish();
    taking_ = frame.ok() && *frame && !gone_;
    if (taking_) take_frame(*std::move(*frame));
  }
  send_answers();
  if (!taking_) return read_on();
  loop_.post([self = shared_from_this()] { self->take(); });
}

void SpdyStreams::read_on() {
  if (gone_) return exchange_->resume_reading();  // so that the client's end is noticed
  if (taking_ || awaits_reader_ || full_ > 0) return;
  if (answered_bytes_ < kAnswerBytesMax) return exchange_->resume_reading();
  awaits_reader_ = true;
  exchange_->on_drained([&loop = loop_, self = shared_from_this()] {
    loop.post([self] {
      self->awaits_reader_ = false;
      self->answered_bytes_ = 0;
      self->read_on();
    });
  });
}

void SpdyStreams::send_answers() {
  if (answers_.empty()) return;
  answered_bytes_ += answers_.size();
  write(std::exchange(answers_, {}));
}

void SpdyStreams::take_frame(rt::SpdyFrame frame) {
  using Kind = rt::SpdyFrame::Kind;
  if (frame.kind == Kind::kOpen) return open(frame);
  // The client's numbers are odd; what else comes is an answer to ours, and there are none.
  if (frame.kind == Kind::kPing && frame.stream % 2 == 1) return answer(rt::SpdyWriter::ping(frame.stream));
  if (frame.kind != Kind::kData && frame.kind != Kind::kReset) return;
  const auto found = streams_.find(frame.stream);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  const bool takes_input = stream.to && stream.use == Use::kInput;
  if (frame.kind == Kind::kReset) {
    if (takes_input) stream.to->end();
    return;
  }
  hand_on(stream, std::move(frame.data));
  if (!frame.last) return;
  stream.ended = true;
  if (takes_input) stream.to->close_input();
}

void SpdyStreams::open(const rt::SpdyFrame& frame) {
  if (frame.stream % 2 == 0 || streams_.contains(frame.stream) || streams_.size() >= kStreamsMax)
    return answer(rt::SpdyWriter::reset(frame.stream));
  streams_[frame.stream].ended = frame.last;
  answer(writer_.reply(frame.stream));
  send_answers();
  const Opened opened = opened_;  // what it does may end us
  if (opened) opened(frame.stream, frame.headers);
}

void SpdyStreams::hand_on(Stream& stream, std::string bytes) {
  if (bytes.empty()) return;
  if (!stream.to) {
    early_bytes_ += bytes.size();
    if (early_bytes_ <= kEarlyBytesMax) stream.early += bytes;
    return;
  }
  if (stream.use == Use::kSizes) {
    if (const auto size = terminal_size(bytes); size.ok()) stream.to->resize(size->columns, size->rows);
    return;
  }
  if (stream.to->write(std::move(bytes)) || std::exchange(stream.full, true)) return;
  ++full_;
}

void SpdyStreams::connect(std::uint32_t id, Use use, std::shared_ptr<api::PodStream> to) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return to->end();  // the client has gone
  Stream& stream = found->second;
  stream.use = use;
  stream.to = std::move(to);
  hand_on(stream, std::exchange(stream.early, {}));
  if (stream.ended && use == Use::kInput) stream.to->close_input();
}

void SpdyStreams::close(std::uint32_t id, std::string_view last_words) {
  std::string end = rt::SpdyWriter::data(id, last_words, true);
  answered_bytes_ += end.size();
  write(std::move(end));
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const bool was_full = found->second.full;
  streams_.erase(found);
  if (was_full && --full_ == 0) read_on();
}

void SpdyStreams::has_room(std::uint32_t id) {
  loop_.post([self = shared_from_this(), id] {
    const auto found = self->streams_.find(id);
    if (found == self->streams_.end() || !std::exchange(found->second.full, false)) return;
    if (--self->full_ == 0) self->read_on();
  });
}

void SpdyStreams::send(std::uint32_t stream, std::string_view bytes) {
  write(rt::SpdyWriter::data(stream, bytes, false));
  exchange_->wait_until_drained();
}

void SpdyStreams::finish() {
  write(rt::SpdyWriter::go_away(0));
  exchange_->finish();
  gone();
}

void SpdyStreams::gone() {
  gone_ = true;
  opened_ = nullptr;  // who is told may hold this
  for (auto& [id, stream] : streams_)
    if (stream.to) stream.to->end();
  streams_.clear();
}

}  // namespace apiserver
