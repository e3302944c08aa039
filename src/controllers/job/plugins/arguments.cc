// Flags in the form that Go's flag package reads.
#include "controllers/job/plugins/arguments.h"

#include <algorithm>
#include <array>
#include <set>

#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "base/number.h"

namespace controllers::job {

using api::Json;

namespace {

bool is_bool(std::string_view value) {
  static constexpr std::array<std::string_view, 12> kWords = {"1", "t", "T", "TRUE",  "true",  "True",
                                                              "0", "f", "F", "FALSE", "false", "False"};
  for (const std::string_view word : kWords)
    if (word == value) return true;
  return false;
}

}  // namespace

namespace {

// Once for each: the arguments are read for every pod.
void warn_once(const std::string& problem) {
  static thread_local std::set<std::string> warned;
  if (warned.size() > 1000) warned.clear();
  if (warned.insert(problem).second)
    base::log_warning("controllers", base::format("arguments of a job plugin: {}; what follows is not read", problem));
}

}  // namespace

Flags::Flags(std::span<const Flag> known, const std::vector<std::string>& args) {
  if (const std::string problem = read(known, args); !problem.empty()) warn_once(problem);
}

std::string Flags::read(std::span<const Flag> known, const std::vector<std::string>& args) {
  for (const Flag& flag : known) values_[std::string(flag.name)] = std::string(flag.fallback);
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::string_view arg = args[i];
    if (arg.size() < 2 || arg[0] != '-' || arg == "--") return {};
    arg.remove_prefix(arg[1] == '-' ? 2 : 1);
    const std::size_t equals = arg.find('=');
    const std::string_view name = arg.substr(0, equals);
    const Flag* flag = nullptr;
    for (const Flag& one : known)
      if (one.name == name) flag = &one;
    if (!flag) return base::format("flag provided but not defined: -{}", name);
    std::string value;
    if (equals != std::string_view::npos)
      value = std::string(arg.substr(equals + 1));
    else if (flag->type == Flag::Type::kBool)
      value = "true";
    else if (i + 1 < args.size())
      value = args[++i];
    else
      return base::format("flag needs an argument: -{}", name);
    if ((flag->type == Flag::Type::kBool && !is_bool(value)) ||
        (flag->type == Flag::Type::kNumber && !base::parse_number<std::int64_t>(value).has_value()))
      return base::format("invalid value {:?} for flag -{}", value, name);
    values_[std::string(name)] = value;
  }
  return {};
}

const std::string& Flags::text(std::string_view name) const {
  const auto found = values_.find(name);
  CHECK(found != values_.end());
  return found->second;
}

bool Flags::on(std::string_view name) const {
  const std::string& value = text(name);
  return value == "1" || value[0] == 't' || value[0] == 'T';
}

std::int64_t Flags::number(std::string_view name) const {
  return base::parse_number<std::int64_t>(text(name)).value_or(0);
}

void for_containers(Json& pod, bool init_too, const std::function<void(Json& container)>& edit) {
  Json& spec = pod.edit("spec");
  std::size_t room = api::kObjectBytesMax;
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.has(list) || (list == std::string_view("initContainers") && !init_too)) continue;
    Json& containers = spec.edit(list);
    for (std::size_t i = 0; i < containers.size() && room > 0; ++i) {
      edit(containers.edit(i));
      const auto extent = api::extent_within(containers[i], {.bytes = room});
      room -= extent ? extent->bytes : room;
    }
  }
}

void add_env(Json& container, std::string_view name, const Json& value) {
  container.edit("env").push_back(Json::object({{"name", name}, {"value", value}}));
}

void open_port(Json& container, std::string_view name, std::int64_t port) {
  for (const Json& listed : container["ports"].items())
    if (listed["containerPort"].as_int() == port) return;
  container.edit("ports").push_back(Json::object({{"containerPort", port}, {"name", name}}));
}

std::string address(const Job& job, const Task& task, std::int64_t index) {
  return host_name(job, task, index) + "." + domain_name(job, task);
}

std::vector<std::string> addresses(const Job& job, const Task& task) {
  std::vector<std::string> out;
  const bool fixed = !task.pod_template["spec"]["hostname"].as_string().empty();
  for (std::int64_t index = 0; index < std::min(task.replicas, kAddressesMax); ++index) {
    out.push_back(address(job, task, index));
    if (fixed) break;
  }
  return out;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

Json job_selector(const Job& job) {
  return Json::object({{"volcano.sh/job-name", job.name}, {"volcano.sh/job-namespace", job.ns}});
}

Json owned_object(const Job& job, std::string_view api_version, std::string_view kind, std::string_view name) {
  return Json::object(
      {{"apiVersion", api_version},
       {"kind", kind},
       {"metadata", Json::object({{"name", name},
                                  {"namespace", job.ns},
                                  {"ownerReferences", Json::array({api::controller_reference(job.object)})}})}});
}

}  // namespace controllers::job
