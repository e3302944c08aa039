// The names of writers in managedFields: printable text of at most 128 bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace apiserver {

inline constexpr std::size_t kManagerBytesMax = 128;

// Whether `text` is valid UTF-8 of characters that Go calls printable: no control characters, no spaces but ' ', no
// invisible ones. Characters that Unicode has not given out count as printable.
bool is_printable(std::string_view text);

// The program in front of the first '/' of a user agent, as Kubernetes names managers: without what is not printable,
// cut between characters.
std::string manager_of(std::string_view user_agent);

}  // namespace apiserver
