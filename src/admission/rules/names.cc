// Lists and texts in Go's words.
#include "admission/rules/names.h"

#include "base/format.h"
#include "base/quote.h"

namespace admission {

std::string go_list(const std::vector<std::string>& items) { return base::format("[{}]", join(items, " ")); }

std::string quoted(std::string_view text) { return base::go_quoted(text); }

}  // namespace admission
