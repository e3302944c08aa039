// The names and cookies of a request from a browser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rt/http/http.h"

namespace ui {

// How the name of a cookie begins that is a session at the notebooks of one namespace.
inline constexpr std::string_view kNotebookCookie = "volcano-notebook-";

// "name:8443" -> "name", "[::1]:80" -> "::1".
std::string_view host_without_port(std::string_view host);
// The same with the brackets of an IPv6 address, as a URL has it.
std::string_view host_for_url(std::string_view host);
// A name that somebody else's DNS leads here must not become an origin of ours: only addresses, localhost and `names`
// are.
bool is_own_host(std::string_view host, const std::vector<std::string>& names);
// The value of a cookie; nothing: the request has none of that name, or two that differ, of which one is a stranger's.
std::optional<std::string_view> cookie_of(const rt::HttpRequest& http, std::string_view name);
// The names of all cookies that begin so.
std::vector<std::string> cookies_that_begin(const rt::HttpRequest& http, std::string_view begin);
// "__Host-Http-NAME" over TLS: browsers then take it from no script, for no path and from no other host; NAME without.
std::string guarded_cookie_name(std::string_view name, bool tls);

}  // namespace ui
