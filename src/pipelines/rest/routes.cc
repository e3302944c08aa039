// The table of routes, as Kubeflow's gateway has them.
#include "pipelines/rest/routes.h"

#include <array>

#include "base/format.h"
#include "base/split.h"

namespace pipelines::rest {

using base::Code;

namespace {

base::Result<Reply> health(const Call&, Facts&) {
  return Reply{api::Json::object({{"multi_user", true}, {"pipeline_store", "kubernetes"}})};
}

struct Route {
  std::string_view method;
  std::string_view path;  // below /apis/v2beta1/; {} stands for a name
  Handler handler;
};

constexpr std::array kRoutes = {
    Route{"GET", "healthz", health},
};

// "{}:archive" is a name and what is done to it.
bool fits(std::string_view pattern, std::string_view segment, std::vector<std::string>& names) {
  if (!pattern.starts_with("{}")) return pattern == segment;
  pattern.remove_prefix(2);
  if (!pattern.empty()) {
    if (!segment.ends_with(pattern)) return false;
    segment.remove_suffix(pattern.size());
  }
  std::string name = rt::parse_target(segment).path;
  if (name.empty()) return false;
  names.push_back(std::move(name));
  return true;
}

bool fits_all(std::string_view path, const std::vector<std::string_view>& segments, std::vector<std::string>& names) {
  const auto patterns = base::split_words(path, '/');
  if (patterns.size() != segments.size()) return false;
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (!fits(patterns[i], segments[i], names)) return false;
  return true;
}

}  // namespace

base::Result<Routed> route(std::string_view method, std::string_view path) {
  constexpr std::string_view kVersion = "/apis/v2beta1/";
  const std::string_view named = path.substr(0, path.find('?'));
  bool is_known = false;
  if (named.starts_with(kVersion)) {
    const auto segments = base::split_words(named.substr(kVersion.size()), '/');
    for (const Route& row : kRoutes) {
      std::vector<std::string> names;
      if (!fits_all(row.path, segments, names)) continue;
      is_known = true;
      if (row.method != method) continue;
      return Routed{row.handler,
                    {.method = std::string(method), .names = std::move(names), .target = rt::parse_target(path)}};
    }
  }
  if (is_known)
    return base::make_error(Code::kMethodNotAllowed, base::format("{} of {} is not a method here", method, named));
  return base::make_error(Code::kNotFound, base::format("{} is not a path of this API", named));
}

}  // namespace pipelines::rest
