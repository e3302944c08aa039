// One request as the expressions of policies see it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/policies/judge.h"
#include "api/policies/policy.h"

namespace api::policies {

// The values of one request: made when something first asks for them, once for all policies.
class RequestValues {
 public:
  RequestValues(const AdmissionRequest& request, const ObjectReader& objects);

  const AdmissionRequest& request() const { return request_; }
  const ObjectReader& objects() const { return objects_; }
  // Labels of the request's namespace; null for cluster-scoped objects.
  const Json& space_labels() const { return space_["metadata"]["labels"]; }

  struct Values {
    cel::Value object, old_object, request, space, authorizer;
  };
  const Values& values(Budget& budget) const;

 private:
  const AdmissionRequest& request_;
  const ObjectReader& objects_;
  Json space_;
  mutable std::optional<Values> values_;
};

// The cost of finding out whether a policy or binding is about a request.
inline std::uint64_t cost_of(const Match& match) { return 8 + match.words; }
// A value for expressions, and its price.
cel::Value value_of(const Json& json, Budget& budget);

// One policy with one parameter, evaluated for one scene: variables are looked at when something reads them, once.
class Evaluation {
 public:
  Evaluation(const Policy& policy, const RequestValues& scene, const Json& param, Budget& budget);

  // The value, or an error value.
  cel::Value run(const Program& program);
  // Whether all match conditions hold; an error where one cannot be told and none is false.
  base::Result<bool> conditions_hold();

 private:
  const Policy& policy_;
  const RequestValues& scene_;
  Budget& budget_;
  cel::Value params_;
  std::vector<std::optional<cel::Value>> variables_;
};

// The parameters of a policy by a binding; one null where there are none to look for. Errors are those of
// configuration.
base::Result<std::vector<Json>> params_for(const Policy& policy, const Binding& binding, const RequestValues& scene,
                                           Budget& budget);
// Whether the binding narrows the request out.
bool is_bound(const Policy& policy, const Binding& binding, const RequestValues& scene);
// "expression 'x' resulted in error: y"; what went out of budget says so.
std::string evaluation_error(const Program& program, const cel::Value& value);

}  // namespace api::policies
