// Writes to the API server: whatever the body is, it is answered.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "admission/rules/hooks.h"
#include "apiserver/kinds/pods/runtime_class_hook.h"
#include "apiserver/kinds/pods/service_account_hook.h"
#include "apiserver/kinds/storage/storage_class_hook.h"
#include "apiserver/kinds/storage/storage_protection_hook.h"
#include "apiserver/pipeline/api.h"
#include "client/fake_env_for_tests.h"
#include "targets.h"

namespace fuzz {
namespace {

using api::Json;

// The hooks of `volcano up`: they see objects before anybody has looked at their types.
std::vector<api::AdmissionHook> all_hooks() {
  std::vector<api::AdmissionHook> hooks = admission::hooks({});
  for (api::AdmissionHook& hook : apiserver::storage_protection_hooks()) hooks.push_back(std::move(hook));
  hooks.push_back(apiserver::service_account_hook());
  hooks.push_back(apiserver::runtime_class_hook());
  hooks.push_back(apiserver::storage_class_hook());
  return hooks;
}

// Objects that make them do something.
constexpr std::array kThere = {
    R"({"apiVersion":"node.k8s.io/v1","kind":"RuntimeClass","metadata":{"name":"vm"},"handler":"vm",
        "overhead":{"podFixed":{"cpu":"1"}},"scheduling":{"nodeSelector":{"vm":"yes"},
        "tolerations":[{"key":"vm","operator":"Exists"}]}})",
    R"({"apiVersion":"v1","kind":"LimitRange","metadata":{"name":"usual"},"spec":{"limits":[{"type":"Container",
        "default":{"cpu":"2"},"defaultRequest":{"cpu":"1"},"maxLimitRequestRatio":{"cpu":"4"}}]}})",
    R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"usual","annotations":
        {"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p"})"};

apiserver::Request request_for(const api::KindInfo& kind, apiserver::Verb verb, std::string name, const Json& body);

struct World {
  client::testing::FakeEnv env;
  std::unique_ptr<rt::KvStore> kv = rt::make_memory_kv();
  std::unique_ptr<store::Store> store = *store::Store::open(env, *kv);
  apiserver::Api api{env, *store, {all_hooks(), nullptr}};

  World() {
    api.bootstrap([](base::Status) {});
    env.settle();
    for (const char* text : kThere) {
      const Json object = *api::parse_json(text);
      const api::KindInfo* kind = api::find_kind_named(object["apiVersion"].as_string(), object["kind"].as_string());
      promise(kind != nullptr && answers(request_for(*kind, apiserver::Verb::kCreate, "", object)), "what is there");
    }
  }

  bool answers(apiserver::Request request) {
    bool answered = false;
    api.call(std::move(request), [&](const base::Result<apiserver::Answer>&) { answered = true; });
    env.settle();
    return answered;
  }
};

apiserver::Request request_for(const api::KindInfo& kind, apiserver::Verb verb, std::string name, const Json& body) {
  apiserver::Request request;
  request.verb = verb;
  request.kind = &kind;
  request.resource = static_cast<std::uint32_t>(&kind - api::all_kinds().data());
  if (kind.namespaced) request.ns = "default";
  request.name = std::move(name);
  request.body = body;
  request.field_manager = "fuzz";
  request.force = true;
  return request;
}

// Comes and goes several times in one turn, while the first commit is under way.
void write_in_one_turn(World& world, const api::KindInfo& kind, const std::string& name, const Json& object) {
  using apiserver::Verb;
  int asked = 0, answered = 0;
  for (const Verb verb : {Verb::kDelete, Verb::kCreate, Verb::kUpdate, Verb::kDelete, Verb::kCreate, Verb::kDelete}) {
    const bool deletes = verb == Verb::kDelete;
    ++asked;
    world.api.call(request_for(kind, verb, verb == Verb::kCreate ? "" : name, deletes ? Json() : object),
                   [&](const base::Result<apiserver::Answer>&) { ++answered; });
  }
  world.env.settle();
  promise(asked == answered, "writes in one turn are answered");
}

}  // namespace

// One object a line: the first is made, and every one then takes its place in each way there is.
void writes(std::string_view input) {
  using apiserver::PatchType;
  using apiserver::Verb;
  World world;
  const api::KindInfo* kind = nullptr;
  std::string name;
  Json last;
  for (int lines = 0; !input.empty() && lines < 8; ++lines) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const auto parsed = api::parse_json(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
    if (!parsed.ok()) continue;
    if (!kind) {
      kind = api::find_kind_named((*parsed)["apiVersion"].as_string(), (*parsed)["kind"].as_string());
      if (!kind) return;
      name = (*parsed)["metadata"]["name"].as_string();
    }
    last = *parsed;
    promise(world.answers(request_for(*kind, Verb::kCreate, "", *parsed)), "a create is answered");
    promise(world.answers(request_for(*kind, Verb::kUpdate, name, *parsed)), "an update is answered");
    for (const PatchType type : {PatchType::kMerge, PatchType::kStrategic, PatchType::kApply, PatchType::kJson}) {
      apiserver::Request patch = request_for(*kind, Verb::kPatch, name, *parsed);
      patch.patch_type = type;
      promise(world.answers(std::move(patch)), "a patch is answered");
    }
    for (const std::string& sub : kind->subresources) {
      apiserver::Request post = request_for(*kind, Verb::kCreate, name, *parsed);
      post.subresource = sub;
      promise(world.answers(std::move(post)), "a subresource answers", sub);
    }
  }
  if (kind) write_in_one_turn(world, *kind, name, last);
  const auto reopened = store::Store::open(world.env, *world.kv);
  promise(reopened.ok() && (*reopened)->broken().empty(), "what was stored can be read back");
  if (kind) {
    const auto table = static_cast<std::uint32_t>(kind - api::all_kinds().data());
    promise(world.store->count(table) == (*reopened)->count(table), "what is served is what was stored");
  }
  if (kind) promise(world.answers(request_for(*kind, Verb::kDelete, name, Json())), "a deletion is answered");
}

}  // namespace fuzz
