// The smallest part of a scenario that still fails.
#pragma once

#include <functional>
#include <string>

namespace scenario {

// Leaves out lines, words, plugins, pods of a range and members of patches, as long as `fails` stays true.
std::string shrink(const std::string& text, const std::function<bool(const std::string&)>& fails);

}  // namespace scenario
