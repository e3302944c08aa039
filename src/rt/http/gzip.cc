// One-shot compression by zlib, and the way back.
#include "rt/http/gzip.h"

#include <zlib.h>

#include <memory>

namespace rt {
namespace {

// `window`: of zlib, which also says which frame there is.
base::Result<std::string> unpack(std::string_view compressed, int window, std::size_t bytes_max) {
  z_stream stream{};
  if (inflateInit2(&stream, window) != Z_OK) return base::make_error(base::Code::kInternal, "cannot start zlib");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string out;
  std::string chunk(1 << 20, '\0');
  for (;;) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    out.append(chunk, 0, chunk.size() - stream.avail_out);
    if (out.size() > bytes_max) return base::make_error(base::Code::kTooLarge, "packed data is larger than allowed");
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0) return out;
      inflateReset(&stream);  // members may follow one another
      continue;
    }
    if (status != Z_OK) return base::make_error(base::Code::kInvalid, "broken packed data");
  }
}

}  // namespace

std::optional<std::string> gzip(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool ok = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (!ok) return {};
  return out;
}

bool is_gzip(std::string_view data) { return data.size() > 2 && data[0] == '\x1f' && data[1] == '\x8b'; }

base::Result<std::string> gunzip(std::string_view compressed, std::size_t bytes_max) {
  return unpack(compressed, 16 + MAX_WBITS, bytes_max);
}

base::Result<std::string> inflate(std::string_view packed, std::size_t bytes_max) {
  return unpack(packed, -MAX_WBITS, bytes_max);
}

}  // namespace rt
