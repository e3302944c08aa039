// Bytes for Beast's parsers, around what they take for granted.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace rt {

// Whether a parser that has left `unread` bytes may look at them again. Beast's takes for granted, once it has seen the
// head of the last chunk, that the whole of it is there ("0\r\n\r\n"), and asserts it; a body that has not ended has as
// many bytes to come.
template <class Parser>
bool may_parse_again(const Parser& parser, std::size_t unread) {
  constexpr std::size_t kLastChunkBytes = 5;
  return !parser.is_header_done() || !parser.chunked() || unread >= kLastChunkBytes;
}

// Beast throws at fields that are longer than its sixteen bits can say; those of trailers have no other limit.
template <class Parser>
std::size_t put_bytes(Parser& parser, std::string_view bytes, boost::system::error_code& error) {
  try {
    return parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  } catch (const std::length_error&) {
    error = boost::beast::http::error::header_limit;
    return 0;
  }
}

}  // namespace rt
