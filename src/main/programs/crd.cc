// `volcano crd [--mpi-job-version=v1|v2beta1] [NAME...]`: the CustomResourceDefinitions of our kinds as YAML, to
// install on a cluster. Without a name they are those that the chart installs; the kinds of Kubeflow cost an API server
// as much memory again, and come where they are asked for.
#include "api/crd.h"

#include <algorithm>
#include <iostream>

#include "api/json/yaml.h"
#include "main/host/base/mpi_version.h"
#include "main/programs/programs.h"

namespace volcano_main {

namespace {

// A cluster has one of the two kinds of MPIJob, because their names are the same.
bool is_printed(const api::KindInfo& kind, std::string_view mpi_version) {
  return kind.custom && (kind.kind != "MPIJob" || kind.resource.version == mpi_version);
}

bool is_kubeflow(const api::KindInfo& kind) { return kind.resource.group.ends_with("kubeflow.org"); }
// A cluster where Argo is installed has its definition already.
bool is_of_strangers(const api::KindInfo& kind) { return kind.resource.group == "argoproj.io"; }
bool is_training(const api::KindInfo& kind) { return is_kubeflow(kind) && kind.resource.plural.ends_with("jobs"); }

// By the name of its definition, by its plural, or as one of the training kinds, of those of notebooks, or of all.
bool is_meant(const api::KindInfo& kind, std::string_view word) {
  if (word == "all") return true;
  if (word == "training") return is_training(kind);
  if (word == "kubeflow") return is_kubeflow(kind) && !is_training(kind);
  return word == api::qualified_plural(kind) || word == kind.resource.plural;
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
    std::cout << "usage: volcano crd [flags] [NAME...]\n\nWithout a name: all but those of Kubeflow.\n\n"
              << base::flags_help(flags) << "\nnames:\n  all\n  kubeflow\n  training\n";
    for (const api::KindInfo& kind : api::all_kinds())
      if (is_printed(kind, "v1")) std::cout << "  " << api::qualified_plural(kind) << "\n";
    return 0;
  }
  const auto names = base::parse_flags(flags, arguments);
  if (!names.ok()) return fail(names.error().message);
  if (const base::Status known = check_mpi_version(mpi_version); !known.ok()) return fail(known.error().message);
  for (const std::string& word : names->rest) {
    const bool is_known = std::ranges::any_of(
        api::all_kinds(), [&](const auto& kind) { return is_printed(kind, mpi_version) && is_meant(kind, word); });
    if (!is_known) return fail("no custom resource is called " + word + "; volcano crd --help lists the names");
  }
  int found = 0;
  for (const api::KindInfo& kind : api::all_kinds()) {
    if (!is_printed(kind, mpi_version)) continue;
    const auto means_it = [&](const std::string& word) { return is_meant(kind, word); };
    if (names->rest.empty() ? is_kubeflow(kind) || is_of_strangers(kind) : std::ranges::none_of(names->rest, means_it))
      continue;
    if (found++ > 0) std::cout << "---\n";
    std::cout << api::to_yaml(api::make_crd(kind), 160);
  }
  return 0;
}

}  // namespace volcano_main
