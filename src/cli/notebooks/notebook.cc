// volcano notebook: create, list, open, stop, start, delete.
#include "cli/notebooks/notebook.h"

#include "api/pods/notebook_state.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "cli/output.h"
#include "cli/table.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kHome = "/home/jovyan";

// The default image of the forms; a person may not be allowed to read them.
std::string image_of_forms(Api& server) {
  const auto forms = get(server, resources::kConfigMaps, kSpawnerNamespace, kSpawnerConfig);
  return forms.ok() ? first_image(*forms) : std::string();
}

// Makes a claim of that name where there is none.
base::Status need_claim(World& world, Api& server, const std::string& ns, const std::string& name,
                        const std::string& size) {
  const auto found = get(server, resources::kPersistentVolumeClaims, ns, name);
  if (found.ok()) return {};
  if (found.error().code != base::Code::kNotFound) return base::Error(found.error());
  TRY_VOID(server.call({.verb = client::Verb::kCreate,
                        .resource = resources::kPersistentVolumeClaims,
                        .ns = ns,
                        .name = {},
                        .subresource = {},
                        .body = claim_object(ns, name, size)}));
  world.out += base::format("volume {}/{} of {} was made\n", ns, name, size);
  return {};
}

base::Result<NotebookRequest> request_of(const Values& values) {
  NotebookRequest request{.ns = values.text("namespace"),
                          .name = values.text("name"),
                          .image = values.text("image"),
                          .cpu = values.text("cpu"),
                          .memory = values.text("memory"),
                          .queue = values.text("queue"),
                          .gpus = values.number("gpu"),
                          .environment = values.list("env"),
                          .idle = values.span("idle")};
  if (request.idle.ns < 0) return usage_error("--idle: a time below zero");
  bool has_home = false;
  for (const std::string& text : values.list("volume")) {
    TRY(NotebookVolume volume, parse_volume(text));
    has_home = has_home || volume.path == kHome;
    request.volumes.push_back(std::move(volume));
  }
  if (!has_home && values.text("workspace") != "none")
    request.volumes.insert(request.volumes.begin(), {request.name + "-workspace", std::string(kHome)});
  return request;
}

base::Status create_notebook(World& world, const Values& values) {
  TRY_VOID(check_notebook_name(values.text("name")));
  TRY(NotebookRequest request, request_of(values));
  const std::string size = values.text("workspace") == "none" ? "5Gi" : values.text("workspace");
  if (const auto amount = api::Quantity::parse(size); !amount || amount->sign() <= 0)
    return usage_error(base::format("--workspace: {:?} is neither a size, such as 5Gi, nor none", size));
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  if (request.image.empty()) request.image = image_of_forms(*server);
  TRY(Json notebook, notebook_object(request));
  // A notebook that is refused must leave no volumes behind.
  client::Request create{.verb = client::Verb::kCreate,
                         .resource = kNotebooks,
                         .ns = request.ns,
                         .name = {},
                         .subresource = {},
                         .body = std::move(notebook),
                         .dry_run = true};
  TRY_VOID(server->call(create));
  for (const NotebookVolume& volume : request.volumes)
    TRY_VOID(need_claim(world, *server, request.ns, volume.claim, size));
  create.dry_run = false;
  TRY_VOID(server->call(create));
  world.out += base::format("notebook {}/{} was made\n", request.ns, request.name);
  print_link(world, values, kNotebookKind, request.ns, request.name);
  world.show(world);
  if (values.on("no-wait")) return {};
  return wait_until_ready(world, *server, kNotebookKind, request.ns, request.name, values.span("timeout"));
}

base::Status set_stopped(World& world, const Values& values, bool stopped) {
  if (values.text("name").empty()) return usage_error("a name must be given");
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const Json mark = stopped ? Json(base::format_rfc3339(world.now())) : Json();
  Json patch =
      Json::object({{"metadata", Json::object({{"annotations", Json::object({{api::kStoppedAnnotation, mark}})}})}});
  TRY_VOID(call_one(*server, {.verb = client::Verb::kPatch,
                              .resource = kNotebooks,
                              .ns = values.text("namespace"),
                              .name = values.text("name"),
                              .subresource = {},
                              .body = std::move(patch),
                              .patch_type = client::PatchType::kMerge}));
  const std::string key = base::format("{}/{}", values.text("namespace"), values.text("name"));
  world.out += base::format("notebook {} {}\n", key, stopped ? "is stopping; its volumes stay" : "is starting");
  if (stopped || values.on("no-wait")) return {};
  world.show(world);
  return wait_until_ready(world, *server, kNotebookKind, values.text("namespace"), values.text("name"),
                          values.span("timeout"));
}

