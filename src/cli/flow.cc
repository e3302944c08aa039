// vcctl jobflow and vcctl jobtemplate: create, delete, get, list, describe (cli.md 2.8).
#include <algorithm>

#include "api/json/yaml.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

// The differences between the two nouns.
struct Noun {
  std::string_view kind;
  std::string_view word;     // in help texts and commands
  std::string_view missing;  // no name for a deletion
  std::string_view details;  // no name for get
  const api::ResourceId* resource;
  bool has_phase;
};

const Noun& flow_noun() {
  static const Noun kNoun{"JobFlow",
                          "jobflow",
                          "jobflow name must be specified",
                          "name is mandatory to get the particular jobflow details",
                          &resources::kJobFlows,
                          true};
  return kNoun;
}
const Noun& template_noun() {
  static const Noun kNoun{"JobTemplate",
                          "jobtemplate",
                          "job template name must be specified",
                          "name is mandatory to get the particular job template details",
                          &resources::kJobTemplates,
                          false};
  return kNoun;
}

// The objects of a file, with their namespaces.
base::Result<std::vector<Json>> read_objects(World& world, const Values& values, const Noun& noun) {
  const std::string& path = values.text("file");
  TRY(const std::string text, world.read_file(path));
  // COMPAT(documents)
  TRY(const std::vector<api::YamlDocument> documents, api::parse_yaml_documents(text));
  std::vector<Json> objects;
  for (const api::YamlDocument& document : documents) {
    Json object = document.value;
    if (!object.is_object())
      return usage_error(base::format("the document at line {} of {} holds no object", document.line, path));
    if (object["kind"].as_string().ends_with("List"))
      return usage_error(
          base::format("the document at line {} of {} is a {}; each {} is wanted as a document of its own",
                       document.line, path, object["kind"].as_string(), noun.kind));
    if (object["apiVersion"].is_null()) object.set("apiVersion", noun.resource->api_version());
    if (object["kind"].is_null()) object.set("kind", noun.kind);
    Json metadata = object["metadata"].is_object() ? object["metadata"] : Json::object();
    if (metadata["namespace"].as_string().empty()) metadata.set("namespace", namespace_of_context(world, values));
    object.set("metadata", std::move(metadata));
    objects.push_back(std::move(object));
  }
  return objects;
}

std::string named(const Json& object) { return base::format("{}/{}", api::namespace_of(object), api::name_of(object)); }

base::Status create(World& world, const Values& values, const Noun& noun) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  TRY(const std::vector<Json> objects, read_objects(world, values, noun));
  for (const Json& object : objects) {
    const auto created = server->call({.verb = client::Verb::kCreate,
                                       .resource = *noun.resource,
                                       .ns = std::string(api::namespace_of(object)),
                                       .name = {},
                                       .subresource = {},
                                       .body = object});
    world.out += created.ok() ? base::format("Created {}: {}\n", noun.kind, named(*created))
                              : base::format("Failed to create {}: {}\n", noun.kind, created.error().message);
  }
  return {};
}

base::Status remove_one(Api& server, const Noun& noun, const std::string& ns, const std::string& name) {
  TRY_VOID(call_one(
      server, {.verb = client::Verb::kDelete, .resource = *noun.resource, .ns = ns, .name = name, .subresource = {}}));
  return {};
}

// Removes an object that a file holds. One of another kind may have the name of one of this kind; numbers and what is
// not there would name all of them.
base::Status remove_named(Api& server, const Noun& noun, const Json& object) {
  const Json& name = object["metadata"]["name"];
  if (object["kind"].as_string() != noun.kind)
    return usage_error(base::format("kind: {} is not a {}", object["kind"].dump(), noun.kind));
  if (name.is_null()) return usage_error(std::string(noun.missing));
  if (!name.is_string()) return usage_error(base::format("metadata.name: {} is not a text", name.dump()));
  return remove_one(server, noun, std::string(api::namespace_of(object)), name.str());
}

base::Status remove(World& world, const Values& values, const Noun& noun) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  if (!values.text("file").empty()) {
    TRY(const std::vector<Json> objects, read_objects(world, values, noun));
    for (const Json& object : objects) {
      const base::Status gone = remove_named(*server, noun, object);
      world.out += gone.ok() ? base::format("Deleted {}: {}\n", noun.kind, named(object))
                             : base::format("Failed to delete {}: {}\n", noun.kind, gone.error().message);
    }
    return {};
  }
  if (values.text("name").empty()) return usage_error(std::string(noun.missing));
  TRY(const Json object, get(*server, *noun.resource, values.text("namespace"), values.text("name")));
  TRY_VOID(remove_one(*server, noun, values.text("namespace"), values.text("name")));
  world.out += base::format("Deleted {}: {}\n", noun.kind, named(object));
  return {};
}

