// Tables of headers, and the attributes of cookies.
#include "ui/notebooks/notebook_headers.h"

#include <algorithm>
#include <array>

#include "base/format.h"
#include "base/split.h"

namespace ui {
namespace {

using base::Code;
using base::make_error;

bool is_one_of(std::string_view name, const auto& names) {
  return std::ranges::any_of(names, [name](std::string_view one) { return rt::same_header(name, one); });
}

bool begins_with_one_of(std::string_view name, const auto& begins) {
  return std::ranges::any_of(
      begins, [name](std::string_view begin) { return rt::same_header(name.substr(0, begin.size()), begin); });
}

std::string_view name_of_cookie(std::string_view pair) { return pair.substr(0, pair.find('=')); }

// "a=b; c=d" without those that are ours.
std::string cookies_for_notebook(std::string_view line) {
  std::string out;
  for (const std::string_view pair : base::split_words(line, ';'))
    if (!is_own_cookie(name_of_cookie(pair))) out += (out.empty() ? "" : "; ") + std::string(pair);
  return out;
}

// A cookie of the notebook, as one of its prefix alone; empty: it would be one of ours.
std::string cookie_for_browser(std::string_view line, const std::string& prefix) {
  const std::vector<std::string_view> parts = base::split_words(line, ';');
  if (parts.empty() || is_own_cookie(name_of_cookie(parts.front()))) return {};
  std::string out(parts.front()), path = prefix + "/";
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string_view name = name_of_cookie(parts[i]);
    const std::string_view key = name.substr(0, name.find_last_not_of(' ') + 1);
    if (rt::same_header(key, "Domain")) continue;
    if (!rt::same_header(key, "Path")) {
      out += "; " + std::string(parts[i]);
      continue;
    }
    std::string_view value = parts[i].substr(std::min(parts[i].size(), name.size() + 1));
    value = value.substr(std::min(value.find_first_not_of(' '), value.size()));
    if (value == prefix || value.starts_with(prefix + "/")) path = value;
  }
  return out + "; Path=" + path;
}

// The path of a Location through the API's proxy, as the browser reaches it; others stay.
std::string location_for_browser(std::string_view place, const NotebookPlace& of, const NotebookRoute& route) {
  const std::string through = of.proxy_prefix();
  if (place.starts_with(through + "/")) return of.browser_target(place.substr(through.size()), route);
  return std::string(place);
}

}  // namespace

bool is_own_cookie(std::string_view name) {
  for (const std::string_view guard : {"__Host-Http-", "__Host-", "__Http-", "__Secure-"})
    if (name.starts_with(guard)) {
      name.remove_prefix(guard.size());
      break;
    }
  return name.starts_with("volcano-page-") || name.starts_with("volcano-notebook-");
}

rt::Headers headers_for_notebook(const rt::Headers& headers) {
  static constexpr std::array<std::string_view, 6> kOurs = {"Authorization",   "Proxy-Authorization", "Origin",
                                                            "X-Volcano-Proof", "Forwarded",           "Via"};
  static constexpr std::array<std::string_view, 3> kBegins = {"Impersonate-", "X-Remote-", "X-Forwarded-"};
  rt::Headers out;
  for (const auto& [name, value] : headers) {
    if (is_one_of(name, kOurs) || begins_with_one_of(name, kBegins)) continue;
    if (!rt::same_header(name, "Cookie")) {
      out.emplace_back(name, value);
    } else if (std::string kept = cookies_for_notebook(value); !kept.empty()) {
      out.emplace_back(name, std::move(kept));
    }
  }
  return out;
}

rt::Headers headers_for_browser(const rt::Headers& headers, const NotebookPlace& place, const NotebookRoute& route) {
  // Each of these would hold for other ports of the host, or for pages that are not the notebook's.
  static constexpr std::array<std::string_view, 10> kOfTheHost = {"Strict-Transport-Security",
                                                                  "Alt-Svc",
                                                                  "Clear-Site-Data",
                                                                  "NEL",
                                                                  "Report-To",
                                                                  "Public-Key-Pins",
                                                                  "Expect-CT",
                                                                  "Set-Cookie2",
                                                                  "Service-Worker-Allowed",
                                                                  "Origin-Agent-Cluster"};
  static constexpr std::array<std::string_view, 1> kBegins = {"Access-Control-"};
  rt::Headers out = {{"Origin-Agent-Cluster", "?1"}};
  for (const auto& [name, value] : headers) {
    if (is_one_of(name, kOfTheHost) || begins_with_one_of(name, kBegins)) continue;
    if (rt::same_header(name, "Set-Cookie")) {
      if (std::string kept = cookie_for_browser(value, place.prefix()); !kept.empty())
        out.emplace_back(name, std::move(kept));
    } else {
      out.emplace_back(name, rt::same_header(name, "Location") ? location_for_browser(value, place, route) : value);
    }
  }
  if (rt::header(out, "Cross-Origin-Resource-Policy").empty())
    out.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  if (rt::header(out, "Referrer-Policy").empty()) out.emplace_back("Referrer-Policy", "same-origin");
  return out;
}

bool is_visit(const rt::HttpRequest& http) {
  if (http.method != "GET" || http.web_socket || !http.upgrade.empty()) return false;
  const std::string_view mode = rt::header(http.headers, "Sec-Fetch-Mode");
  const std::string_view wanted = rt::header(http.headers, "Sec-Fetch-Dest");
  if (mode.empty() && wanted.empty())
    return rt::header(http.headers, "Accept").find("text/html") != std::string_view::npos;
  return mode == "navigate" && wanted == "document";
}

base::Status check_notebook_request(const rt::HttpRequest& http, std::string_view own) {
  // It would hear, and answer, requests of pages that come after it on this port.
  if (!rt::header(http.headers, "Service-Worker").empty())
    return make_error(Code::kForbidden, "Service-Worker: a notebook has no service workers here");
  const std::string_view origin = rt::header(http.headers, "Origin");
  const bool streams = http.web_socket || !http.upgrade.empty();
  if (!origin.empty() && origin != own)
    return make_error(Code::kForbidden, base::format("Origin: {:?} is not this notebook's page", origin));
  if (streams && origin.empty()) return make_error(Code::kForbidden, "Origin: a stream needs the notebook's own page");
  const std::string_view site = rt::header(http.headers, "Sec-Fetch-Site");
  if (site.empty() || site == "same-origin" || site == "none" || is_visit(http)) return {};
  return make_error(Code::kForbidden, "Sec-Fetch-Site: the request comes from another page");
}

}  // namespace ui