base::Status delete_notebook(World& world, const Values& values) {
  if (values.text("name").empty()) return usage_error("a name must be given");
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& ns = values.text("namespace");
  TRY(const Json notebook, get(*server, kNotebooks, ns, values.text("name")));
  TRY_VOID(call_one(*server, {.verb = client::Verb::kDelete,
                              .resource = kNotebooks,
                              .ns = ns,
                              .name = values.text("name"),
                              .subresource = {}}));
  world.out += base::format("notebook {}/{} was deleted\n", ns, values.text("name"));
  for (const Json& volume : notebook["spec"]["template"]["spec"]["volumes"].items())
    if (const std::string claim = volume["persistentVolumeClaim"]["claimName"].str(); !claim.empty())
      world.out += base::format("volume {}/{} stays\n", ns, claim);
  return {};
}

std::vector<Flag> named(std::vector<Flag> more = {}) {
  using enum Flag::Type;
  std::vector<Flag> flags = {{"namespace", 'n', kText, "default", "the namespace"},
                             {"name", 'N', kText, "", "the name; also the argument"}};
  flags.insert(flags.end(), more.begin(), more.end());
  return with_connection(std::move(flags));
}

std::vector<Flag> waiting() {
  using enum Flag::Type;
  return {{"no-wait", 0, kBool, "", "do not wait until it is ready"},
          {"timeout", 0, kDuration, "0s", "how long to wait; 0s: without end"}};
}

Command create_command() {
  using enum Flag::Type;
  std::vector<Flag> flags = {{"image", 'i', kText, "", "the image (default: the first of the forms)"},
                             {"gpu", 'g', kInt, "0", "how many GPUs"},
                             {"cpu", 'c', kText, "500m", "how much CPU, at least"},
                             {"memory", 'm', kText, "1Gi", "how much memory"},
                             {.name = "volume", .help = "CLAIM:PATH; made if there is none", .is_many = true},
                             {"workspace", 'w', kText, "5Gi", "size of the home folder's volume, or none"},
                             {"queue", 'q', kText, "", "the queue in which it waits"},
                             {"idle", 0, kDuration, "0s", "stop it when it was idle for so long"},
                             {.name = "env", .letter = 'e', .help = "NAME=VALUE for its processes", .is_many = true}};
  for (Flag& flag : waiting()) flags.push_back(std::move(flag));
  return {.name = "create",
          .summary = "make a notebook, print its link, wait until it is ready",
          .flags = named(std::move(flags)),
          .run = create_notebook,
          .first_argument = "name",
          .failure = "create notebook"};
}

}  // namespace

Command notebook_root() {
  using enum Flag::Type;
  Command root{.name = "volcano notebook", .summary = "Notebooks: make, open, stop and start them"};
  const auto list_all = [](World& world, const Values& values) { return list_standings(world, values, kNotebookKind); };
  const auto open = [](World& world, const Values& values) { return open_by_link(world, values, kNotebookKind); };
  const auto stop = [](World& world, const Values& values) { return set_stopped(world, values, true); };
  const auto start = [](World& world, const Values& values) { return set_stopped(world, values, false); };
  root.children = {create_command(),
                   {.name = "list",
                    .summary = "list notebooks, with their states",
                    .flags = with_connection({{"namespace", 'n', kText, "default", "the namespace"},
                                              {"all-namespaces", 'A', kBool, "", "of all namespaces"},
                                              output_flag()}),
                    .run = list_all,
                    .failure = "list notebooks"},
                   {.name = "open",
                    .summary = "print a link that opens a notebook in a browser",
                    .flags = named(),
                    .run = open,
                    .first_argument = "name",
                    .failure = "open notebook"},
                   {.name = "stop",
                    .summary = "stop a notebook; its volumes stay",
                    .flags = named(),
                    .run = stop,
                    .first_argument = "name",
                    .failure = "stop notebook"},
                   {.name = "start",
                    .summary = "start a stopped notebook, wait until it is ready",
                    .flags = named(waiting()),
                    .run = start,
                    .first_argument = "name",
                    .failure = "start notebook"},
                   {.name = "delete",
                    .summary = "delete a notebook; its volumes stay",
                    .flags = named(),
                    .run = delete_notebook,
                    .first_argument = "name",
                    .failure = "delete notebook"}};
  return root;
}

}  // namespace cli
