// The findings of `volcano preflight` about a cluster, one function a subject. Each asks the server and adds lines;
// what the server does not let the account see is a line, too.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/world.h"

namespace volcano_main {

struct Finding {
  enum class Level : std::uint8_t {
    kGood,
    kChange,   // what an installation changes, or does otherwise than before
    kProblem,  // what keeps a program from doing its work
  };
  Level level = Level::kGood;
  std::string text;
};
using Findings = std::vector<Finding>;

struct PreflightOptions {
  std::string ns = "volcano-system";  // of the installation
  std::string release = "volcano";
  std::vector<std::string> programs;  // of kPreflightPrograms; empty: those that are, or would be, installed
  bool service_accounts = false;      // ask about those of the installation, not about who asks
  std::string config_file;            // empty: the ConfigMap of the release, if there is one
};

inline constexpr std::string_view kPreflightPrograms[] = {
    "scheduler", "controllers", "admission", "agent-scheduler", "hypernode-controller", "kubeflow-controllers",
    "agent"};

void check_version(const api::Json& version, Findings& out);  // the answer of /version
// `as_stored` answers a list with all objects, also those that a client leaves out because they make no sense.
void check_crds(cli::Api& api, const std::function<base::Result<api::Json>(const client::Request&)>& as_stored,
                Findings& out);
void check_rights(cli::Api& api, const PreflightOptions& options, Findings& out);
void check_webhooks(cli::Api& api, const PreflightOptions& options, Findings& out);
void check_programs(cli::Api& api, const PreflightOptions& options, base::Time now, Findings& out);
void check_configuration(cli::Api& api, const PreflightOptions& options, Findings& out);  // of the scheduler
void check_controller_configuration(cli::Api& api, const PreflightOptions& options, Findings& out);
void check_admission_configuration(cli::Api& api, const PreflightOptions& options, Findings& out);

// For those functions: the first few, and how many more.
std::string some_of(const std::set<std::string>& names);
base::Result<api::Json> get_object(cli::Api& api, const api::ResourceId& id, const std::string& ns,
                                   const std::string& name);
// The template of a Deployment of the installation, with its name for lines; null where none may be seen.
api::Json template_of(cli::Api& api, const PreflightOptions& options, std::string_view program, std::string& where);

}  // namespace volcano_main
