// Which requests the HTTP server refuses before anybody looks at them, and in what words: those whose end or whose
// addressee two readers could see differently, those that are not HTTP/1.x, and those that are too large.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/system/error_code.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "rt/http/parser_bytes.h"
#include "rt/http/server/http_server.h"

namespace rt {

// Exactly one Host that is one, no expectation but "100-continue", at most one Content-Length, no Transfer-Encoding but
// one `chunked` on its own.
std::optional<HttpRefusal> framing_refusal(const boost::beast::http::request_header<>& header);
// Whether the peer of a request that was not refused waits for "100 Continue"; one of HTTP/1.0 does not know it.
bool expects_continue(const boost::beast::http::request_header<>& header);
// The refusal for a parser's error. `unread` begins where the parser stopped, or at the header it could not read.
HttpRefusal parse_refusal(boost::system::error_code error, std::string_view unread, std::size_t body_bytes_max);

template <class Parser>
void begin_parser(Parser& parser, const ServerOptions& options) {
  parser.body_limit(options.body_bytes_max);
  parser.header_limit(static_cast<std::uint32_t>(options.header_bytes_max));
  parser.eager(true);
}

// Without the body, and who the peer is.
HttpRequest request_of(const boost::beast::http::request_header<>& header);
// The protocol that the peer wants to go on with; empty: nothing else.
std::string upgrade_of(const boost::beast::http::request_header<>& header);

// As plain text.
HttpResponse plain_refusal(const HttpRefusal& refusal);
// A response as bytes, with which a connection ends.
std::string closing_bytes(const HttpResponse& response);

}  // namespace rt
