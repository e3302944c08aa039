// SPDY/3.1 framing, which clients of Kubernetes speak over upgraded connections to carry several streams: bytes to
// frames and back. Pure, but for the state of the compression of headers, which is one for each direction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rt/http/http.h"

namespace rt {

struct SpdyFrame {
  enum class Kind : std::uint8_t { kOpen, kReply, kReset, kSettings, kPing, kGoAway, kHeaders, kWindow, kData };

  Kind kind = Kind::kData;
  std::uint32_t stream = 0;  // kPing: its number
  bool last = false;         // nothing of the stream follows from this side
  Headers headers = {};      // kOpen, kReply, kHeaders
  std::string data = {};     // kData
};

class SpdyReader {
 public:
  static constexpr std::size_t kFrameBytesMax = std::size_t{1} << 20;
  // The limit of one frame, when it is no longer compressed: a kilobyte of a frame may be a megabyte of headers.
  // Clients of Kubernetes say the type of a stream, a port and a number.
  static constexpr std::size_t kHeaderBytesMax = std::size_t{8} << 10;

  SpdyReader();
  ~SpdyReader();
  SpdyReader(const SpdyReader&) = delete;
  SpdyReader& operator=(const SpdyReader&) = delete;

  void put(std::string_view bytes);
  // The next frame that is there as a whole, if there is one. One at a time: together they may be thousands of times
  // as large as what came. After an error the connection cannot be read any further.
  base::Result<std::optional<SpdyFrame>> next();

 private:
  struct Inflater;
  base::Result<SpdyFrame> control_frame(std::string_view head, std::string_view body);
  base::Result<Headers> headers_of(std::string_view block);

  std::unique_ptr<Inflater> inflater_;
  std::string rest_;
  std::size_t at_ = 0;  // what is before it was read
};

class SpdyWriter {
 public:
  SpdyWriter();
  ~SpdyWriter();
  SpdyWriter(const SpdyWriter&) = delete;
  SpdyWriter& operator=(const SpdyWriter&) = delete;

  std::string open(std::uint32_t stream, const Headers& headers);
  std::string reply(std::uint32_t stream);
  // At most SpdyReader::kFrameBytesMax bytes.
  static std::string data(std::uint32_t stream, std::string_view bytes, bool last);
  static std::string ping(std::uint32_t number);
  static std::string reset(std::uint32_t stream);  // REFUSED_STREAM
  static std::string go_away(std::uint32_t last_stream);

 private:
  struct Deflater;
  std::string with_headers(std::uint16_t type, std::string fixed, const Headers& headers);

  std::unique_ptr<Deflater> deflater_;
};

}  // namespace rt
