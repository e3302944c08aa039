// Steps: the queues that there are; the keys from the Secret, or new ones into it; the listener; the bundle into the
// configuration. Then the same again and again: a configuration may come, or be replaced by one without a bundle, at
// any time, and would have every job refused until it has one.
#include "main/host/hosts/training_webhook.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "admission/rules/hooks.h"
#include "admission/server/server.h"
#include "admission/server/server_keys.h"
#include "api/meta/resource.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/log.h"
#include "client/watch/informer.h"
#include "rt/http/server/http_server.h"
#include "rt/tls/tls.h"

namespace volcano_main {
namespace {

using api::Json;

constexpr base::Duration kRetry = base::seconds(1);
constexpr base::Duration kLookAgain = base::seconds(10);
// The API server hears of a changed configuration by a watch of its own.
constexpr base::Duration kBundleSpreads = base::seconds(5);
constexpr base::Duration kTenYears = base::hours(24 * 3650);
constexpr base::Duration kOneYear = base::hours(24 * 365);
constexpr base::Duration kNearEnd = base::hours(24 * 30);
constexpr int kConnectionsMax = 256;
constexpr base::Duration kEndMax = base::seconds(12);

const api::ResourceId kConfigurations{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations"};

struct Keys {
  rt::KeyPair ca;
  rt::KeyPair server;
};

// COMPAT(queue-access). Rules of training jobs look up their queue, and nothing else. A cluster without queues, or an
// account that may not see them, has none that is closed to anybody.
class Queues final : public api::ObjectReader {
 public:
  Queues(client::Client& client, rt::Env& env)
      : informer(client, env, api::resources::kQueues,
                 {.may_be_absent = true, .only = &client::without_managed_fields()}) {}

  std::optional<Json> find(const api::ResourceId& id, std::string_view, std::string_view name) const override {
    const Json* queue = id == api::resources::kQueues ? informer.find(name) : nullptr;
    return queue ? std::optional<Json>(*queue) : std::nullopt;
  }
  std::vector<Json> list_by(const api::TextField&, std::string_view, bool) const override { return {}; }

  client::Informer informer;
};

std::string decoded(std::string_view text) {
  auto bytes = base::base64_decode(text);
  return bytes.ok() ? *std::move(bytes) : "";
}

std::string field(const Json& secret, std::string_view name) { return decoded(secret["data"][name].as_string()); }

// The Secret's keys, if they are whole, for this name, and last.
std::optional<Keys> keys_in(const Json& secret, const std::string& host, base::Time now) {
  Keys keys{{field(secret, "ca.crt"), field(secret, "ca.key")}, {field(secret, "tls.crt"), field(secret, "tls.key")}};
  for (const rt::KeyPair* pair : {&keys.ca, &keys.server}) {
    if (!rt::check_pair(*pair).ok()) return std::nullopt;
    const auto facts = rt::certificate_facts(pair->certificate_pem);
    if (!facts.ok() || now < facts->not_before || facts->not_after - now < kNearEnd) return std::nullopt;
    if (pair == &keys.server && std::ranges::find(facts->dns_names, host) == facts->dns_names.end())
      return std::nullopt;
  }
  if (!rt::check_signed_by(keys.server.certificate_pem, keys.ca.certificate_pem).ok()) return std::nullopt;
  return keys;
}

base::Result<Keys> make_keys(const std::string& host, base::Time now) {
  Keys keys;
  // With the second, as two CAs of one name in a bundle confuse clients that look for an issuer by its name
  // (OpenSSL's).
  TRY(keys.ca, rt::make_ca(base::format("training-operator-ca@{}", now.ns / 1'000'000'000), now, kTenYears));
  rt::CertificateSubject subject;
  subject.common_name = host;
  subject.dns_names = {host};
  subject.server = true;
  TRY(keys.server, rt::issue_certificate(keys.ca, subject, now, kOneYear));
  return keys;
}

std::vector<api::AdmissionHook> training_hooks() {
  std::vector<api::AdmissionHook> all = admission::hooks({.in_process = false});
  std::erase_if(all, [](const api::AdmissionHook& one) { return !one.path.starts_with("/validate-kubeflow-org-"); });
  return all;
}

}  // namespace

struct TrainingWebhook::State : std::enable_shared_from_this<TrainingWebhook::State> {
  State(rt::Env& e, client::Client& c, TrainingWebhookOptions o)
      : env(e),
        client(c),
        options(std::move(o)),
        host(base::format("{}.{}.svc", options.service, options.ns)),
        queues(c, e) {}

  rt::Env& env;
  client::Client& client;
  const TrainingWebhookOptions options;
  const std::string host;
  const std::vector<api::AdmissionHook> hooks = training_hooks();
  Queues queues;
  std::shared_ptr<rt::HttpServer> http;
  std::string served;  // the certificate
  bool notified_absent = false;
  std::function<void()> ready;
  std::string trouble = "the webhook has no certificate yet";

  void call(client::Request request, bool missing_is_fine, std::function<void(State&, Json)> next);
  void look();
  void look_at_secret(const Json& configuration);
  void keep(Json secret, const Keys& keys, const Json& configuration);
  void use(const Keys& keys, Json configuration);
  void serve_by(const Keys& keys);
  base::Status listen(const Keys& keys);
  void done();
  void fail(const std::string& text);
  void later(base::Duration delay);
};

void TrainingWebhook::State::later(base::Duration delay) {
  env.loop().after(delay, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->look();
  });
}

// The fault is said once, and everything is looked at again.
void TrainingWebhook::State::fail(const std::string& text) {
  if (text != trouble) base::log_warning("training-operator", text);
  trouble = text;
  later(kRetry);
}

// `next` gets null for what is missing.
void TrainingWebhook::State::call(client::Request request, bool missing_is_fine,
                                  std::function<void(State&, Json)> next) {
  std::string what = base::format("webhook: {} {}", request.resource.plural, request.name);
  client.call(std::move(request), [weak = weak_from_this(), next = std::move(next), missing_is_fine,
                                   what = std::move(what)](base::Result<Json> result) {
    const auto self = weak.lock();
    if (!self) return;
    if (result.ok()) return next(*self, *std::move(result));
    if (missing_is_fine && result.error().code == base::Code::kNotFound) return next(*self, Json());
    self->fail(base::format("{}: {}", what, result.error().message));
  });
}

// COMPAT(training-webhook). Without a configuration nobody asks, and no keys are needed.
void TrainingWebhook::State::look() {
  client::Request request{.resource = kConfigurations, .ns = {}, .name = options.configuration, .subresource = {}};
  call(std::move(request), true, [](State& self, Json configuration) {
    const bool absent = configuration.is_null();
    if (absent && !self.notified_absent)
      base::log_info("training-operator", base::format("this cluster has no ValidatingWebhookConfiguration {}; jobs "
                                                       "that can have no pods get an event",
                                                       self.options.configuration));
    self.notified_absent = absent;
    if (!absent) return self.look_at_secret(configuration);
    self.done();
  });
}

void TrainingWebhook::State::look_at_secret(const Json& configuration) {
  client::Request request{
      .resource = api::resources::kSecrets, .ns = options.ns, .name = options.secret, .subresource = {}};
  call(std::move(request), true, [configuration](State& self, Json secret) {
    if (const auto keys = keys_in(secret, self.host, self.env.now())) return self.use(*keys, configuration);
    const auto made = make_keys(self.host, self.env.now());
    if (!made.ok()) return self.fail(made.error().message);
    self.keep(std::move(secret), *made, configuration);
  });
}

// One of several operators that do this at a time succeeds, and the others look again.
void TrainingWebhook::State::keep(Json secret, const Keys& keys, const Json& configuration) {
  const bool is_new = secret.is_null();
  if (is_new)
    secret = Json::object({{"apiVersion", "v1"},
                           {"kind", "Secret"},
                           {"metadata", Json::object({{"name", options.secret}, {"namespace", options.ns}})}});
  if (!secret["data"].is_object()) secret.set("data", Json::object());
  for (const auto& [name, text] :
       {std::pair{"ca.crt", &keys.ca.certificate_pem}, std::pair{"ca.key", &keys.ca.key_pem},
        std::pair{"tls.crt", &keys.server.certificate_pem}, std::pair{"tls.key", &keys.server.key_pem}})
    secret.edit("data").set(name, base::base64_encode(*text));
  client::Request request{.verb = is_new ? client::Verb::kCreate : client::Verb::kUpdate,
                          .resource = api::resources::kSecrets,
                          .ns = options.ns,
                          .name = is_new ? "" : options.secret,
                          .subresource = {},
                          .body = std::move(secret)};
  call(std::move(request), false, [keys, configuration](State& self, const Json&) { self.use(keys, configuration); });
}

void TrainingWebhook::State::use(const Keys& keys, Json configuration) {
  if (!http)
    if (const base::Status listens = listen(keys); !listens.ok()) return fail(listens.error().message);
  const std::string& ca = keys.ca.certificate_pem;
  bool changed = false;
  for (std::size_t i = 0; i < configuration["webhooks"].size(); ++i) {
    const std::string before = decoded(configuration["webhooks"][i]["clientConfig"]["caBundle"].as_string());
    if (before.starts_with(ca)) continue;
    // By the old CA this operator, or another one, may still serve.
    configuration.edit("webhooks")
        .edit(i)
        .edit("clientConfig")
        .set("caBundle", base::base64_encode(admission::bundle_with(ca, before)));
    changed = true;
  }
  if (!changed) return serve_by(keys);
  client::Request request{.verb = client::Verb::kUpdate,
                          .resource = kConfigurations,
                          .ns = {},
                          .name = options.configuration,
                          .subresource = {},
                          .body = std::move(configuration)};
  call(std::move(request), false, [keys](State& self, const Json&) { self.serve_by(keys); });
}

// The bundle is in the configuration.
void TrainingWebhook::State::serve_by(const Keys& keys) {
  if (served == keys.server.certificate_pem) return done();
  env.loop().after(kBundleSpreads, [weak = weak_from_this(), server = keys.server] {
    const auto self = weak.lock();
    if (!self) return;
    if (const base::Status taken = self->http->set_keys({server.certificate_pem, server.key_pem, {}}); !taken.ok())
      return self->fail(taken.error().message);
    self->served = server.certificate_pem;
    base::log_info("training-operator", "the webhook uses its new keys");
    self->done();
  });
}

base::Status TrainingWebhook::State::listen(const Keys& keys) {
  rt::ServerKeys pair{keys.server.certificate_pem, keys.server.key_pem, {}};
  rt::ServerOptions server;
  server.address = "";  // all of both families
  server.port = options.port;
  server.connections_max = kConnectionsMax;
  server.tls = std::move(pair);
  server.header_time_max = base::seconds(5);
  server.request_time_max = base::seconds(30);
  const auto handler = [weak = weak_from_this(), loop = &env.loop()](rt::HttpRequest request,
                                                                     std::shared_ptr<rt::HttpExchange> exchange) {
    loop->post([weak, request = std::move(request), exchange] {
      const auto self = weak.lock();
      if (!self) return;
      admission::answer_http_confirmed(
          request, self->hooks, self->client, self->env.loop(), self->queues,
          [self, exchange](rt::HttpResponse answer) { exchange->respond(std::move(answer)); });
    });
  };
  TRY(http, rt::listen_http(std::move(server), handler));
  served = keys.server.certificate_pem;
  base::log_info("training-operator", base::format("the webhook answers on port {}", http->port()));
  return {};
}

void TrainingWebhook::State::done() {
  trouble.clear();
  if (const auto callback = std::exchange(ready, nullptr)) callback();
  later(kLookAgain);
}

TrainingWebhook::TrainingWebhook(rt::Env& env, client::Client& client, TrainingWebhookOptions options)
    : state_(std::make_shared<State>(env, client, std::move(options))) {}

TrainingWebhook::~TrainingWebhook() {
  state_->ready = nullptr;
  state_->http.reset();
}

void TrainingWebhook::start(std::function<void()> ready) {
  state_->ready = std::move(ready);
  client::Informer& queues = state_->queues.informer;
  queues.on_synced([weak = std::weak_ptr(state_)] {
    if (const auto state = weak.lock()) state->look();
  });
  queues.start();
}

void TrainingWebhook::drain(std::function<void()> done) {
  if (!state_->http) return done();
  admission::end_listening(state_->env.loop(), state_->http, kEndMax, std::move(done));
}

std::string TrainingWebhook::why_not_ready() const { return state_->trouble; }

}  // namespace volcano_main
