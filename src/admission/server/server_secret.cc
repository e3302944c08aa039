// The Secret of the webhook server's keys, kept while the server runs.
#include "admission/server/server_secret.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "client/watch/informer.h"
#include "rt/clock_steps.h"

namespace admission {

using api::Json;
using base::Code;

namespace {

constexpr base::Duration kAfterTrouble = base::seconds(30);
constexpr base::Duration kAfterConflict = base::seconds(1);

}  // namespace

struct ServerSecret::State : std::enable_shared_from_this<ServerSecret::State> {
  State(rt::Env& e, client::Client& c, ServerSecretOptions o) : env(e), client(c), options(std::move(o)) {}

  rt::Env& env;
  client::Client& client;
  ServerSecretOptions options;
  std::function<void(ServerKeys)> use;
  std::function<void(const std::string&)> trouble;
  std::unique_ptr<client::Informer> informer;
  std::optional<ServerKeys> in_use;
  std::string notified;
  std::string mended;  // the trouble that was logged last
  rt::Loop::TimerId timer = 0;
  std::unique_ptr<rt::ClockSteps> clock_steps;  // keys end by the wall clock
  bool writing = false;

  std::string name() const { return base::format("Secret {}/{}", options.secret.ns, options.secret.name); }

  void report(std::string text) {
    if (std::exchange(notified, text) != text && !text.empty()) trouble(text);
  }

  void again(base::Duration delay) {
    if (timer != 0) env.loop().cancel(timer);
    timer = env.loop().after(delay, [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->timer = 0;
      self->read();
    });
  }

  void read() {
    client.call({.verb = client::Verb::kGet,
                 .resource = api::resources::kSecrets,
                 .ns = options.secret.ns,
                 .name = options.secret.name},
                [weak = weak_from_this()](base::Result<Json> found) {
                  if (const auto self = weak.lock()) self->take(std::move(found));
                });
  }

  void take(base::Result<Json> found) {
    if (!found.ok() && found.error().code != Code::kNotFound) return refused("cannot be read", found.error());
    look(found.ok() ? *found : Json());
    if (!informer) watch();
  }

  void watch() {
    informer = std::make_unique<client::Informer>(
        client, env, api::resources::kSecrets,
        client::InformerOptions{.ns = options.secret.ns, .field_selector = "metadata.name=" + options.secret.name});
    informer->on_change([this](const Json*, const Json* after, bool) {
      // A field selector is a wish that a server in a test need not know.
      if (after != nullptr && api::name_of(*after) != options.secret.name) return;
      look(after != nullptr ? *after : Json());
    });
    informer->start();
  }

  void look(const Json& secret) {
    FoundKeys found = secret.is_null() ? FoundKeys{std::nullopt, "is not there", env.now()}
                                       : look_at_keys(secret["data"], options.service, env.now());
    if (found.keys && found.keys != in_use) {
      in_use = found.keys;
      use(*found.keys);
    }
    if (found.trouble.empty()) {
      mended.clear();
      report("");
      return again(std::max(found.next_look - env.now(), kAfterConflict));
    }
    if (const std::string why = why_not_ours(secret); !why.empty()) {
      report(base::format("{}: {}; it {}", name(), found.trouble, why));
      return again(kAfterTrouble);
    }
    if (std::exchange(mended, found.trouble) != found.trouble)
      base::log_warning("webhooks", base::format("{}: {}; new keys are made", name(), found.trouble));
    write(secret);
  }

  void write(const Json& before) {
    if (writing) return;
    auto request = renewal_request(options.secret, before, options.service, env.now(), in_use ? in_use->ca_pem : "");
    if (!request.ok()) return refused("gets no keys", request.error());
    writing = true;
    client.call(*std::move(request), [weak = weak_from_this()](base::Result<Json> written) {
      const auto self = weak.lock();
      if (!self) return;
      self->writing = false;
      if (written.ok()) return self->look(*written);
      const Code code = written.error().code;
      if (code == Code::kConflict || code == Code::kAlreadyExists || code == Code::kNotFound)
        return self->again(kAfterConflict);  // somebody was faster
      self->refused("cannot be written", written.error());
    });
  }

  void refused(std::string_view what, const base::Error& error) {
    const std::string hint =
        error.code == Code::kForbidden
            ? "; the account needs get, list, watch and patch of this Secret, and create where it may be missing"
            : "";
    report(base::format("{} {}: {}{}", name(), what, error.message, hint));
    again(kAfterTrouble);
  }
};

ServerSecret::ServerSecret(rt::Env& env, client::Client& client, ServerSecretOptions options,
                           std::function<void(ServerKeys)> use, std::function<void(const std::string&)> trouble)
    : state_(std::make_shared<State>(env, client, std::move(options))) {
  state_->use = std::move(use);
  state_->trouble = std::move(trouble);
}

ServerSecret::~ServerSecret() {
  if (state_->timer != 0) state_->env.loop().cancel(state_->timer);
  state_->informer.reset();
  state_->clock_steps.reset();
}

void ServerSecret::start() {
  state_->clock_steps = std::make_unique<rt::ClockSteps>(state_->env, [state = state_.get()] { state->again({}); });
  state_->read();
}

}  // namespace admission
