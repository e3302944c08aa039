// The layout of frames, and zlib with the dictionary of SPDY/3 for what is compressed of them.
#include "rt/http/spdy.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/format.h"

namespace rt {

using base::Code;
using base::make_error;

namespace {

constexpr std::uint32_t kStreamMask = 0x7fffffff;
constexpr std::uint32_t kControlBit = 0x80000000;
constexpr std::uint32_t kVersion = 3;
constexpr unsigned char kFin = 1;
constexpr std::uint32_t kRefusedStream = 3;

void put_32(std::string& out, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(value >> shift & 0xff);
}

std::uint32_t get_32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Section 2.6.10.1 of the SPDY/3 draft: words behind their lengths, then text without any.
constexpr std::string_view kWords =
    "options|head|post|put|delete|trace|accept|accept-charset|accept-encoding|accept-language|accept-ranges|age|a"
    "llow|authorization|cache-control|connection|content-base|content-encoding|content-language|content-length|co"
    "ntent-location|content-md5|content-range|content-type|date|etag|expect|expires|from|host|if-match|if-modifie"
    "d-since|if-none-match|if-range|if-unmodified-since|last-modified|location|max-forwards|pragma|proxy-authenti"
    "cate|proxy-authorization|range|referer|retry-after|server|te|trailer|transfer-encoding|upgrade|user-agent|va"
    "ry|via|warning|www-authenticate|method|get|status|200 OK|version|HTTP/1.1|url|public|set-cookie|keep-alive|o"
    "rigin";
constexpr std::string_view kTail =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized"
    "403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable"
    "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT"
    "chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,"
    "text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

const std::string& dictionary() {
  static const std::string text = [] {
    std::string out;
    for (std::string_view rest = kWords; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find('|'));
      put_32(out, static_cast<std::uint32_t>(word.size()));
      out += word;
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    return out.append(kTail);
  }();
  return text;
}

base::Error broken(std::string why) { return make_error(Code::kBadRequest, "SPDY: " + std::move(why)); }

Bytef* bytes_of(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

std::string frame(std::uint32_t first, unsigned char flags, std::string_view body) {
  std::string out;
  out.reserve(body.size() + 8);
  put_32(out, first);
  put_32(out, static_cast<std::uint32_t>(flags) << 24 | static_cast<std::uint32_t>(body.size()));
  out += body;
  return out;
}

std::string control(std::uint16_t type, std::string_view body) {
  return frame(kControlBit | kVersion << 16 | type, 0, body);
}

}  // namespace

struct SpdyReader::Inflater {
  z_stream stream{};
  Inflater() { CHECK(inflateInit(&stream) == Z_OK); }
  ~Inflater() { inflateEnd(&stream); }

