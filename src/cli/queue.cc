// vcctl queue: create, list, get, operate, delete (cli.md 2.7).
#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/output.h"
#include "cli/queue_table.h"
#include "cli/table.h"
#include "cli/text/people_table.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

base::Status create_queue(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  Json queue = Json::object({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                             {"kind", "Queue"},
                             {"metadata", Json::object({{"name", values.text("name")}})},
                             {"spec", Json::object({{"weight", values.number("weight")}})},
                             {"status", Json::object({{"state", values.text("state")}})}});
  TRY_VOID(server->call({.verb = client::Verb::kCreate,
                         .resource = resources::kQueues,
                         .ns = {},
                         .name = {},
                         .subresource = {},
                         .body = std::move(queue)}));
  return {};
}

base::Status delete_queue(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  if (values.text("name").empty()) return usage_error("queue name must be specified");
  TRY_VOID(call_one(*server, {.verb = client::Verb::kDelete,
                              .resource = resources::kQueues,
                              .ns = {},
                              .name = values.text("name"),
                              .subresource = {}}));
  return {};
}

base::Status operate_queue(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& name = values.text("name");
  const std::string& action = values.text("action");
  if (name.empty()) return usage_error("queue name must be specified");
  if (action.empty()) return usage_error("action can not be null");
  if (action == "update") {
    const std::int64_t weight = values.number("weight");
    if (weight == 0)
      return usage_error(
          base::format("when update queue {}, weight must be specified, the value must be greater than 0", name));
    TRY_VOID(call_one(*server, {.verb = client::Verb::kPatch,
                                .resource = resources::kQueues,
                                .ns = {},
                                .name = name,
                                .subresource = {},
                                .body = Json::object({{"spec", Json::object({{"weight", weight}})}}),
                                .patch_type = client::PatchType::kMerge}));
    return {};
  }
  if (action != "open" && action != "close")
    return usage_error(base::format("action {} invalid, valid actions are open, close and update", action));
  TRY(Json queue, get(*server, resources::kQueues, "", name));
  queue.set("apiVersion", "scheduling.volcano.sh/v1beta1");
  queue.set("kind", "Queue");
  return send_command(*server, queue, "default", action == "open" ? "OpenQueue" : "CloseQueue");
}

base::Status list_queues(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  TRY(const std::vector<Json> queues, list(*server, resources::kQueues, ""));
  if (auto text = as_list(values, queues, resources::kQueues)) {
    world.out += *text;
    return {};
  }
  if (queues.empty()) {
    world.out += "No resources found\n";
    return {};
  }
  QueueCounts counts = count_groups_or_ask(*server, queues);
  world.as_it_is = is_for_people(world, values);
  world.out +=
      is_for_people(world, values) ? queue_table_for_people(world, queues, counts) : queue_table(queues, counts, true);
  return {};
}

base::Status get_queue(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& name = values.text("name");
  if (name.empty()) return usage_error("name is mandatory to get the particular queue details");
  TRY(const Json queue, get(*server, resources::kQueues, "", name));
  if (auto text = as_object(values, queue, resources::kQueues)) {
    world.out += *text;
    return {};
  }
  QueueCounts counts = count_groups_or_ask(*server, {queue});
  world.as_it_is = is_for_people(world, values);
  world.out += is_for_people(world, values) ? queue_table_for_people(world, {queue}, counts)
                                            : queue_table({queue}, counts, true);
  return {};
}

}  // namespace

Command queue_commands() {
  using enum Flag::Type;
  const Flag name{"name", 'n', kText, "", "the name of queue"};
  Command queue{.name = "queue", .summary = "Queue Operations"};
  queue.children = {
      {.name = "create",
       .summary = "creates queue",
       .flags = with_connection({{"name", 'n', kText, "test", "the name of queue"},
                                 {"weight", 'w', kInt32, "1", "the weight of the queue"},
                                 {"state", 'S', kText, "Open", "the state of queue"}}),
       .run = create_queue},
      {.name = "delete", .summary = "delete queue", .flags = with_connection({name}), .run = delete_queue},
      {.name = "operate",
       .summary = "operate queue",
       .flags = with_connection(
           {name,
            {"weight", 'w', kInt32, "0", "the weight of the queue"},
            {"action", 'a', kText, "", "operate action to queue, valid actions are open, close, update"}}),
       .run = operate_queue},
      {.name = "list",
       .summary = "lists all the queue",
       .flags = with_connection({table_or_output_flag()}),
       .run = list_queues},
      {.name = "get",
       .summary = "get a queue",
       .flags = with_connection({name, table_or_output_flag()}),
       .run = get_queue,
       .first_argument = "name"}};
  return queue;
}

}  // namespace cli
