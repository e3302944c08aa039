// Which proxy the environment names for a server: HTTPS_PROXY, unless NO_PROXY has the server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rt/http/client/proxy.h"

namespace rt {

// The values of the variables, read as Go's programs read them. This machine (localhost, 127.0.0.0/8, ::1) has none;
// NO_PROXY is a list of names (with what is below them; only that behind a leading dot), addresses and networks, each
// with or without a port, or an asterisk. An error names HTTPS_PROXY.
base::Result<std::optional<Proxy>> proxy_of_environment(std::string_view https_proxy, std::string_view no_proxy,
                                                        const std::string& host, std::uint16_t port);

}  // namespace rt