// Every column is as wide as its longest text, and 4.
std::string table_of(const std::vector<Json>& objects, const Noun& noun, base::Time now) {
  std::vector<std::vector<std::string>> rows = {{"Name", "Namespace"}};
  if (noun.has_phase) rows[0].insert(rows[0].end(), {"Phase", "Age"});
  for (const Json& object : objects) {
    std::vector<std::string>& row =
        rows.emplace_back(std::vector{std::string(api::name_of(object)), std::string(api::namespace_of(object))});
    if (!noun.has_phase) continue;
    const auto made = base::parse_rfc3339(object["metadata"]["creationTimestamp"].as_string());
    row.push_back(object["status"]["state"]["phase"].str());
    row.push_back(made ? base::format_human_duration(now - *made) : "<unknown>");
  }
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size() + 4);
  std::string text;
  for (const auto& row : rows) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < row.size(); ++i) cells.push_back({row[i], widths[i]});
    text += table_line(cells);
  }
  return text;
}

base::Status get_one(World& world, const Values& values, const Noun& noun) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  if (values.text("name").empty()) return usage_error(std::string(noun.details));
  TRY(const Json object, get(*server, *noun.resource, values.text("namespace"), values.text("name")));
  const auto text = as_object(values, object, *noun.resource);
  world.out += text ? *text : table_of({object}, noun, world.now());
  return {};
}

base::Status list_all(World& world, const Values& values, const Noun& noun) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const bool everywhere = noun.has_phase && values.on("all-namespaces");
  TRY(const std::vector<Json> objects, list(*server, *noun.resource, everywhere ? "" : values.text("namespace")));
  if (auto text = as_list(values, objects, *noun.resource))
    world.out += *text;
  else
    world.out += objects.empty() ? "No resources found\n" : table_of(objects, noun, world.now());
  return {};
}

base::Status describe(World& world, const Values& values, const Noun& noun) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  std::vector<Json> objects;
  if (values.text("name").empty()) {
    TRY(objects, list(*server, *noun.resource, values.text("namespace")));
  } else {
    TRY(const Json object, get(*server, *noun.resource, values.text("namespace"), values.text("name")));
    objects.push_back(object);
  }
  const std::string& format = values.text("format");
  const bool is_known = format == "yaml" || format == "json";
  bool first = true;
  for (const Json& object : objects) {
    if (!std::exchange(first, false) && is_known) world.out += "\n\n";
    world.out +=
        is_known ? object_text(object, *noun.resource, format) : base::format("Unsupported format: {}", format);
  }
  return {};
}

Command commands_of(const Noun& noun, std::string_view summary, std::vector<std::string_view> summaries) {
  using enum Flag::Type;
  const std::string_view of = noun.word;
  const auto help = [&](std::string_view text) { return base::format("{} {}", text, of); };
  const Flag ns{"namespace", 'n', kText, "default", help("the namespace of")};
  const Flag name{"name", 'N', kText, "", help("the name of")};
  const Flag file{"file", 'f', kText, "", help("the path to the YAML file containing the")};
  const auto leaf = [&](std::string_view word, std::string_view text, std::vector<Flag> flags,
                        base::Status (*run)(World&, const Values&, const Noun&)) -> Command {
    return {.name = word,
            .summary = text,
            .flags = with_connection(std::move(flags)),
            .run = [run, &noun](World& world, const Values& values) { return run(world, values, noun); }};
  };
  std::vector<Flag> listed = {ns, output_flag()};
  if (noun.has_phase) listed.push_back({"all-namespaces", 0, kBool, "", "list jobflows in all namespaces"});
  Command group{.name = noun.word, .summary = summary};
  group.children = {leaf("create", summaries[0], {file}, create),
                    leaf("list", summaries[1], std::move(listed), list_all),
                    leaf("get", summaries[2], {name, ns, output_flag()}, get_one),
                    leaf("delete", summaries[3], {name, ns, file}, remove),
                    leaf("describe", summaries[4],
                         {name, ns, {"format", 'o', kText, "yaml", "the format of output: yaml or json"}}, describe)};
  return group;
}

}  // namespace

Command jobflow_commands() {
  return commands_of(flow_noun(), "vcctl command line operation jobflow",
                     {"create a jobflow", "list jobflows", "get a jobflow", "delete a jobflow", "describe a jobflow"});
}

Command jobtemplate_commands() {
  return commands_of(template_noun(), "vcctl command line operation jobtemplate",
                     {"create a jobtemplate", "list jobtemplates", "get a jobtemplate", "delete a jobtemplate",
                      "describe a jobtemplate"});
}

}  // namespace cli
