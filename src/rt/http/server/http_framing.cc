// The rules for headers, and what a refused peer reads.
#include "rt/http/server/http_framing.h"

#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include "base/format.h"
#include "base/utf8.h"
#include "rt/http/server/http_exchange.h"

namespace rt {
namespace {

namespace http = boost::beast::http;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

// The form of a text that a message may quote: short and readable.
std::string quoted(std::string_view text) { return base::format("{:?}", base::to_utf8(base::utf8_prefix(text, 64))); }

// The value of a header in text that could not be parsed.
std::string_view raw_value(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find("\r\n"));
    text.remove_prefix(std::min(text.size(), line.size() + 2));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !same_header(line.substr(0, colon), name)) continue;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    return value;
  }
  return {};
}

bool is_host(std::string_view value) {
  return value.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!$%&'()*+,-.:;=[]_~") ==
         std::string_view::npos;
}

// RFC 9112 3.2.2: "http://host/path" names what "/path" does. Whom it was said to is nobody's concern here.
std::string_view origin_form(std::string_view target) {
  const std::size_t colon = target.find("://");
  if (colon == std::string_view::npos) return target;
  const std::string_view scheme = target.substr(0, colon);
  if (!same_header(scheme, "http") && !same_header(scheme, "https")) return target;
  target.remove_prefix(colon + 3);
  return target.substr(std::min(target.find_first_of("/?"), target.size()));
}

std::string_view first_line(std::string_view text) {
  while (text.starts_with("\r\n")) text.remove_prefix(2);
  return text.substr(0, text.find("\r\n"));
}

}  // namespace

std::optional<HttpRefusal> framing_refusal(const http::request_header<>& header) {
  const std::size_t hosts = header.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && header.version() == 11))
    return HttpRefusal{400, base::format("a request has exactly one Host header, and this one has {}", hosts)};
  const std::string_view host = view(header[http::field::host]);
  if (!is_host(host)) return HttpRefusal{400, base::format("Host: {} is not a host", quoted(host))};
  const std::string_view expected = view(header[http::field::expect]);
  if (header.version() == 11 && !expected.empty() && !same_header(expected, "100-continue"))
    return HttpRefusal{417, base::format("Expect: {} cannot be met, only \"100-continue\"", quoted(expected))};
  const std::size_t lengths = header.count(http::field::content_length);
  const std::size_t encodings = header.count(http::field::transfer_encoding);
  if (lengths > 1) return HttpRefusal{400, "a request has at most one Content-Length header"};
  if (encodings == 0) return {};
  if (encodings > 1) return HttpRefusal{400, "a request has at most one Transfer-Encoding header"};
  const std::string_view encoding = view(header[http::field::transfer_encoding]);
  if (!same_header(encoding, "chunked"))
    return HttpRefusal{400, base::format("Transfer-Encoding: {} is not \"chunked\"", quoted(encoding))};
  if (lengths > 0) return HttpRefusal{400, "a request has a Content-Length or a Transfer-Encoding header, not both"};
  if (header.version() == 10) return HttpRefusal{400, "HTTP/1.0 knows no Transfer-Encoding header"};
  return {};
}

bool expects_continue(const http::request_header<>& header) {
  return header.version() == 11 && header.count(http::field::expect) > 0;
}

HttpRefusal parse_refusal(boost::system::error_code error, std::string_view unread, std::size_t body_bytes_max) {
  if (error == http::error::body_limit)
    return {413, base::format("Request entity too large: limit is {}", body_bytes_max)};
  if (error == http::error::header_limit) return {431, "the header of the request is too large"};
  if (error == http::error::bad_content_length)
    return {400, base::format("Content-Length: {} is not a length, or there are several",
                              quoted(raw_value(unread, "Content-Length")))};
  if (error == http::error::bad_transfer_encoding)
    return {400, base::format("Transfer-Encoding: {} is not \"chunked\", or comes with another framing header",
                              quoted(raw_value(unread, "Transfer-Encoding")))};
  if (error == http::error::bad_chunk)
    return {400, base::format("the size of a chunk: {} is not a number that fits", quoted(first_line(unread)))};
  return {400, "the request could not be read as HTTP/1.1"};
}

HttpRequest request_of(const http::request_header<>& header) {
  HttpRequest request;
  request.method = std::string(header.method_string());
  const std::string_view target = origin_form(view(header.target()));
  request.target = target.starts_with('?') || target.empty() ? "/" : "";
  request.target += target;
  // Header text ends in objects, messages and logs.
  for (const auto& field : header)
    request.headers.emplace_back(std::string(field.name_string()), base::to_utf8(view(field.value())));
  return request;
}

std::string upgrade_of(const http::request_header<>& header) {
  if (header.version() != 11 || !http::token_list{header[http::field::connection]}.exists("upgrade")) return {};
  return base::to_utf8(view(header[http::field::upgrade]));
}

HttpResponse plain_refusal(const HttpRefusal& refusal) {
  HttpResponse response;
  response.status = refusal.status;
  response.headers = {{"Content-Type", "text/plain; charset=utf-8"}};
  if (refusal.retry_after_seconds > 0)
    response.headers.emplace_back("Retry-After", std::to_string(refusal.retry_after_seconds));
  response.body = refusal.message + "\n";
  return response;
}

std::string closing_bytes(const HttpResponse& response) {
  std::string text = base::format("HTTP/1.1 {} {}\r\n", response.status, status_text(response.status));
  for (const auto& [name, value] : response.headers) text += name + ": " + value + "\r\n";
  return text + base::format("Connection: close\r\nContent-Length: {}\r\n\r\n{}", response.body.size(), response.body);
}

}  // namespace rt
