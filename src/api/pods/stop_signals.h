// Signals by the names that pods and images give them. Pure.
#pragma once

#include <optional>
#include <string_view>

namespace api {

// The number of "SIGTERM", "TERM", "15", "SIGRTMIN+3"; nothing: there is no such signal.
std::optional<int> signal_number(std::string_view name);
// Whether a container's lifecycle may name it: in full, in capitals, and not by number.
bool is_stop_signal(std::string_view name);

}  // namespace api
