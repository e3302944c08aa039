// The judgement of the policies in force about a request. Pure functions of the request and of what they look up.
//
// COMPAT(policies-in-our-server): where they are judged otherwise than by Kubernetes.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/policies/policy.h"

namespace api::policies {

// The remaining cost of evaluation, in steps of expressions (api/cel); a step is well below a microsecond. One budget
// is for everything that one request makes policies do. Kubernetes gives each policy ten million.
struct Budget {
  std::uint64_t left = kBudgetMax;
  bool exhausted = false;  // something was left undone for want of it: the answer means nothing

  static constexpr std::uint64_t kBudgetMax = 4'000'000;
  bool take(std::uint64_t steps) {
    if (steps > left) exhausted = true;
    left -= steps > left ? left : steps;
    return !exhausted;
  }
};

struct Judgement {
  std::optional<base::Error> refusal;
  std::vector<std::string> warnings;
  std::vector<std::string> audit_annotations;  // audit annotations, "key=value"
};
Judgement validate(const Set& set, const AdmissionRequest& request, const ObjectReader& objects, Budget& budget);

// The mutations of one request. Its arguments outlive it.
class Mutator {
 public:
  Mutator(const Set& set, const AdmissionRequest& request, const ObjectReader& objects, Budget& budget)
      : set_(set), request_(request), objects_(objects), budget_(budget) {}

  // All policies, in the order of their names. An error refuses the request.
  base::Status run(Json& object) { return pass(object, false); }
  // Once more those that ask for it and behind which something changed the object.
  base::Status run_again(Json& object) { return pass(object, true); }

 private:
  base::Status pass(Json& object, bool again);
  base::Result<bool> invoke(const Policy& policy, const Binding& binding, AdmissionRequest& request, bool again);

  const Set& set_;
  const AdmissionRequest& request_;
  const ObjectReader& objects_;
  Budget& budget_;
  // By policy, binding and parameter: the object as they left it.
  std::vector<std::pair<std::string, Json>> left_behind_;
};

}  // namespace api::policies
