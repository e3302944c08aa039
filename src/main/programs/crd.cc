// `volcano crd [--mpi-job-version=v1|v2beta1] [NAME...]`: the CustomResourceDefinitions of our kinds as YAML, to
// install on a cluster.
#include "api/crd.h"

#include <iostream>

#include "api/json/yaml.h"
#include "main/host/mpi_version.h"
#include "main/programs.h"

namespace volcano_main {

namespace {

// Of the two kinds of MPIJob a cluster has one, because their names are the same.
bool is_printed(const api::KindInfo& kind, std::string_view mpi_version) {
  return kind.custom && (kind.kind != "MPIJob" || kind.resource.version == mpi_version);
}

int fail(const std::string& message) {
  std::cerr << "volcano crd: " << message << "\n";
  return 1;
}

}  // namespace

int run_crd(const Arguments& arguments) {
  std::string mpi_version = "v1";
  const std::vector<base::Flag> flags = {{"mpi-job-version", &mpi_version, kMpiVersionHelp}};
  if (base::asks_for_help(arguments)) {
    std::cout << "usage: volcano crd [flags] [NAME...]\n\n" << base::flags_help(flags) << "\nnames:\n";
    for (const api::KindInfo& kind : api::all_kinds())
      if (is_printed(kind, "v1")) std::cout << "  " << api::qualified_plural(kind) << "\n";
    return 0;
  }
  const auto names = base::parse_flags(flags, arguments);
  if (!names.ok()) return fail(names.error().message);
  if (const base::Status known = check_mpi_version(mpi_version); !known.ok()) return fail(known.error().message);
  int found = 0;
  for (const api::KindInfo& kind : api::all_kinds()) {
    if (!is_printed(kind, mpi_version)) continue;
    const std::string name = api::qualified_plural(kind);
    bool wanted = names->rest.empty();
    for (const std::string& word : names->rest) wanted = wanted || word == name || word == kind.resource.plural;
    if (!wanted) continue;
    if (found++ > 0) std::cout << "---\n";
    std::cout << api::to_yaml(api::make_crd(kind));
  }
  if (found > 0) return 0;
  return fail("no custom resource is called " + (names->rest.empty() ? "" : names->rest.front()));
}

}  // namespace volcano_main
