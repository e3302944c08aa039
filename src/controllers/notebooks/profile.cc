// One look at a profile: its namespace first, since the others are in it.
#include "controllers/notebooks/profile.h"

#include <map>
#include <set>

#include "api/kubeflow/v1/profile.h"
#include "base/format.h"
#include "controllers/framework/ongoing_states.h"
#include "controllers/notebooks/istio.h"
#include "controllers/notebooks/owned.h"
#include "controllers/notebooks/profile_objects.h"
#include "controllers/workloads/pods.h"

namespace controllers::notebooks {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr const char* kFinalizer = "profile-finalizer";

class ProfileStep {
 public:
  ProfileStep(const View& view, const Json& profile, const Turn& turn, const Options& options, OwnedObjects& owned,
              std::set<std::string>& reported)
      : view_(view),
        profile_(profile),
        turn_(turn),
        options_(options),
        owned_(owned),
        reported_(reported),
        reported_now_(reported),
        name_(api::name_of(profile)) {}

  Plan take(const std::optional<api::ResourceId>& policies) {
    plan_.set_subject(profile_);
    if (api::is_deleting(profile_)) {
      set_finalizer(false);
      return std::move(plan_);
    }
    if (profile_["spec"]["owner"]["name"].as_string().empty()) {
      report("Failed", "spec.owner.name is empty");
    } else if (keep_namespace()) {
      keep_objects(policies);
      report("Successful", "");
    }
    reported_ = reported_now_.all();
    return std::move(plan_);
  }

 private:
  // Without a plugin nothing has to be undone when it ends; the finalizer is there for programs that look for it.
  void set_finalizer(bool wanted) {
    Json finalizers = Json::array();
    bool has = false;
    for (const Json& one : profile_["metadata"]["finalizers"].items()) {
      const bool own = one.as_string() == kFinalizer;
      has = has || own;
      if (!own || wanted) finalizers.push_back(one);
    }
    if (has == wanted) return;
    if (wanted) finalizers.push_back(kFinalizer);
    Json metadata = Json::object({{"uid", api::uid_of(profile_)},
                                  {"resourceVersion", api::resource_version_of(profile_)},
                                  {"finalizers", std::move(finalizers)}});
    plan_.patch(resources::kProfiles, profile_, client::PatchType::kMerge,
                Json::object({{"metadata", std::move(metadata)}}));
  }

  // False: it is not there yet, or somebody else's.
  bool keep_namespace() {
    const Json* there = view_.find(resources::kNamespaces, name_);
    if (there == nullptr) {
      set_finalizer(true);
      plan_.begin_stage("FailedCreate", "Namespace " + name_ + " cannot be made: {}");
      plan_.create(resources::kNamespaces, profile_namespace(profile_, options_));
      return false;
    }
    const std::string_view owner = profile_["spec"]["owner"]["name"].as_string();
    if (api::annotation_of(*there, "owner") != owner) {
      report("Failed", base::format("namespace already exist, but not owned by profile creator {}", owner));
      return false;
    }
    if (api::is_deleting(*there)) {
      report("Failed", base::format("namespace {} is being deleted", name_));
      return false;
    }
    set_finalizer(true);
    Json labels = Json::object();
    for (const auto& [label, value] : options_.namespace_labels) {
      const bool has = (*there)["metadata"]["labels"].has(label);
      if (value.empty() ? has : !has) labels.set(label, value.empty() ? Json() : Json(value));
    }
    if (labels.empty()) return true;
    Json metadata = Json::object({{"uid", api::uid_of(*there)}, {"labels", std::move(labels)}});
    plan_.patch(resources::kNamespaces, *there, client::PatchType::kMerge,
                Json::object({{"metadata", std::move(metadata)}}));
    return true;
  }

  void keep_objects(const std::optional<api::ResourceId>& policies) {
    if (options_.makes_roles)
      for (const Json& role : profile_roles())
        if (view_.find(kClusterRoles, api::name_of(role)) == nullptr)
          plan_.create(kClusterRoles, role).existing_is_fine = true;
    if (policies) keep_stranger(plan_, view_, profile_, *policies, profile_policy(*policies, profile_, options_));
    for (const Json& account : profile_accounts(profile_)) keep(resources::kServiceAccounts, account);
    for (const Json& binding : profile_bindings(profile_)) keep(kRoleBindings, binding);
    if (const Json quota = profile_quota(profile_); !quota.is_null()) return keep(resources::kResourceQuotas, quota);
    const Json* old = view_.find(resources::kResourceQuotas, base::format("{}/{}", name_, kQuota));
    if (old != nullptr && api::controller_of(*old)["uid"].as_string() == api::uid_of(profile_))
      plan_.remove(resources::kResourceQuotas, *old);
  }

