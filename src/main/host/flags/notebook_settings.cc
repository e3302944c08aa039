// One line a variable.
#include "main/host/flags/notebook_settings.h"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "api/json/yaml.h"
#include "base/format.h"

namespace volcano_main {

namespace {

using Variable = std::function<const char*(const char* name)>;

base::Error wrong(const char* name, std::string_view value, std::string_view what) {
  return base::make_error(base::Code::kInvalid, base::format("{}: {:?} is not {}", name, value, what));
}

void take_text(const Variable& variable, const char* name, std::string& to) {
  if (const char* value = variable(name); value != nullptr && *value != '\0') to = value;
}

base::Status take_bool(const Variable& variable, const char* name, bool& to) {
  const char* set = variable(name);
  if (set == nullptr || *set == '\0') return {};
  const std::string_view value = set;
  to = value == "true" || value == "True" || value == "TRUE";
  if (!to && value != "false" && value != "False" && value != "FALSE") return wrong(name, value, "true or false");
  return {};
}

base::Status take_minutes(const Variable& variable, const char* name, base::Duration& to) {
  const char* set = variable(name);
  if (set == nullptr || *set == '\0') return {};
  constexpr int kMost = 10 * 365 * 24 * 60;
  const std::string_view value = set;
  int minutes = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), minutes);
  if (read.ec != std::errc() || read.ptr != value.data() + value.size() || minutes < 1 || minutes > kMost)
    return wrong(name, value, base::format("a number of minutes from 1 to {}", kMost));
  to = base::minutes(minutes);
  return {};
}

base::Status take_pod(const Variable& variable, const char* name, api::Json& to) {
  const char* path = variable(name);
  if (path == nullptr || *path == '\0') return {};
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return wrong(name, path, "a file that can be read");
  const auto pod = api::parse_yaml(text.str());
  if (!pod.ok()) return wrong(name, path, "a file of YAML: " + pod.error().message);
  if (!(*pod)["containers"].is_array()) return wrong(name, path, "the specification of a pod");
  to = *pod;
  return {};
}

}  // namespace

base::Result<controllers::notebooks::Options> notebook_settings(const Variable& variable) {
  controllers::notebooks::Options options;
  TRY_VOID(take_bool(variable, "ADD_FSGROUP", options.adds_fs_group));
  TRY_VOID(take_bool(variable, "USE_ISTIO", options.istio));
  TRY_VOID(take_bool(variable, "ENABLE_CULLING", options.culling));
  TRY_VOID(take_bool(variable, "RWO_PVC_SCHEDULING", options.rwo_scheduling));
  TRY_VOID(take_minutes(variable, "CULL_IDLE_TIME", options.cull_idle));
  TRY_VOID(take_minutes(variable, "IDLENESS_CHECK_PERIOD", options.check_period));
  TRY_VOID(take_pod(variable, "DEFAULT_POD_SPEC_PATH", options.viewer_pod));
  take_text(variable, "ISTIO_GATEWAY", options.istio_gateway);
  take_text(variable, "ISTIO_HOST", options.istio_host);
  take_text(variable, "CLUSTER_DOMAIN", options.cluster_domain);
  take_text(variable, "TENSORBOARD_IMAGE", options.tensorboard_image);
  take_text(variable, "USERID_HEADER", options.user_header);
  take_text(variable, "USERID_PREFIX", options.user_prefix);
  return options;
}

base::Result<controllers::notebooks::Options> notebook_settings_of_environment() {
  return notebook_settings([](const char* name) { return std::getenv(name); });
}

}  // namespace volcano_main
