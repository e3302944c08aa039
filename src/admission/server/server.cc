// AdmissionReviews over HTTPS. A connection's thread hands each request to the loop, where the view of queues lives.
#include "admission/server/server.h"

#include <algorithm>

#include "admission/server/confirm.h"
#include "admission/server/review.h"
#include "api/kubeflow/v1alpha1/poddefault.h"
#include "api/meta/resource.h"
#include "api/text_index.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/log.h"
#include "client/watch/informer.h"

namespace admission {

using api::Json;

namespace {

constexpr base::Duration kRegistrationMax = base::minutes(5);
constexpr base::Duration kRegistrationRetry = base::seconds(1);
constexpr base::Duration kRenewalRetry = base::seconds(10);
// The API server hears of a changed configuration by a watch of its own.
constexpr base::Duration kBundleSpreads = base::seconds(5);
// After a configuration has changed: who applies them again changes several at once.
constexpr base::Duration kBundleLook = base::seconds(2);
// An API server hears of a changed Endpoints object by a watch, and its node by another.
constexpr base::Duration kEndpointsSpread = base::seconds(2);
// The caller waits no longer for an answer (timeoutSeconds), and a pod that ends has thirty seconds in all.
constexpr base::Duration kAnswersMax = base::seconds(10);

rt::HttpResponse plain(int status, std::string body) {
  return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::move(body)};
}

bool has_certificate(const std::string& bundle, const std::string& certificate) {
  const std::vector<std::string> all = certificates_of(bundle);
  return std::ranges::find(all, certificate) != all.end();
}

api::ResourceId configurations(bool mutating) {
  return {"admissionregistration.k8s.io", "v1",
          mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations"};
}

constexpr std::string_view kGroupMutation = "/podgroups/mutate", kPodDefaulting = "/apply-poddefault";

// Queues, namespaces and PodDefaults as informers show them.
class InformerObjects final : public api::ObjectReader {
 public:
  InformerObjects(client::Client& client, rt::Env& env)
      : queues(client, env, api::resources::kQueues),
        // Without them a group goes through unchanged, as where Volcano's lookup of the namespace fails.
        namespaces(client, env, api::resources::kNamespaces, {.may_be_absent = true}),
        pod_defaults(client, env, api::resources::kPodDefaults,
                     {.may_be_absent = true, .only = &client::without_managed_fields()}) {
    for (client::Informer* informer : {&queues, &pod_defaults})
      informer->on_change([this, informer](const Json* before, const Json* after, bool) {
        const std::string key(api::key_of(after ? *after : *before));
        for (auto& [field, index] : indexes_)
          if (informer_for(field.resource) == informer) index.put(key, after ? *after : Json());
      });
  }

  std::optional<Json> find(const api::ResourceId& id, std::string_view ns, std::string_view name) const override {
    const client::Informer* informer = informer_for(id);
    const Json* found =
        informer ? informer->find(ns.empty() ? std::string(name) : base::format("{}/{}", ns, name)) : nullptr;
    return found ? std::optional<Json>(*found) : std::nullopt;
  }
  std::vector<Json> list_by(const api::TextField& field, std::string_view value, bool as_prefix) const override {
    const client::Informer* informer = informer_for(field.resource);
    CHECK(informer == &queues || informer == &pod_defaults);
    auto index = indexes_.find(field);
    if (index == indexes_.end()) {
      index = indexes_.emplace(field, api::TextIndex(field)).first;
      for (const auto& [key, object] : informer->objects()) index->second.put(key, object);
    }
    return index->second.find(value, as_prefix);
  }

  client::Informer queues;
  client::Informer namespaces;
  client::Informer pod_defaults;

 private:
  const client::Informer* informer_for(const api::ResourceId& id) const {
    if (id == api::resources::kQueues) return &queues;
    if (id == api::resources::kPodDefaults) return &pod_defaults;
    return id == api::resources::kNamespaces ? &namespaces : nullptr;
  }

  mutable std::map<api::TextField, api::TextIndex> indexes_;  // made when first asked for
};

}  // namespace

std::string configuration_name(std::string_view path) {
  std::string name = base::format("volcano-admission-service{}", path);
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

namespace {

// The review of a request and its hook, or the answer to a body that is not a review.
struct Asked {
  std::optional<rt::HttpResponse> answer = {};
  const api::AdmissionHook* hook = nullptr;
  Json review = {};
  api::AdmissionRequest request = {};
};

Asked read_http(const rt::HttpRequest& request, const std::vector<api::AdmissionHook>& hooks) {
  const std::string path = rt::parse_target(request.target).path;
  if (path == "/healthz") return {plain(200, "ok")};
  const auto hook = std::find_if(hooks.begin(), hooks.end(), [&](const auto& one) { return one.path == path; });
  if (hook == hooks.end()) return {plain(404, "404 page not found\n")};
  if (rt::header(request.headers, "Content-Type") != "application/json") return {rt::HttpResponse()};
  auto review = api::parse_json(request.body);
  if (!review.ok()) return {plain(400, review.error().message)};
  auto read = read_review(*review);
  if (!read.ok()) return {plain(400, read.error().message)};
  return {std::nullopt, &*hook, *std::move(review), *std::move(read)};
}

rt::HttpResponse answer_to(const Asked& asked, const api::AdmissionAnswer& answer) {
  return {.status = 200,
          .headers = {{"Content-Type", "application/json"}},
          .body = answer_review(asked.review, asked.request, answer, base::base64_encode).dump()};
}

}  // namespace

rt::HttpResponse answer_http(const rt::HttpRequest& request, const std::vector<api::AdmissionHook>& hooks,
                             const api::ObjectReader& objects) {
  Asked asked = read_http(request, hooks);
  if (asked.answer) return *std::move(asked.answer);
  return answer_to(asked, asked.hook->review(asked.request, objects));
}

void answer_http_confirmed(const rt::HttpRequest& request, const std::vector<api::AdmissionHook>& hooks,
                           client::Client& client, rt::Loop& loop, const api::ObjectReader& view,
                           std::function<void(rt::HttpResponse)> done) {
  auto asked = std::make_shared<Asked>(read_http(request, hooks));
  if (asked->answer) return done(*std::move(asked->answer));
  // Rules may change while the server is asked.
  auto review = [asked, rule = asked->hook->review](const api::ObjectReader& objects) {
    return rule(asked->request, objects);
  };
  review_confirmed(
      client, loop, view, std::move(review),
      [asked, done = std::move(done)](const api::AdmissionAnswer& answer) { done(answer_to(*asked, answer)); });
}

struct Server::State : std::enable_shared_from_this<Server::State> {
  State(rt::Env& e, client::Client& c, ServerOptions o)
      : env(e),
        client(c),
        options(std::move(o)),
        objects(c, e),
        mutating(c, e, configurations(true), {.may_be_absent = true, .only = &client::without_managed_fields()}),
        validating(c, e, configurations(false), {.may_be_absent = true, .only = &client::without_managed_fields()}) {
    options.rules.in_process = false;
    hooks = admission::hooks(options.rules);
  }

  rt::Env& env;
  client::Client& client;
  ServerOptions options;
  std::vector<api::AdmissionHook> hooks;
  InformerObjects objects;
  client::Informer mutating, validating;  // configurations; from the first registration on
  bool looks = false;                     // at these, soon
  bool has_new_keys = false;              // to serve by, once the configurations have their CA
  std::shared_ptr<rt::HttpServer> http;
  std::function<void(base::Result<std::uint16_t>)> done;
  base::Duration begun;
  // Which CA is being put into the configurations; what a newer one overtakes ends without a word.
  std::uint64_t round = 0;
  int answering = 0;
  bool begun_once = false;
  bool ending = false;

  // One after the other, from the first on.
  void begin_after(std::vector<client::Informer*> informers) {
    if (informers.empty()) return begin();
    client::Informer* first = informers.front();
    informers.erase(informers.begin());
    first->on_synced([weak = weak_from_this(), rest = std::move(informers)] {
      if (const auto self = weak.lock()) self->begin_after(rest);
    });
    first->start();
  }
  void begin() {
    begun = env.uptime();
    begun_once = true;
    register_from(0, ++round);
  }
  void watch_configurations();
  void look_soon();
  bool lacks_bundle() const;
  void register_from(std::size_t index, std::uint64_t of);
  void put_bundle(std::size_t index, std::uint64_t of, const api::ResourceId& resource, Json configuration);
  void registered();
  void not_registered(std::uint64_t of, base::Error error);
  void listen();
  void drain(base::Duration patience, std::function<void()> drained);
  std::string readiness() const;
  void end(base::Result<std::uint16_t> result) {
    if (auto callback = std::exchange(done, nullptr)) callback(std::move(result));
  }
};

void Server::State::register_from(std::size_t index, std::uint64_t of) {
  if (of != round) return;
  if (index == hooks.size()) return registered();
  const api::AdmissionHook& hook = hooks[index];
  const api::ResourceId resource = configurations(hook.mutating);
  client.call({.verb = client::Verb::kGet,
               .resource = resource,
               .ns = {},
               .name = configuration_name(hook.path),
               .subresource = {}},
              [weak = weak_from_this(), index, of, resource, path = hook.path,
               mutating = hook.mutating](base::Result<Json> result) {
                const auto self = weak.lock();
                if (!self) return;
                if (result.ok()) {
                  self->begun = self->env.uptime();  // of the next one
                  return self->put_bundle(index, of, resource, *std::move(result));
                }
                const bool absent = result.error().code == base::Code::kNotFound;
                if (absent && self->http)
                  return self->register_from(index + 1, of);  // it is gone, and nobody calls here
                const base::Duration waited = self->env.uptime() - self->begun;
                if (absent && waited < kRegistrationRetry)
                  base::log_warning("webhooks", base::format("{} {} is not there; it is waited for, and until then "
                                                             "nothing is answered",
                                                             resource.plural, configuration_name(path)));
                if (absent && waited < kRegistrationMax) {
                  self->env.loop().after(kRegistrationRetry, [weak, index, of] {
                    if (const auto again = weak.lock()) again->register_from(index, of);
                  });
                  return;
                }
                self->not_registered(
                    of, base::within(result.take_error(),
                                     base::format("failed to add caCert for webhook failed to get {} webhook",
                                                  mutating ? "mutating" : "validating")));
              });
}

void Server::State::put_bundle(std::size_t index, std::uint64_t of, const api::ResourceId& resource,
                               Json configuration) {
  const std::string bundle = base::base64_encode(options.ca_pem);
  bool changed = false;
  if (configuration["webhooks"].is_array()) {
    Json& webhooks = configuration.edit("webhooks");
    for (std::size_t i = 0; i < webhooks.size(); ++i) {
      if (webhooks[i]["clientConfig"]["caBundle"].as_string() == bundle) continue;
      webhooks.edit(i).edit("clientConfig").set("caBundle", bundle);
      changed = true;
    }
  }
  if (!changed) return register_from(index + 1, of);
  const std::string name(api::name_of(configuration));
  const bool is_mutating = hooks[index].mutating;
  client.call({.verb = client::Verb::kUpdate,
               .resource = resource,
               .ns = {},
               .name = name,
               .subresource = {},
               .body = std::move(configuration)},
              [weak = weak_from_this(), index, of, name, is_mutating](base::Result<Json> result) {
                const auto self = weak.lock();
                if (!self) return;
                if (result.ok()) return self->register_from(index + 1, of);
                if (result.error().code == base::Code::kConflict) return self->register_from(index, of);
                self->not_registered(
                    of, base::within(result.take_error(), base::format("failed to update {} admission webhooks {}",
                                                                       is_mutating ? "mutating" : "validating", name)));
              });
}

void Server::State::registered() {
  if (!http) return listen();
  if (!has_new_keys) return;
  env.loop().after(kBundleSpreads, [weak = weak_from_this(), ca = options.ca_pem] {
    const auto self = weak.lock();
    if (!self || !self->has_new_keys || self->options.ca_pem != ca || !self->options.http.tls) return;
    self->has_new_keys = false;
    if (const base::Status taken = self->http->set_keys(*self->options.http.tls); !taken.ok())
      base::log_error("webhooks", base::format("the new keys cannot be used: {}", taken.error().message));
    else
      base::log_info("webhooks", "the new keys are in use");
  });
}

void Server::State::not_registered(std::uint64_t of, base::Error error) {
  if (of != round) return;
  if (!http) return end(std::move(error));
  base::log_warning("webhooks", base::format("the CA is not yet in the webhook configurations: {}", error.message));
  env.loop().after(kRenewalRetry, [weak = weak_from_this(), of] {
    if (const auto self = weak.lock()) self->register_from(0, of);
  });
}

void Server::State::drain(base::Duration patience, std::function<void()> drained) {
  ending = true;
  if (!http) return drained();
  end_listening(env.loop(), http, patience, [weak = weak_from_this(), drained = std::move(drained)] {
    const auto self = weak.lock();
    if (!self) return;
    if (self->answering > 0)
      base::log_warning("webhooks",
                        base::format("close admission server failed: {} requests are not answered", self->answering));
    drained();
  });
}

std::string Server::State::readiness() const {
  if (ending) return "it ends\n";
  std::string text = "ok\n";
  for (const client::Informer* informer : {&objects.queues, &objects.namespaces, &objects.pod_defaults})
    if (!informer->trouble().empty()) text += base::format("[-]{}\n", informer->trouble());
  return text;
}

void Server::State::listen() {
  const auto handler = [weak = weak_from_this(), loop = &env.loop()](rt::HttpRequest request,
                                                                     std::shared_ptr<rt::HttpExchange> exchange) {
    loop->post([weak, request = std::move(request), exchange] {
      const auto self = weak.lock();
      if (!self) return;
      if (rt::parse_target(request.target).path == "/readyz")
        return exchange->respond(plain(self->ending ? 503 : 200, self->readiness()));
      ++self->answering;
      answer_http_confirmed(request, self->hooks, self->client, self->env.loop(), self->objects,
                            [self, exchange](rt::HttpResponse answer) {
                              --self->answering;
                              exchange->respond(std::move(answer));
                            });
    });
  };
  auto made = rt::listen_http(options.http, handler);
  if (!made.ok()) return end(made.take_error());
  http = *std::move(made);
  watch_configurations();
  end(http->port());
}

// A configuration that is applied anew takes the CA away, and all that it judges would be refused until the next start.
void Server::State::watch_configurations() {
  for (client::Informer* informer : {&mutating, &validating}) {
    informer->on_change([this](const Json*, const Json*, bool) { look_soon(); });
    informer->start();
  }
}

void Server::State::look_soon() {
  if (std::exchange(looks, true)) return;
  env.loop().after(kBundleLook, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->looks = false;
    if (!self->lacks_bundle()) return;
    base::log_warning("webhooks", "a webhook configuration has lost the CA; it is put back");
    self->begun = self->env.uptime();
    self->register_from(0, ++self->round);
  });
}

// Each of several servers may still trust, or trust already, another CA beside ours: ours has to be there.
bool Server::State::lacks_bundle() const {
  const std::vector<std::string> ours = certificates_of(options.ca_pem);
  if (ours.empty()) return false;
  return std::ranges::any_of(hooks, [&](const api::AdmissionHook& hook) {
    const Json* found = (hook.mutating ? mutating : validating).find(configuration_name(hook.path));
    if (found == nullptr) return false;
    return std::ranges::any_of((*found)["webhooks"].items(), [&](const Json& webhook) {
      const auto bundle = base::base64_decode(webhook["clientConfig"]["caBundle"].as_string());
      return !bundle || !has_certificate(*bundle, ours.front());
    });
  });
}

void end_listening(rt::Loop& loop, std::weak_ptr<rt::HttpServer> http, base::Duration patience,
                   std::function<void()> done) {
  const base::Duration lag = std::min(kEndpointsSpread, patience), rest = std::min(kAnswersMax, patience - lag);
  loop.after(lag, [&loop, http = std::move(http), rest, done = std::move(done)] {
    if (const auto server = http.lock()) server->drain(rest, [&loop, done] { loop.post(done); });
  });
}

Server::Server(rt::Env& env, client::Client& client, ServerOptions options)
    : state_(std::make_shared<State>(env, client, std::move(options))) {}

Server::~Server() {
  state_->done = nullptr;
  state_->http.reset();
}

void Server::start(std::function<void(base::Result<std::uint16_t>)> done) {
  State& state = *state_;
  state.done = std::move(done);
  // One rule each looks at the others, and a role need not let the rest see them.
  std::vector<client::Informer*> needed{&state.objects.queues};
  const auto answers = [&state](std::string_view path) {
    return std::ranges::any_of(state.hooks, [path](const api::AdmissionHook& hook) { return hook.path == path; });
  };
  if (answers(kGroupMutation)) needed.push_back(&state.objects.namespaces);
  if (answers(kPodDefaulting)) needed.push_back(&state.objects.pod_defaults);
  state.begin_after(std::move(needed));
}

std::string Server::readiness() const { return state_->readiness(); }

std::string Server::why_not_ready() const {
  if (state_->ending) return "it ends";
  if (state_->http) return "";
  if (!state_->objects.queues.trouble().empty()) return state_->objects.queues.trouble();
  return state_->begun_once ? "the webhook configurations are not all there yet"
                            : "the queues have not been listed yet";
}

void Server::set_keys(const ServerKeys& keys) {
  State& state = *state_;
  // Until this server serves by its new certificate, and others of it by theirs, the old one must be trusted.
  state.options.ca_pem = bundle_with(keys.ca_pem, state.options.ca_pem);
  if (state.options.http.tls)
    state.options.http.tls = rt::ServerKeys{keys.pair.certificate_pem, keys.pair.key_pem, keys.ca_pem};
  state.has_new_keys = true;
  if (state.begun_once) state.begin();
}

void Server::drain(base::Duration patience, std::function<void()> done) { state_->drain(patience, std::move(done)); }

void Server::set_pod_rules(std::vector<PodGroupRule> rules) {
  state_->options.rules.pod_rules = std::move(rules);
  state_->hooks = hooks(state_->options.rules);
}

}  // namespace admission
