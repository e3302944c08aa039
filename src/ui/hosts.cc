// Hosts and cookies, as browsers send them.
#include "ui/hosts.h"

#include <algorithm>

#include "base/split.h"

namespace ui {

std::string_view host_without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, host.find(']') == std::string_view::npos ? 0 : host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

std::string_view host_for_url(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') == std::string_view::npos ? 0 : host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_own_host(std::string_view host, const std::vector<std::string>& names) {
  const std::string_view name = host_without_port(host);
  if (name.empty()) return false;
  if (name == "localhost" || name.find(':') != std::string_view::npos) return true;
  if (name.find_first_not_of("0123456789.") == std::string_view::npos) return true;
  return std::ranges::find(names, name) != names.end();
}

std::optional<std::string_view> cookie_of(const rt::HttpRequest& http, std::string_view name) {
  std::optional<std::string_view> found;
  for (const std::string_view line : rt::all_headers(http.headers, "Cookie"))
    for (const std::string_view pair : base::split_words(line, ';')) {
      if (!pair.starts_with(name) || !pair.substr(name.size()).starts_with('=')) continue;
      const std::string_view value = pair.substr(name.size() + 1);
      if (found && *found != value) return std::nullopt;
      found = value;
    }
  return found;
}

std::vector<std::string> cookies_that_begin(const rt::HttpRequest& http, std::string_view begin) {
  std::vector<std::string> names;
  for (const std::string_view line : rt::all_headers(http.headers, "Cookie"))
    for (const std::string_view pair : base::split_words(line, ';'))
      if (pair.starts_with(begin)) names.emplace_back(pair.substr(0, pair.find('=')));
  return names;
}

std::string guarded_cookie_name(std::string_view name, bool tls) {
  return (tls ? "__Host-Http-" : "") + std::string(name);
}

}  // namespace ui
