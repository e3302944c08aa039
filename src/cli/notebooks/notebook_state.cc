// How notebooks and TensorBoards stand, for a person at a terminal: states, waiting, links, lists.
#include "api/pods/notebook_state.h"

#include <algorithm>

#include "api/schema/quantity.h"
#include "base/format.h"
#include "cli/notebooks/notebook.h"
#include "cli/output.h"
#include "cli/reasons.h"
#include "cli/table.h"
#include "cli/text/people_table.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kGroupAnnotation = "scheduling.k8s.io/group-name";
constexpr int kAnyWidth = 100'000;
constexpr base::Duration kLook = base::seconds(2);  // between two looks, where no event comes

// Why the group of a pod waits; empty where it has none, or a person may not see it.
std::string why_group_waits(Api& server, const std::string& ns, const Json* pod) {
  if (pod == nullptr || !(*pod)["spec"]["nodeName"].as_string().empty()) return {};
  const std::string name(api::annotation_of(*pod, kGroupAnnotation));
  if (name.empty()) return {};
  const auto group = get(server, resources::kPodGroups, ns, name);
  if (!group.ok()) return {};
  const auto queue = get(server, resources::kQueues, "", (*group)["spec"]["queue"].str());
  if (!queue.ok() && queue.error().code != base::Code::kNotFound) return {};
  const auto events = admission_events(server, ns);
  return reason_of(*group, queue.ok() ? &*queue : nullptr, Json::object(), events.ok() ? *events : AdmissionEvents());
}

base::Result<NotebookStanding> standing(Api& server, const NotebookKind& kind, const std::string& ns, Json object) {
  const std::string name(api::name_of(object));
  api::NotebookSeen seen{std::move(object), {}};
  TRY(seen.pods, list(server, resources::kPods, ns, base::format("{}={}", kind.pod_label, name)));
  const Json* pod = api::pod_that_counts(seen.pods);
  seen.group_waits = why_group_waits(server, ns, pod);
  const bool is_asked = pod == nullptr || !(*pod)["spec"]["nodeName"].as_string().empty();
  if (is_asked && seen.group_waits.empty()) {
    auto events = list(server, {.verb = client::Verb::kList,
                                .resource = resources::kEvents,
                                .ns = ns,
                                .name = {},
                                .subresource = {},
                                .field_selector = "involvedObject.name=" + name});
    if (events.ok()) seen.events = *std::move(events);
  }
  const api::NotebookState state = api::notebook_state(seen);
  return NotebookStanding{std::string(api::phase_word(state.phase)), state.reason,
                          state.phase == api::NotebookState::Phase::kReady, false};
}

std::string gpus_of(const Json& notebook) {
  std::int64_t sum = 0;
  for (const Json& container : notebook["spec"]["template"]["spec"]["containers"].items())
    for (const Json::Member& limit : container["resources"]["limits"].members())
      if (limit.name().find("gpu") != std::string_view::npos)
        if (const auto amount = api::Quantity::from_json(limit.value)) sum += amount->value();
  return sum == 0 ? "-" : std::to_string(sum);
}

}  // namespace

base::Result<NotebookStanding> standing_of(Api& server, const NotebookKind& kind, const std::string& ns,
                                           const std::string& name) {
  auto object = get(server, kind.resource, ns, name);
  if (!object.ok() && object.error().code == base::Code::kNotFound)
    return NotebookStanding{"gone", "it was deleted", false, true};
  if (!object.ok()) return object.take_error();
  return standing(server, kind, ns, *std::move(object));
}

base::Status wait_until_ready(World& world, Api& server, const NotebookKind& kind, const std::string& ns,
                              const std::string& name, base::Duration limit) {
  const base::Time begin = world.now();
  const int stream = server.follow(
      {.resource = resources::kPods, .ns = ns, .label_selector = base::format("{}={}", kind.pod_label, name)});
  std::string reported;
  base::Status end;
  for (;;) {
    auto now = standing_of(server, kind, ns, name);
    if (!now.ok()) {
      end = now.take_error();
      break;
    }
    const std::string text =
        base::format("{} {}/{}: {}{}{}", kind.word, ns, name, now->word, now->reason.empty() ? "" : ": ", now->reason);
    if (std::exchange(reported, text) != text) {
      world.out += text + "\n";
      world.show(world);
    }
    if (now->is_ready) break;
    if (now->is_gone || now->word == "stopped") {
      end = usage_error(base::format("{} {}/{} is {}", kind.word, ns, name, now->word));
      break;
    }
    base::Duration patience = kLook;
    if (limit.ns > 0) patience = std::min(patience, limit - (world.now() - begin));
    if (patience.ns <= 0) {
      end = base::make_error(base::Code::kTimeout,
                             base::format("not ready after {}; it goes on by itself", base::format_go_duration(limit)));
      break;
    }
    const Happening news = server.next(patience);
    if (news.kind == Happening::Kind::kEnd && !news.end.ok()) {
      end = news.end;
      break;
    }
  }
  server.stop(stream);
  return end;
}

void print_link(World& world, const Values& values, const NotebookKind& kind, const std::string& ns,
                const std::string& name) {
  const std::string place = base::format("/{}/{}/{}/", kind.word, ns, name);
  const auto link = world.page_link(values.text("kubeconfig"), values.text("master"), place);
  if (!link.ok()) {
    world.err += base::format("# no link: {}\n", link.error().message);
    return;
  }
  world.out += *link + "\n";
  world.err += "# good once, for an hour; then the browser has a session\n";
}

base::Status list_standings(World& world, const Values& values, const NotebookKind& kind) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string ns = values.on("all-namespaces") ? std::string() : values.text("namespace");
  TRY(std::vector<Json> objects, list(*server, kind.resource, ns));
  if (auto text = as_list(values, objects, kind.resource)) {
    world.out += *text;
    return {};
  }
  if (objects.empty()) {
    world.out += "No resources found\n";
    return {};
  }
  std::ranges::sort(objects, [](const Json& a, const Json& b) { return natural_less(api::key_of(a), api::key_of(b)); });
  const bool is_notebook = std::string_view(kind.word) == "notebook";
  std::vector<std::vector<std::string>> rows = {
      {"NAMESPACE", "NAME", "STATE", is_notebook ? "GPUS" : "LOGS", "AGE", "REASON"}};
  for (const Json& object : objects) {
    const std::string of(api::namespace_of(object));
    TRY(const NotebookStanding now, standing(*server, kind, of, object));
    rows.push_back({of, std::string(api::name_of(object)), now.word,
                    is_notebook ? gpus_of(object) : object["spec"]["logspath"].str(), age_of(world, object),
                    now.reason.empty() ? "-" : now.reason});
  }
  world.as_it_is = true;
  Terminal terminal = world.terminal;
  if (!terminal.is_for_people) terminal.columns = kAnyWidth;  // a program reads whole reasons
  world.out += people_table(terminal, std::move(rows));
  return {};
}

base::Status open_by_link(World& world, const Values& values, const NotebookKind& kind) {
  const std::string& name = values.text("name");
  if (name.empty()) return usage_error("a name must be given");
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  TRY(const NotebookStanding now, standing_of(*server, kind, values.text("namespace"), name));
  if (now.is_gone)
    return base::make_error(base::Code::kNotFound,
                            base::format("namespace {} has no {} of that name", values.text("namespace"), kind.word));
  if (!now.is_ready)
    world.err += base::format("# it {}{}{}{}\n", now.word == "waits" ? "" : "is ", now.word,
                              now.reason.empty() ? "" : ": ", now.reason);
  print_link(world, values, kind, values.text("namespace"), name);
  return {};
}

}  // namespace cli
