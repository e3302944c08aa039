// AdmissionReview messages, and admission of a manifest as an API server would do it.
#pragma once

#include <string>
#include <vector>

#include "admission/rules/hooks.h"
#include "api/admission.h"

namespace admission {

// The request of an AdmissionReview (admission.k8s.io/v1); an error if it is none.
base::Result<api::AdmissionRequest> read_review(const api::Json& review);
// The AdmissionReview that answers `review`. A mutation becomes a JSON patch, encoded by `base64`.
api::Json answer_review(const api::Json& review, const api::AdmissionRequest& request,
                        const api::AdmissionAnswer& answer, const std::function<std::string(std::string_view)>& base64);

// The JSON patch that turns `before` into `after`: lists are replaced whole.
api::Json make_json_patch(const api::Json& before, const api::Json& after);

// A plain set of objects to look things up in.
class ObjectSet final : public api::ObjectReader {
 public:
  // Objects of kinds we do not serve are left out. A namespaced object without a namespace is in "default".
  void put(const api::Json& object);
  std::optional<api::Json> find(const api::ResourceId& id, std::string_view ns, std::string_view name) const override;
  std::vector<api::Json> list_by(const api::TextField& field, std::string_view value, bool as_prefix) const override;

 private:
  std::map<std::pair<api::ResourceId, std::string>, api::Json> objects_;
};

// The stages of a manifest that somebody creates: unknown fields are named as warnings and pruned, schema defaults,
// mutation, schema validation, validation. `object` in the answer is the object after defaulting.
struct ManifestAnswer {
  api::AdmissionAnswer answer;
  std::string refused_by;  // the webhook's name; empty: the schema, or nobody
};
ManifestAnswer admit_manifest(const api::Json& manifest, const std::vector<api::AdmissionHook>& hooks,
                              const api::ObjectReader& objects);

// True if the hook answers requests like this one.
bool applies(const api::AdmissionHook& hook, const api::AdmissionRequest& request);

}  // namespace admission
