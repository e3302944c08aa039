// `volcano reference PAGE`: the reference pages of docs/reference, from the tables that the programs themselves use.
#include <iostream>
#include <set>

#include "api/kinds.h"
#include "apiserver/pipeline/metrics.h"
#include "base/format.h"
#include "colocation/metrics.h"
#include "controllers/metrics.h"
#include "main/host/base/process_metrics.h"
#include "main/programs/programs.h"
#include "node/machine/metrics.h"
#include "scheduler/actions/all.h"
#include "scheduler/framework/config.h"
#include "scheduler/framework/extension_points.h"
#include "scheduler/metrics.h"
#include "scheduler/options.h"
#include "scheduler/plugins/all.h"

namespace volcano_main {
namespace {

using api::Schema;

constexpr std::string_view kMadeFromTables = "<!-- Made by tools/golden --update from the tables in the code. -->\n\n";

std::string type_of(const Schema& schema) {
  switch (schema.kind) {
    case Schema::Kind::kObject: return schema.name.empty() ? "object" : schema.name.substr(schema.name.rfind('.') + 1);
    case Schema::Kind::kMap: return "map of " + type_of(*schema.element);
    case Schema::Kind::kList: return "list of " + type_of(*schema.element);
    case Schema::Kind::kString: return schema.format.empty() ? "string" : schema.format;
    case Schema::Kind::kInteger: return schema.format.empty() ? "integer" : schema.format;
    case Schema::Kind::kNumber: return "number";
    case Schema::Kind::kBoolean: return "boolean";
    case Schema::Kind::kIntOrString: return "integer or string";
    case Schema::Kind::kQuantity: return "quantity";
    case Schema::Kind::kAny: return "any";
  }
  return "";
}

std::string rules_of(const api::SchemaField& field) {
  std::vector<std::string> rules;
  const Schema& schema = *field.schema;
  if (field.required) rules.push_back("required");
  if (!field.default_value.is_null()) rules.push_back("default " + field.default_value.dump());
  if (schema.minimum) rules.push_back(base::format("at least {}", *schema.minimum));
  if (schema.maximum) rules.push_back(base::format("at most {}", *schema.maximum));
  if (schema.length_max) rules.push_back(base::format("at most {} characters", *schema.length_max));
  if (schema.items_min) rules.push_back(base::format("at least {} items", *schema.items_min));
  if (!schema.enumeration.empty()) {
    std::string words;
    for (const std::string& word : schema.enumeration) words += (words.empty() ? "" : ", ") + word;
    rules.push_back("one of " + words);
  }
  std::string out;
  for (const std::string& rule : rules) out += (out.empty() ? "" : "; ") + rule;
  return out;
}

std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("|\n", at)) != std::string::npos; at += 2)
    text.replace(at, 1, text[at] == '|' ? "\\|" : "  ");
  return text;
}

// Kubernetes' own types are described by Kubernetes; the tables stop there.
void print_fields(const Schema& schema, const std::string& path) {
  for (const api::SchemaField& field : schema.fields) {
    if (path.empty() && field.name != "spec" && field.name != "status") continue;
    const std::string name = path.empty() ? field.name : path + "." + field.name;
    const std::string& text = field.description.empty() ? field.schema->description : field.description;
    std::cout << base::format("| `{}` | {} | {} | {} |\n", name, type_of(*field.schema), cell(rules_of(field)),
                              cell(text));
    const Schema* below = field.schema;
    std::string suffix;
    while (below->kind == Schema::Kind::kList || below->kind == Schema::Kind::kMap) {
      suffix += below->kind == Schema::Kind::kList ? "[]" : ".*";
      below = below->element;
    }
    if (below->kind == Schema::Kind::kObject && !below->name.starts_with("io.k8s."))
      print_fields(*below, name + suffix);
  }
}

void print_api() {
  std::cout << "# Kinds\n\n" << kMadeFromTables;
  for (const api::KindInfo& kind : api::all_kinds()) {
    if (!kind.custom) continue;
    std::string short_names;
    for (const std::string& name : kind.short_names) short_names += (short_names.empty() ? "" : ", ") + name;
    std::cout << base::format("## {}\n\n`{}`, {}, plural `{}`{}.\n\n", kind.kind, kind.resource.api_version(),
                              kind.namespaced ? "namespaced" : "of the cluster", kind.resource.plural,
                              short_names.empty() ? "" : ", short names " + short_names);
    std::cout << "| Field | Type | Rules | Meaning |\n| --- | --- | --- | --- |\n";
    print_fields(*kind.schema, "");
    std::cout << "\n";
  }
  std::cout << "## Kinds of Kubernetes that `volcano up` serves\n\n| Kind | Group and version | Plural |\n| --- | --- "
               "| --- |\n";
  for (const api::KindInfo& kind : api::all_kinds())
    if (!kind.custom)
      std::cout << base::format("| {} | {} | {} |\n", kind.kind, kind.resource.api_version(), kind.resource.plural);
}

