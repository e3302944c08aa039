// References of core/v1.
#include "controllers/framework/references.h"

#include "api/meta/resource.h"

namespace controllers {

api::Json reference_to(std::string_view api_version, std::string_view kind, const api::Json& object) {
  return api::Json::object({{"apiVersion", api_version},
                            {"kind", kind},
                            {"name", api::name_of(object)},
                            {"namespace", api::namespace_of(object)},
                            {"resourceVersion", api::resource_version_of(object)},
                            {"uid", api::uid_of(object)}});
}

}  // namespace controllers
