// Which Secrets are of an account, and what one of them lacks.
#include "apiserver/pipeline/rights/secret_tokens.h"

#include <map>
#include <set>
#include <utility>

#include "api/kinds.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/log.h"

namespace apiserver {

using api::Json;
using base::Code;
using store::ObjectPtr;
using store::View;

namespace {

constexpr std::string_view kAccountUid = "kubernetes.io/service-account.uid";
constexpr std::size_t kBatch = 50;  // Secrets looked at in one turn of the loop, and as much of them as one may have
constexpr base::Duration kAfterFailure = base::seconds(5);

std::uint32_t index_of(const api::ResourceId& id) {
  return static_cast<std::uint32_t>(api::find_kind(id) - api::all_kinds().data());
}

// The account whose token the Secret is for; empty: it is for none. Most texts need not be read.
std::string account_in(const ObjectPtr& secret) {
  if (!secret || secret->bytes.find(kTokenSecretType) == std::string::npos) return {};
  const Json json = secret->json();
  if (json["type"].as_string() != kTokenSecretType) return {};
  return std::string(api::annotation_of(json, kTokenSecretAccount));
}

}  // namespace

struct SecretTokens::State : std::enable_shared_from_this<SecretTokens::State> {
  using Key = std::pair<std::string, std::string>;  // namespace, name

  State(rt::Env& e, store::Store& s) : env(e), store(s) {}

  rt::Env& env;
  store::Store& store;
  std::shared_ptr<const AccountTokens> tokens = {};
  Write write = {};
  std::string root_ca = {};  // base64
  const std::uint32_t secrets = index_of(api::resources::kSecrets);
  const std::uint32_t accounts = index_of(api::resources::kServiceAccounts);
  std::map<Key, std::set<std::string>> of_account;  // names of Secrets, also of accounts that are not there
  std::set<Key> due;                                // Secrets to be looked at in the next turns

  void begin() {
    store.for_each(secrets, "", "", View::kLatest, [this](const ObjectPtr& secret) {
      secret_changed(nullptr, secret);
      return true;
    });
    store.on_latest(secrets, [weak = weak_from_this()](const ObjectPtr& before, const ObjectPtr& after) {
      if (const auto self = weak.lock()) self->secret_changed(before, after);
    });
    store.on_latest(accounts, [weak = weak_from_this()](const ObjectPtr& before, const ObjectPtr& after) {
      if (const auto self = weak.lock()) self->account_changed(before, after);
    });
  }

  void secret_changed(const ObjectPtr& before, const ObjectPtr& after) {
    if (const std::string account = account_in(before); !account.empty()) {
      const auto known = of_account.find({before->ns, account});
      if (known != of_account.end() && known->second.erase(before->name) > 0 && known->second.empty())
        of_account.erase(known);
    }
    const std::string account = account_in(after);
    if (account.empty()) return;
    of_account[{after->ns, account}].insert(after->name);
    look_later({after->ns, after->name});
  }

  void account_changed(const ObjectPtr& before, const ObjectPtr& after) {
    if ((!before && !after) || (before && after && before->uid == after->uid)) return;
    const ObjectPtr& one = after ? after : before;
    const auto known = of_account.find({one->ns, one->name});
    if (known == of_account.end()) return;
    for (const std::string& secret : known->second) look_later({one->ns, secret});
  }

  void look_later(Key key) {
    const bool comes = !due.empty();
    due.insert(std::move(key));
    if (!comes) post_look();
  }

  void post_look() {
    env.loop().post([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      if (!self->store.failing()) return self->look_at_some();
      // A change that a full disk undoes was told.
      self->env.loop().after(kAfterFailure, [weak] {
        if (const auto later = weak.lock()) later->look_at_some();
      });
    });
  }

  void look_at_some() {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < kBatch && bytes < kTokenSecretBytesMax && !due.empty(); ++i) {
      const Key key = *due.begin();
      bytes += look(key);
      due.erase(key);  // what it wrote is not looked at again
    }
    if (!due.empty()) post_look();
  }

