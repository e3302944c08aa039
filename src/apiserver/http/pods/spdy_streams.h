// The streams of one SPDY connection that a client opened: frames in, streams of the pod out.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/pod_streams.h"
#include "rt/http/http.h"
#include "rt/http/spdy.h"
#include "rt/loop/loop.h"

namespace apiserver {

// On the loop, but for what is said otherwise. Shared by the connection and what goes on over it.
class SpdyStreams : public std::enable_shared_from_this<SpdyStreams> {
 public:
  static constexpr std::size_t kStreamsMax = 1024;

  // `opened` is told each stream that the client opens.
  using Opened = std::function<void(std::uint32_t stream, const rt::Headers& headers)>;
  SpdyStreams(rt::Loop& loop, std::shared_ptr<rt::HttpExchange> exchange, Opened opened)
      : loop_(loop), exchange_(std::move(exchange)), opened_(std::move(opened)) {}

  // Begins on an upgraded connection; of a WebSocket, whose messages are its bytes.
  void begin_upgraded(rt::Headers headers);
  void begin_tunnel(rt::Headers headers);

  // The place for the client's bytes on the stream; sizes of terminals, too. Its earlier bytes come first.
  enum class Use : std::uint8_t { kInput, kSizes };
  void connect(std::uint32_t stream, Use use, std::shared_ptr<api::PodStream> to);
  // We send no more on the stream.
  void close(std::uint32_t stream, std::string_view last_words = {});
  // Threads of streams. The peer of the stream is read again.
  void has_room(std::uint32_t stream);
  // Returns when the client has read most of it.
  void send(std::uint32_t stream, std::string_view bytes);
  void finish();

 private:
  struct Stream {
    Use use = Use::kInput;
    std::shared_ptr<api::PodStream> to;
    std::string early;   // said before somebody listens
    bool ended = false;  // by the client
    bool full = false;
  };

  rt::HttpExchange::OnBytes reader();
  void take();
  void read_on();
  void take_frame(rt::SpdyFrame frame);
  void open(const rt::SpdyFrame& frame);
  void hand_on(Stream& stream, std::string bytes);
  void gone();
  void answer(const std::string& bytes) { answers_ += bytes; }
  void send_answers();
  void write(std::string bytes) { exchange_->send_one(std::make_shared<const std::string>(std::move(bytes))); }

  rt::Loop& loop_;
  std::shared_ptr<rt::HttpExchange> exchange_;
  Opened opened_;
  rt::SpdyReader reader_;
  rt::SpdyWriter writer_;
  std::map<std::uint32_t, Stream> streams_;
  std::size_t full_ = 0;  // of the streams
  std::size_t early_bytes_ = 0;
  std::string answers_;             // to the frames of this turn, which go out together
  std::size_t answered_bytes_ = 0;  // since the client was seen to read
  bool taking_ = false;             // frames wait for the next turn of the loop
  bool awaits_reader_ = false;
  bool gone_ = false;
};

}  // namespace apiserver