  base::Result<std::string> inflate(std::string_view block) {
    std::string out;
    char piece[4096];
    stream.next_in = bytes_of(block);
    stream.avail_in = static_cast<uInt>(block.size());
    for (;;) {
      stream.next_out = reinterpret_cast<Bytef*>(piece);
      stream.avail_out = sizeof piece;
      const int code = ::inflate(&stream, Z_SYNC_FLUSH);
      out.append(piece, sizeof piece - stream.avail_out);
      if (out.size() > kHeaderBytesMax) return broken(base::format("headers of more than {} bytes", kHeaderBytesMax));
      if (code == Z_NEED_DICT) {
        const std::string& words = dictionary();
        if (inflateSetDictionary(&stream, bytes_of(words), static_cast<uInt>(words.size())) != Z_OK)
          return broken("headers are compressed with another dictionary");
        continue;
      }
      if (code != Z_OK && code != Z_BUF_ERROR) return broken("headers that zlib cannot read");
      if (stream.avail_out > 0) return out;
    }
  }
};

SpdyReader::SpdyReader() : inflater_(std::make_unique<Inflater>()) {}
SpdyReader::~SpdyReader() = default;

base::Result<Headers> SpdyReader::headers_of(std::string_view block) {
  TRY(const std::string text, inflater_->inflate(block));
  std::string_view rest = text;
  const auto word = [&rest]() -> base::Result<std::string> {
    if (rest.size() < 4 || get_32(rest, 0) > rest.size() - 4) return broken("a header that is cut off");
    const std::size_t size = get_32(rest, 0);
    std::string out(rest.substr(4, size));
    rest.remove_prefix(4 + size);
    return out;
  };
  if (rest.size() < 4) return broken("headers without their number");
  const std::uint32_t count = get_32(rest, 0);
  rest.remove_prefix(4);
  Headers headers;
  for (std::uint32_t i = 0; i < count; ++i) {
    TRY(std::string name, word());
    TRY(std::string value, word());
    headers.emplace_back(std::move(name), std::move(value));
  }
  return headers;
}

base::Result<SpdyFrame> SpdyReader::control_frame(std::string_view head, std::string_view body) {
  using Kind = SpdyFrame::Kind;
  const std::uint32_t first = get_32(head, 0);
  if ((first >> 16 & 0x7fff) != kVersion) return broken(base::format("version {} is not 3", first >> 16 & 0x7fff));
  const std::uint32_t type = first & 0xffff;
  SpdyFrame out;
  out.last = (static_cast<unsigned char>(head[4]) & kFin) != 0;
  const auto kind_of = [&]() -> std::pair<Kind, std::size_t> {  // and the bytes before its headers, if it has any
    switch (type) {
      case 1: return {Kind::kOpen, 10};
      case 2: return {Kind::kReply, 4};
      case 3: return {Kind::kReset, 8};
      case 6: return {Kind::kPing, 4};
      case 7: return {Kind::kGoAway, 4};
      case 8: return {Kind::kHeaders, 4};
      case 9: return {Kind::kWindow, 8};
      default: return {Kind::kSettings, 0};  // and whatever else there may be, which is not for us
    }
  };
  const auto [kind, fixed] = kind_of();
  out.kind = kind;
  if (body.size() < fixed) return broken(base::format("a frame of type {} with {} bytes", type, body.size()));
  if (fixed > 0) out.stream = get_32(body, 0);
  if (kind != Kind::kPing) out.stream &= kStreamMask;
  if (kind == Kind::kOpen || kind == Kind::kReply || kind == Kind::kHeaders) {
    TRY(out.headers, headers_of(body.substr(fixed)));
  }
  return out;
}

void SpdyReader::put(std::string_view bytes) {
  rest_.erase(0, std::exchange(at_, 0));
  rest_ += bytes;
}

base::Result<std::optional<SpdyFrame>> SpdyReader::next() {
  std::optional<SpdyFrame> frame;
  const std::string_view left = std::string_view(rest_).substr(at_);
  if (left.size() < 8) return frame;
  const std::size_t length = get_32(left, 4) & 0xffffff;
  if (length > kFrameBytesMax) return broken(base::format("a frame of {} bytes", length));
  if (left.size() - 8 < length) return frame;
  at_ += 8 + length;
  const std::string_view body = left.substr(8, length);
  if ((get_32(left, 0) & kControlBit) == 0) {
    frame = {.kind = SpdyFrame::Kind::kData,
             .stream = get_32(left, 0),
             .last = (static_cast<unsigned char>(left[4]) & kFin) != 0,
             .data = std::string(body)};
  } else {
    TRY(frame, control_frame(left.substr(0, 8), body));
  }
  return frame;
}

struct SpdyWriter::Deflater {
  z_stream stream{};
  Deflater() {
    const std::string& words = dictionary();
    CHECK(deflateInit(&stream, Z_DEFAULT_COMPRESSION) == Z_OK);
    CHECK(deflateSetDictionary(&stream, bytes_of(words), static_cast<uInt>(words.size())) == Z_OK);
  }
  ~Deflater() { deflateEnd(&stream); }

  std::string deflate(std::string_view text) {
    std::string out;
    char piece[1024];
    stream.next_in = bytes_of(text);
    stream.avail_in = static_cast<uInt>(text.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece);
      stream.avail_out = sizeof piece;
      ::deflate(&stream, Z_SYNC_FLUSH);
      out.append(piece, sizeof piece - stream.avail_out);
    } while (stream.avail_out == 0);
    return out;
  }
};

SpdyWriter::SpdyWriter() : deflater_(std::make_unique<Deflater>()) {}
SpdyWriter::~SpdyWriter() = default;

std::string SpdyWriter::with_headers(std::uint16_t type, std::string fixed, const Headers& headers) {
  std::string block;
  put_32(block, static_cast<std::uint32_t>(headers.size()));
  for (const auto& [name, value] : headers)
    for (const std::string* word : {&name, &value}) {
      put_32(block, static_cast<std::uint32_t>(word->size()));
      block += *word;
    }
  return control(type, fixed + deflater_->deflate(block));
}

std::string SpdyWriter::open(std::uint32_t stream, const Headers& headers) {
  std::string fixed;
  put_32(fixed, stream);
  put_32(fixed, 0);
  fixed.append(2, '\0');
  return with_headers(1, std::move(fixed), headers);
}

std::string SpdyWriter::reply(std::uint32_t stream) {
  std::string fixed;
  put_32(fixed, stream);
  return with_headers(2, std::move(fixed), {});
}

std::string SpdyWriter::data(std::uint32_t stream, std::string_view bytes, bool last) {
  CHECK(bytes.size() <= SpdyReader::kFrameBytesMax);
  return frame(stream, last ? kFin : 0, bytes);
}

std::string SpdyWriter::ping(std::uint32_t number) {
  std::string body;
  put_32(body, number);
  return control(6, body);
}

std::string SpdyWriter::reset(std::uint32_t stream) {
  std::string body;
  put_32(body, stream);
  put_32(body, kRefusedStream);
  return control(3, body);
}

std::string SpdyWriter::go_away(std::uint32_t last_stream) {
  std::string body;
  put_32(body, last_stream);
  put_32(body, 0);
  return control(7, body);
}

}  // namespace rt