  // How much was read.
  std::size_t look(const Key& key) {
    const ObjectPtr secret = store.find(secrets, key.first, key.second, View::kLatest);
    const std::string name = account_in(secret);
    if (name.empty()) return 0;
    const Json json = secret->json();
    const ObjectPtr account = store.find(accounts, key.first, name, View::kLatest);
    const std::string_view uid = api::annotation_of(json, kAccountUid);
    if (api::is_deleting(json)) return secret->bytes.size();
    if (!account || (!uid.empty() && uid != account->uid))
      remove(*secret);
    else
      fill(*secret, json, *account);
    return secret->bytes.size();
  }

  void fill(const store::Object& secret, const Json& json, const store::Object& account) {
    if (secret.bytes.size() > kTokenSecretBytesMax)
      return finish(secret,
                    base::make_error(Code::kInvalid, base::format("{} bytes are too many, at most {} may be there",
                                                                  secret.bytes.size(), kTokenSecretBytesMax)));
    const Json& data = json["data"];
    Json lacks = Json::object();
    // A present token stays, whoever wrote it: only what the server signed is a token.
    if (data["token"].as_string().empty()) {
      const auto token = tokens->issue_held(secret.ns, secret.name, account.name, account.uid);
      if (!token.ok()) return finish(secret, token.error());
      lacks.set("token", base::base64_encode(*token));
    }
    if (data["namespace"].as_string().empty()) lacks.set("namespace", base::base64_encode(secret.ns));
    if (!root_ca.empty() && data["ca.crt"].as_string() != root_ca) lacks.set("ca.crt", root_ca);
    if (lacks.empty() && api::annotation_of(json, kAccountUid) == account.uid) return;
    Request request = about(secret, Verb::kPatch);
    request.patch_type = PatchType::kMerge;
    Json meta = Json::object({{"resourceVersion", std::to_string(secret.revision)}});
    meta.set("annotations", Json::object({{kAccountUid, account.uid}}));
    request.body = Json::object({{"metadata", std::move(meta)}});
    if (!lacks.empty()) request.body.set("data", std::move(lacks));
    send(std::move(request));
  }

  void remove(const store::Object& secret) {
    Request request = about(secret, Verb::kDelete);
    request.body = Json::object({{"preconditions", Json::object({{"uid", secret.uid}})}});
    send(std::move(request));
  }

  Request about(const store::Object& secret, Verb verb) const {
    Request request;
    request.verb = verb;
    request.kind = &api::all_kinds()[secrets];
    request.resource = secrets;
    request.ns = secret.ns;
    request.name = secret.name;
    request.user = {"system:serviceaccount:kube-system:tokens-controller", {"system:masters"}};
    request.default_manager = "kube-controller-manager";
    return request;
  }

  // A change of the Secret meanwhile has it looked at again.
  void send(Request request) {
    const Key key{request.ns, request.name};
    write(std::move(request), [weak = weak_from_this(), key](base::Result<Answer> answer) {
      const auto self = weak.lock();
      if (!self || answer.ok()) return;
      const Code code = answer.error().code;
      if (code == Code::kConflict || code == Code::kNotFound) return;
      const ObjectPtr secret = self->store.find(self->secrets, key.first, key.second, View::kLatest);
      if (secret) finish(*secret, answer.error());
      if (code != Code::kUnavailable && code != Code::kTooManyRequests) return;
      self->env.loop().after(kAfterFailure, [weak, key] {
        if (const auto again = weak.lock()) again->look_later(key);
      });
    });
  }

  static void finish(const store::Object& secret, const base::Error& error) {
    base::log_warning("apiserver", base::format("the Secret {}/{}, which is to hold a service account's token: {}",
                                                secret.ns, secret.name, error.message));
  }
};

SecretTokens::SecretTokens(rt::Env& env, store::Store& store) : state_(std::make_shared<State>(env, store)) {}
SecretTokens::~SecretTokens() = default;

void SecretTokens::begin(std::shared_ptr<const AccountTokens> tokens, std::string_view root_ca, Write write) {
  state_->tokens = std::move(tokens);
  state_->root_ca = base::base64_encode(root_ca);
  state_->write = std::move(write);
  state_->begin();
}

}  // namespace apiserver
