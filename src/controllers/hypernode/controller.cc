// Keys: "config", "source label", "source ufm", and "status NAME" for each HyperNode.
#include "controllers/hypernode/controller.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "api/meta/resource.h"
#include "base/base64.h"
#include "base/format.h"
#include "controllers/framework/ongoing_states.h"
#include "controllers/framework/pauses.h"
#include "controllers/hypernode/step.h"

namespace controllers::hypernode {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kConfig = "config", kLabel = "source label", kUfm = "source ufm", kStatus = "status ";
constexpr std::string_view kConfigField = "volcano-controller.conf";
constexpr base::Duration kUfmTimeout = base::seconds(30);
// A Secret often comes a little after what names it.
constexpr base::Duration kCredentialsLook = base::seconds(30);
constexpr std::size_t kUfmAnswerMax = std::size_t{100} << 20;

// The state of the talk with a UFM server.
struct Ufm {
  enum class Phase : std::uint8_t { kNone, kCredentials, kPorts, kResult, kRest };
  Phase phase = Phase::kNone;
  Source source;      // as it was when the talk began
  base::Time next{};  // of kRest: when the next one begins
  std::string user, password;
  std::string answer;                                          // of the server
  std::string problem;                                         // why there is none
  bool lacks_credentials = false, lacked_credentials = false;  // this one, the one before
};

class HyperNodeController final : public Controller {
 public:
  explicit HyperNodeController(Options options)
      : options_(std::move(options)), config_key_(options_.configmap_namespace + "/" + options_.configmap_name) {}