  void keep(const api::ResourceId& resource, const Json& wanted) {
    if (owned_.keep(plan_, view_, profile_, resource, wanted) != OwnedObjects::Kept::kTaken) return;
    const std::string text = OwnedObjects::taken_text(wanted);
    if (reported_now_.is_new(text)) plan_.event(profile_, "Warning", "NameTaken", text);
  }

  // COMPAT(profile-conditions)
  void report(const char* type, std::string message) {
    Json condition = Json::object({{"type", type}, {"status", "True"}});
    if (!message.empty()) {
      if (reported_now_.is_new(message)) plan_.event(profile_, "Warning", "Failed", message);
      condition.set("message", std::move(message));
    }
    plan_.begin_stage();
    workloads::write_status(plan_, resources::kProfiles, profile_,
                            Json::object({{"conditions", Json::array({std::move(condition)})}}), turn_);
  }

  const View& view_;
  const Json& profile_;
  const Turn& turn_;
  const Options& options_;
  OwnedObjects& owned_;
  std::set<std::string>& reported_;
  OngoingStates reported_now_;
  std::string name_;
  Plan plan_;
};

class ProfileController final : public Controller {
 public:
  explicit ProfileController(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return "profile-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    std::vector<Write> rows = {
        {resources::kProfiles, "patch"},          {resources::kProfiles, "update", "status"},
        {resources::kNamespaces, "create patch"}, {resources::kServiceAccounts, "create update"},
        {kRoleBindings, "create update"},         {resources::kResourceQuotas, "create update delete"}};
    if (options_.makes_roles) rows.push_back({kClusterRoles, "create"});
    if (options_.istio) rows.push_back({{"security.istio.io", "v1", "authorizationpolicies"}, "create patch"});
    return rows;
  }
  std::vector<Wake> wakes_on() const override {
    const auto by_name = [](const View& view, const Json& object) {
      std::string name(api::name_of(object));
      return view.find(resources::kProfiles, name) != nullptr ? Keys{std::move(name)} : Keys{};
    };
    std::vector<Wake> wakes = {{.resource = resources::kProfiles,
                                .keys = [](const View&, const Json& one) { return Keys{api::key_of(one)}; },
                                .may_be_absent = true},
                               {resources::kNamespaces, by_name},
                               {resources::kServiceAccounts, by_controller},
                               {kRoleBindings, by_controller},
                               {resources::kResourceQuotas, by_controller}};
    if (options_.makes_roles) wakes.push_back({kClusterRoles, [](const View&, const Json&) { return Keys{}; }});
    return wakes;
  }

  bool follows_definitions() const override { return true; }
  void kind_comes(const api::KindInfo& kind) override { policies_.comes(kind); }
  void kind_goes(const api::ResourceId& resource) override { policies_.goes(resource); }
  std::vector<Wake> wakes_on_kind(const api::ResourceId& resource) override {
    if (!policies_.is(resource)) return {};
    return {{resource, by_controller}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* profile = view.find(resources::kProfiles, key);
    if (profile != nullptr)
      return ProfileStep(view, *profile, turn, options_, owned_, reported_[key]).take(policies_.resource());
    reported_.erase(key);
    return {};
  }

 private:
  static Keys by_controller(const View&, const Json& object) {
    const Json& owner = api::controller_of(object);
    return owner["kind"].as_string() == "Profile" ? Keys{owner["name"].str()} : Keys{};
  }

  Options options_;
  OwnedObjects owned_;
  KindOfStranger policies_ = authorization_policies();
  std::map<std::string, std::set<std::string>> reported_;
};

}  // namespace

std::unique_ptr<Controller> make_profile_controller(Options options) {
  return std::make_unique<ProfileController>(std::move(options));
}

}  // namespace controllers::notebooks
