// volcano tensorboard: create, list, open, delete.
#include "base/format.h"
#include "cli/notebooks/notebook.h"
#include "cli/output.h"
#include "cli/table.h"

namespace cli {

using api::Json;

namespace {

base::Status create_tensorboard(World& world, const Values& values) {
  const std::string& ns = values.text("namespace");
  const std::string& name = values.text("name");
  TRY_VOID(check_notebook_name(name));
  std::string logs = values.text("logs");
  if (logs.empty()) return usage_error("--logs must be given: pvc://CLAIM/PATH, or NOTEBOOK:PATH");
  TRY(const std::string of, notebook_of_logs(logs));
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  if (!of.empty()) {
    TRY(const Json notebook, get(*server, kNotebooks, ns, of));
    TRY(logs, logs_path(logs, notebook));
  }
  TRY_VOID(server->call({.verb = client::Verb::kCreate,
                         .resource = kTensorboards,
                         .ns = ns,
                         .name = {},
                         .subresource = {},
                         .body = tensorboard_object(ns, name, logs)}));
  world.out += base::format("tensorboard {}/{} of {} was made\n", ns, name, logs);
  print_link(world, values, kTensorboardKind, ns, name);
  world.show(world);
  if (values.on("no-wait")) return {};
  return wait_until_ready(world, *server, kTensorboardKind, ns, name, values.span("timeout"));
}

base::Status delete_tensorboard(World& world, const Values& values) {
  if (values.text("name").empty()) return usage_error("a name must be given");
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  TRY_VOID(call_one(*server, {.verb = client::Verb::kDelete,
                              .resource = kTensorboards,
                              .ns = values.text("namespace"),
                              .name = values.text("name"),
                              .subresource = {}}));
  world.out += base::format("tensorboard {}/{} was deleted\n", values.text("namespace"), values.text("name"));
  return {};
}

}  // namespace

Command tensorboard_root() {
  using enum Flag::Type;
  const Flag ns{"namespace", 'n', kText, "default", "the namespace"};
  const Flag name{"name", 'N', kText, "", "the name; also the argument"};
  const auto list_all = [](World& world, const Values& values) {
    return list_standings(world, values, kTensorboardKind);
  };
  const auto open = [](World& world, const Values& values) { return open_by_link(world, values, kTensorboardKind); };
  Command root{.name = "volcano tensorboard", .summary = "TensorBoards: make and open them"};
  root.children = {
      {.name = "create",
       .summary = "make a TensorBoard, print its link, wait until it is ready",
       .flags = with_connection({ns,
                                 name,
                                 {"logs", 'l', kText, "", "pvc://CLAIM/PATH, or NOTEBOOK:PATH"},
                                 {"no-wait", 0, kBool, "", "do not wait until it is ready"},
                                 {"timeout", 0, kDuration, "0s", "how long to wait; 0s: without end"}}),
       .run = create_tensorboard,
       .first_argument = "name",
       .failure = "create tensorboard"},
      {.name = "list",
       .summary = "list TensorBoards, with their states",
       .flags = with_connection({ns, {"all-namespaces", 'A', kBool, "", "of all namespaces"}, output_flag()}),
       .run = list_all,
       .failure = "list tensorboards"},
      {.name = "open",
       .summary = "print a link that opens a TensorBoard in a browser",
       .flags = with_connection({ns, name}),
       .run = open,
       .first_argument = "name",
       .failure = "open tensorboard"},
      {.name = "delete",
       .summary = "delete a TensorBoard; its logs stay",
       .flags = with_connection({ns, name}),
       .run = delete_tensorboard,
       .first_argument = "name",
       .failure = "delete tensorboard"}};
  return root;
}

}  // namespace cli
