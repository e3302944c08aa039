// `volcano crd [NAME...]`: the CustomResourceDefinitions of our kinds as YAML, to install on a cluster.
#include "api/crd.h"

#include <iostream>

#include "api/json/yaml.h"
#include "main/programs.h"

namespace volcano_main {

int run_crd(const Arguments& arguments) {
  for (const std::string& word : arguments)
    if (word == "--help" || word == "-h") {
      std::cout << "usage: volcano crd [NAME...]\n\nnames:\n";
      for (const api::KindInfo& kind : api::all_kinds())
        if (kind.custom) std::cout << "  " << api::qualified_plural(kind) << "\n";
      return 0;
    }
  int found = 0;
  for (const api::KindInfo& kind : api::all_kinds()) {
    if (!kind.custom) continue;
    const std::string name = api::qualified_plural(kind);
    bool wanted = arguments.empty();
    for (const std::string& word : arguments) wanted = wanted || word == name || word == kind.resource.plural;
    if (!wanted) continue;
    if (found++ > 0) std::cout << "---\n";
    std::cout << api::to_yaml(api::make_crd(kind));
  }
  if (found > 0) return 0;
  std::cerr << "volcano crd: no custom resource is called " << (arguments.empty() ? "" : arguments[0]) << "\n";
  return 1;
}

}  // namespace volcano_main