  std::string_view name() const override { return "hyperNode-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kHyperNodes, "create update delete"}, {resources::kHyperNodes, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{.resource = resources::kConfigMaps,
             .keys =
                 [](const View&, const Json&) {
                   return Keys{std::string(kConfig), std::string(kLabel), std::string(kUfm)};
                 },
             .only = {{options_.configmap_namespace, options_.configmap_name}}},
            {.resource = resources::kNodes,
             .keys = [](const View& view, const Json&) { return keys_of_node_change(view); },
             .matters =
                 [](const Json* before, const Json* after) {
                   return !before || !after || (*before)["metadata"]["labels"] != (*after)["metadata"]["labels"];
                 }},
            {.resource = resources::kHyperNodes, .keys = [](const View&, const Json& object) {
               return Keys{std::string(kStatus) + std::string(api::name_of(object)), std::string(kLabel)};
             }}};
  }

  // The HyperNodes whose count may change with the nodes.
  std::vector<IndexBy> indexes() const override {
    return {{resources::kHyperNodes, "selects", [](const Json& object) {
               for (const Json& member : object["spec"]["members"].items())
                 if (member["selector"].has("regexMatch") || member["selector"].has("labelMatch")) return Keys{"nodes"};
               return Keys{};
             }}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    if (key == kConfig) return check_config(view);
    if (key == kLabel) return look_at_labels(view);
    if (key == kUfm) return look_at_ufm(view, turn.now);
    return report_status(view, key.substr(kStatus.size()));
  }

  void finished(const std::string& key, Ending ending) override {
    if (key == kConfig) config_reported_ = std::move(next_reported_);
    if (key == kLabel) label_taken_ = std::move(next_taken_);
    if (key != kUfm) return;
    if (restart_)
      ufm_ = *std::exchange(restart_, std::nullopt);
    else if (ufm_.phase == Ufm::Phase::kCredentials && ending.succeeded && !ending.fetched.empty())
      take_credentials(ending.fetched.front());
    else if (ufm_.phase == Ufm::Phase::kPorts && !ending.answers.empty())
      take_answer(ending.answers.front());
  }

 private:
  static Keys keys_of_node_change(const View& view) {
    Keys keys = {std::string(kLabel)};
    for (const Json* one : view.by_index(resources::kHyperNodes, "selects", "nodes"))
      keys.push_back(std::string(kStatus) + std::string(api::name_of(*one)));
    return keys;
  }

  // The sources that the ConfigMap enables; nothing if it cannot be read, and what was found before stays.
  base::Result<std::vector<Source>> sources(const View& view) const {
    const Json* map = view.find(resources::kConfigMaps, config_key_);
    if (map == nullptr) return std::vector<Source>();
    return parse_discovery((*map)["data"][kConfigField].as_string());
  }
  std::optional<Source> source(const View& view, std::string_view name) const {
    const auto all = sources(view);
    if (!all.ok()) return std::nullopt;
    const auto found = std::ranges::find(*all, name, &Source::name);
    if (found == all->end() || !found->problem.empty()) return std::nullopt;
    return *found;
  }

  // For what is said of one that is not there.
  Json config_map() const {
    return Json::object(
        {{"apiVersion", "v1"},
         {"kind", "ConfigMap"},
         {"metadata", Json::object({{"namespace", options_.configmap_namespace}, {"name", options_.configmap_name}})}});
  }

  // A fault of the configuration is said once, while it lasts.
  Plan check_config(const View& view) {
    Plan plan;
    const Json* map = view.find(resources::kConfigMaps, config_key_);
    OngoingStates reported(config_reported_);
    const auto warn = [&](const std::string& text) {
      if (reported.is_new(text) && map != nullptr) plan.event(*map, "Warning", "InvalidNetworkTopologyDiscovery", text);
    };
    had_config_ |= map != nullptr;
    if (map == nullptr && had_config_ && reported.is_new("gone"))
      plan.event(config_map(), "Warning", "ConfigMapGone",
                 base::format(
                     "ConfigMap {} is gone: HyperNodes are not looked for until it is back; those that were found stay",
                     config_key_));
    if (const auto all = sources(view); !all.ok()) {
      warn(base::format("{}: {}", kConfigField, all.error().message));
    } else {
      for (const Source& one : *all)
        if (!one.problem.empty()) warn(base::format("source {}: {}", one.name, one.problem));
    }
    next_reported_ = reported.all();
    return plan;
  }

  // A HyperNode that a source found and that is somebody else's: said once, and left alone. Returns all of it.
  std::set<std::string> report_taken(const View& view, std::string_view source, const std::vector<std::string>& taken,
                                     const std::set<std::string>& before, Plan& plan) const {
    OngoingStates reported(before);
    for (const std::string& name : taken) {
      const Json* object = view.find(resources::kHyperNodes, name);
      if (!reported.is_new(name) || object == nullptr) continue;
      const std::string_view owner = api::label_of(*object, kSourceLabel);
      plan.event(*object, "Warning", "NameTaken",
                 base::format("the source {} found a HyperNode of this name, which belongs to {}; it is left as it is",
                              source, owner.empty() ? "nobody" : base::format("the source {}", owner)));
    }
    return reported.all();
  }

  Plan look_at_labels(const View& view) {
    Plan plan;
    next_taken_ = label_taken_;
    const std::optional<Source> source = this->source(view, "label");
    if (!source) return plan;
    const std::vector<const Json*> all = view.all(resources::kHyperNodes);
    const std::vector<Found> found = discover_by_label(source->types, view.all(resources::kNodes), all);
    next_taken_ = report_taken(view, "label", reconcile(found, "label", all, plan), label_taken_, plan);
    return plan;
  }

  // One step of the talk: the Secret, then the question, then what follows from the answer.
  Plan look_at_ufm(const View& view, base::Time now) {
    Plan plan;
    const std::optional<Source> source = this->source(view, "ufm");
    if (!source) {
      restart_ = Ufm{};
      return plan;
    }
    const bool is_over =
        ufm_.phase == Ufm::Phase::kRest && pause_left(ufm_.next, now, source->interval) <= base::Duration{};
    if (ufm_.phase == Ufm::Phase::kNone || ufm_.source != *source || is_over) {
      restart_ = Ufm{.phase = Ufm::Phase::kCredentials,
                     .source = *source,
                     .lacked_credentials = is_over && ufm_.lacks_credentials};
      plan.requeue_after({});
    } else if (ufm_.phase == Ufm::Phase::kRest) {
      plan.requeue_after(ufm_.next - now);
    } else if (ufm_.phase == Ufm::Phase::kCredentials) {
      plan.fetch(resources::kSecrets, "Secret", source->ufm.secret_namespace, source->ufm.secret_name);
      plan.requeue_after({});
    } else if (ufm_.phase == Ufm::Phase::kPorts) {
      plan.ask({.host = source->ufm.host,
                .port = source->ufm.port,
                .path = source->ufm.path + "/ufmRest/resources/ports",
                .header = {"Authorization", "Basic " + base::base64_encode(ufm_.user + ":" + ufm_.password)},
                .timeout = kUfmTimeout,
                .tls = source->ufm.tls,
                .insecure_skip_verify = source->ufm.insecure_skip_verify,
                .answer_bytes_max = kUfmAnswerMax});
      plan.requeue_after({});
    } else {
      take_result(view, plan);
      const base::Duration rest =
          ufm_.lacks_credentials ? std::min(source->interval, kCredentialsLook) : source->interval;
      restart_ = Ufm{.phase = Ufm::Phase::kRest,
                     .source = *source,
                     .next = now + rest,
                     .lacks_credentials = ufm_.lacks_credentials};
      plan.requeue_after(rest);
    }
    return plan;
  }

  void give_up(std::string problem) {
    ufm_.phase = Ufm::Phase::kResult;
    ufm_.problem = std::move(problem);
  }

  void take_credentials(const Json& secret) {
    const auto field = [&](std::string_view name) {
      const auto decoded = base::base64_decode(secret["data"][name].as_string());
      return decoded.ok() ? *decoded : std::string();
    };
    ufm_.lacks_credentials = true;
    if (secret.is_null()) return give_up("the Secret of credentials.secretRef does not exist");
    ufm_.user = field("username");
    ufm_.password = field("password");
    if (ufm_.user.empty() || ufm_.password.empty()) return give_up("the Secret lacks username or password");
    ufm_.lacks_credentials = false;
    ufm_.phase = Ufm::Phase::kPorts;
  }

  void take_answer(Answer& answer) {
    if (!answer.error.empty()) return give_up(std::move(answer.error));
    if (answer.status != 200) return give_up(base::format("the server answered {}", answer.status));
    ufm_.phase = Ufm::Phase::kResult;
    ufm_.answer = std::move(answer.body);
  }

  // A server that does not answer, or with rubbish, changes nothing.
  void take_result(const View& view, Plan& plan) const {
    std::size_t unusable = 0;
    std::string problem = ufm_.problem;
    if (problem.empty()) {
      const auto found = discover_by_ports(ufm_.answer, unusable);
      if (found.ok())
        report_taken(view, "ufm", reconcile(*found, "ufm", view.all(resources::kHyperNodes), plan), {}, plan);
      else
        problem = found.error().message;
    }
    if (unusable > 0)
      problem = base::format("{} ports have no usable names of a node and a leaf; they are left out", unusable);
    const Json* map = view.find(resources::kConfigMaps, config_key_);
    const bool is_reported = ufm_.lacks_credentials && ufm_.lacked_credentials;
    if (!problem.empty() && map != nullptr && !is_reported)
      plan.event(*map, "Warning", "NetworkTopologyDiscoveryFailed", base::format("source ufm: {}", problem));
  }

  static Plan report_status(const View& view, const std::string& name) {
    Plan plan;
    const Json* object = view.find(resources::kHyperNodes, name);
    if (object == nullptr || api::is_deleting(*object)) return plan;
    const std::int64_t count = count_members(*object, view.all(resources::kNodes));
    if ((*object)["status"]["nodeCount"].as_int() == count) return plan;
    Json changed = *object;
    changed.set("apiVersion", "topology.volcano.sh/v1alpha1");
    changed.set("kind", "HyperNode");
    changed.edit("status").set("nodeCount", count);
    plan.set_status(resources::kHyperNodes, std::move(changed));
    return plan;
  }

  Options options_;
  std::string config_key_;
  Ufm ufm_;
  bool had_config_ = false;
  std::set<std::string> config_reported_, label_taken_;
  // The result of the step that is carried out.
  std::optional<Ufm> restart_;
  std::set<std::string> next_reported_, next_taken_;
};

}  // namespace

std::unique_ptr<Controller> make_hypernode_controller(Options options) {
  return std::make_unique<HyperNodeController>(std::move(options));
}

}  // namespace controllers::hypernode
