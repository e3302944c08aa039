// URLs of proxies, and the words of CONNECT (RFC 9110, 9.3.6).
#include "rt/http/client/proxy.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include "base/base64.h"
#include "base/format.h"
#include "rt/http/url.h"

namespace rt {

using base::Code;
using base::make_error;

base::Result<Proxy> parse_proxy_url(std::string_view text) {
  const std::size_t colon = text.find("://");
  const std::string_view scheme = text.substr(0, colon);
  if (colon == std::string_view::npos) return make_error(Code::kInvalid, "is not a URL like http://host:port");
  if (scheme.starts_with("socks"))
    return make_error(Code::kInvalid, base::format("{}:// is not supported, only http:// proxies are", scheme));
  if (scheme == "https")
    return make_error(Code::kInvalid, "https:// (TLS to the proxy itself) is not supported, only http:// proxies are");
  if (scheme != "http")
    return make_error(Code::kInvalid, base::format("the scheme {:?} is not supported, only http is", scheme));
  const std::size_t begin = colon + 3;
  const std::size_t end = std::min(text.find_first_of("/?#", begin), text.size());
  const std::size_t at = text.substr(0, end).rfind('@');
  const bool has_user = at != std::string_view::npos && at >= begin;
  // Without the user, so that no message has the password.
  TRY(ServerUrl url,
      parse_server_url(std::string(text.substr(0, begin)) + std::string(text.substr(has_user ? at + 1 : begin))));
  Proxy proxy{std::move(url.host), url.port, ""};
  if (!has_user) return proxy;
  const auto parsed = boost::urls::parse_uri({text.data(), text.size()});
  if (!parsed) return make_error(Code::kInvalid, "its user or password is not written as in a URL");
  proxy.authorization = "Basic " + base::base64_encode(parsed->user() + ":" + parsed->password());
  return proxy;
}

base::Result<std::string> connect_request(const std::string& authority, const Proxy& proxy) {
  for (const char c : authority)
    if (c <= ' ' || c > '~')
      return make_error(Code::kInvalid, base::format("a proxy cannot be asked for the name {:?}", authority));
  std::string text = base::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", authority);
  if (!proxy.authorization.empty()) text += base::format("Proxy-Authorization: {}\r\n", proxy.authorization);
  return text + "\r\n";
}

base::Status read_connect_answer(std::string_view head) {
  constexpr std::size_t kQuotedMax = 200;
  const std::string_view line = head.substr(0, std::min(head.find("\r\n"), kQuotedMax));
  const bool is_http = line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ");
  if (!is_http) return make_error(Code::kUnavailable, base::format("the proxy does not answer as one: {:?}", line));
  const std::string_view status = line.substr(9, 4);
  if (status.substr(0, 3) != "200" || (status.size() > 3 && status[3] != ' '))
    return make_error(Code::kUnavailable, base::format("the proxy refuses: {:?}", line.substr(9)));
  return {};
}

}  // namespace rt