void print_metrics_of(std::string_view program, std::span<const base::MetricRow> rows) {
  constexpr std::string_view kTypes[] = {"counter", "gauge", "histogram"};
  std::cout << base::format("## {}\n\n| Name | Type | Labels | Meaning |\n| --- | --- | --- | --- |\n", program);
  for (const base::MetricRow& row : rows) {
    std::string labels;
    for (const std::string_view label : row.labels) labels += base::format("{}{}", labels.empty() ? "" : ", ", label);
    std::cout << base::format("| `{}` | {} | {} | {} |\n", row.name, kTypes[static_cast<std::size_t>(row.type)], labels,
                              row.help);
  }
  std::cout << "\n";
}

void print_metrics() {
  std::cout << "# Metrics\n\n" << kMadeFromTables;
  print_metrics_of("API server (`volcano up`)", apiserver::metric_rows());
  print_metrics_of("The loop of the API server (`volcano up`)", apiserver::loop_metric_rows());
  print_metrics_of("Node agent (`volcano up`)", node::metric_rows());
  print_metrics_of("Co-location (`vc-agent`, `volcano up --colocation`)", colocation::metric_rows());
  print_metrics_of("Controllers", controllers::metric_rows());
  print_metrics_of("Scheduler", scheduler::metric_rows());
  print_metrics_of("Programs of a cluster", process_metric_rows());
}

template <class... P>
std::set<std::string> keys_of(std::type_identity<std::tuple<P...>>) {
  std::set<std::string> keys;
  for (const std::string_view key : {P::kKey...}) {
    for (std::size_t start = 0; start < key.size();) {
      const std::size_t bar = std::min(key.find('|', start), key.size());
      keys.emplace(key.substr(start, bar - start));
      start = bar + 1;
    }
  }
  return keys;
}

void print_scheduler() {
  std::cout << "# Scheduler configuration\n\n" << kMadeFromTables << "## Actions\n\n";
  for (const scheduler::ActionFactory& action : scheduler::all_actions()) std::cout << "- `" << action.name << "`\n";
  std::cout << "\n## Plugins\n\n";
  std::set<std::string_view> plugins;
  for (const scheduler::PluginFactory& plugin : scheduler::all_plugins()) plugins.insert(plugin.name);
  for (const std::string_view name : plugins) std::cout << "- `" << name << "`\n";
  std::cout << "\n## Switches of a plugin\n\n";
  scheduler::Options batch;
  scheduler::Options agent = scheduler::agent_options();
  for (const std::string& key : keys_of(std::type_identity<scheduler::AllPoints>())) std::cout << "- `" << key << "`\n";
  std::cout << "\nAccepted, and of no effect on points: ";
  bool first = true;
  for (const std::string_view key : scheduler::kOtherSwitches)
    std::cout << (std::exchange(first, false) ? "`" : ", `") << key << "`";
  std::cout << ".\n\n## What is used without a file\n\n```yaml\n"
            << scheduler::default_config_text() << "```\n\n## Flags of vc-scheduler\n\n```\n"
            << base::flags_help(scheduler::flag_rows(batch)) << "```\n\n## The agent scheduler\n\nActions: ";
  for (const scheduler::ActionFactory& action : scheduler::single_pod_actions()) std::cout << "`" << action.name << "`";
  std::cout << "; plugins:";
  for (const scheduler::PluginFactory& plugin : scheduler::single_pod_plugins())
    std::cout << " `" << plugin.name << "`";
  std::cout << ". Without a file:\n\n```yaml\n"
            << scheduler::single_pods_config_text() << "```\n\nFlags of vc-agent-scheduler:\n\n```\n"
            << base::flags_help(scheduler::flag_rows(agent)) << "```\n";
}

struct Page {
  std::string_view name;
  void (*print)();
};
constexpr Page kPages[] = {{"api", print_api}, {"metrics", print_metrics}, {"scheduler", print_scheduler}};

}  // namespace

int run_reference(const Arguments& arguments) {
  for (const Page& page : kPages)
    if (arguments.size() == 1 && arguments[0] == page.name) return page.print(), 0;
  const bool asked = arguments.size() == 1 && (arguments[0] == "--help" || arguments[0] == "-h");
  (asked ? std::cout : std::cerr) << "usage: volcano reference api|metrics|scheduler\n";
  return asked ? 0 : 2;
}

}  // namespace volcano_main
