// Names as parts of the paths of requests.
#include "client/http/request_names.h"

#include "api/path_names.h"
#include "base/format.h"

namespace client {

base::Status check_names(const Request& request) {
  const auto refused = [&](std::string_view what, std::string_view name) {
    const api::ResourceId& of = request.resource;
    return base::make_error(base::Code::kBadRequest,
                            base::format("{}{}{}: {:?} cannot be the {} of an object", of.plural,
                                         of.group.empty() ? "" : ".", of.group, name, what));
  };
  const bool is_collection = request.verb == Verb::kList || request.verb == Verb::kDeleteCollection;
  // A new object has its name in its body; only what belongs to one that is there (pods/binding) names it.
  const bool is_named = !is_collection && (request.verb != Verb::kCreate || !request.subresource.empty());
  // COMPAT(object-names)
  if (is_named && !api::can_be_a_name(request.name)) return refused("name", request.name);
  if (!request.ns.empty() && !api::can_be_a_name(request.ns)) return refused("namespace", request.ns);
  return {};
}

}  // namespace client
