// A text as Go's %q prints it, which is how messages of Kubernetes show values.
#pragma once

#include <string>
#include <string_view>

namespace base {

// In double quotes, in one line: control characters and others that cannot be seen are escaped. Bytes that are not
// UTF-8 stand as \xNN.
std::string go_quoted(std::string_view text);

}  // namespace base
