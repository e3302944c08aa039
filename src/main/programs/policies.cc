// `volcano policies [validating|mutating]`: the admission rules as policies of Kubernetes, as YAML, to install on a
// cluster.
#include <iostream>

#include "admission/policies/policy_objects.h"
#include "api/json/yaml.h"
#include "base/flags.h"
#include "main/programs/programs.h"

namespace volcano_main {

int run_policies(const Arguments& arguments) {
  std::string version = "v1";
  std::vector<base::Flag> flags = {
      {"mutating-version", &version, "version of the mutating policies' API: v1, or v1beta1 before Kubernetes 1.36"}};
  if (base::asks_for_help(arguments))
    return std::cout << "usage: volcano policies [validating|mutating] [flags]\n\nflags:\n"
                     << base::flags_help(flags),
           0;
  const auto words = base::parse_flags(flags, arguments);
  const auto fail = [](const std::string& message) {
    std::cerr << "volcano policies: " << message << "\n";
    return 2;
  };
  if (!words.ok()) return fail(words.error().message);
  if (version != "v1" && version != "v1beta1")
    return fail("--mutating-version: " + version + " is neither v1 nor v1beta1");
  bool validating = words->rest.empty(), mutating = words->rest.empty();
  for (const std::string& word : words->rest) {
    if (word != "validating" && word != "mutating") return fail(word + " is neither validating nor mutating");
    (word == "validating" ? validating : mutating) = true;
  }
  std::vector<api::Json> all;
  if (validating) all = admission::validating_policy_objects();
  if (mutating)
    for (api::Json& one : admission::mutating_policy_objects(version)) all.push_back(std::move(one));
  for (std::size_t i = 0; i < all.size(); ++i) std::cout << (i > 0 ? "---\n" : "") << api::to_yaml(all[i]);
  return 0;
}

}  // namespace volcano_main
