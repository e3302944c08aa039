// The rules for URLs of servers.
#include "rt/http/url.h"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <charconv>

#include "base/format.h"

namespace rt {

namespace urls = boost::urls;

base::Result<ServerUrl> parse_server_url(std::string_view text) {
  const auto wrong = [text](std::string_view why) {
    return base::make_error(base::Code::kInvalid, base::format("{:?}: {}", text, why));
  };
  const auto parsed = urls::parse_uri({text.data(), text.size()});
  if (!parsed) return wrong("is not a URL like https://host:port");
  const urls::url_view& from = *parsed;
  ServerUrl url;
  if (from.scheme_id() != urls::scheme::http && from.scheme_id() != urls::scheme::https)
    return wrong("the scheme must be https or http");
  if (from.has_userinfo()) return wrong("a user in a URL is not supported");
  url.tls = from.scheme_id() == urls::scheme::https;
  url.host = from.host_address();
  if (url.host.empty()) return wrong("names no host");
  url.port = url.tls ? 443 : 80;
  // Boost's own number wraps around ("99999"), and it takes what is left of a port that is none for a path.
  const std::string_view port(from.port().data(), from.port().size());
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc() || end != port.data() + port.size() || url.port == 0)
      return wrong("the port must be between 1 and 65535");
  }
  url.path = std::string(from.encoded_path());
  if (!url.path.empty() && url.path[0] != '/') return wrong("is not a URL like https://host:port");
  if (from.has_query()) url.query = "?" + std::string(from.encoded_query());
  return url;
}

}  // namespace rt
