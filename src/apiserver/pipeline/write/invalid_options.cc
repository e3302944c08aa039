// How wrong options read.
#include "apiserver/pipeline/write/invalid_options.h"

#include "base/format.h"
#include "base/split.h"

namespace apiserver {

base::Error invalid_options(std::string_view kind, std::vector<base::Cause> causes, std::string_view group) {
  std::vector<std::string> texts;
  for (const base::Cause& cause : causes) texts.push_back(base::format("{}: {}", cause.field, cause.message));
  std::string all = base::join(texts, ", ");
  if (causes.size() > 1) all = "[" + all + "]";
  base::Error error = base::make_error(
      base::Code::kInvalid, base::format("{}{}{} \"\" is invalid: {}", kind, group.empty() ? "" : ".", group, all));
  error.group = group;
  error.kind = kind;
  error.causes = std::move(causes);
  return error;
}

}  // namespace apiserver
