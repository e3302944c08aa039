// A look at everything, soon after something has changed. The pods for a request are looked up when it comes.
#include "node/ingress/router.h"

#include <utility>

#include "api/network_resources.h"
#include "base/format.h"
#include "base/log.h"
#include "node/ingress/classes.h"
#include "rt/tls/tls.h"

namespace node::ingress {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr base::Duration kSoon = base::milliseconds(20);
constexpr base::Duration kAgain = base::seconds(10);  // while a port is somebody else's
constexpr base::Duration kYears = base::hours(24 * 3650);
constexpr std::size_t kReportedMax = 4;  // of one Ingress
constexpr std::size_t kBodyMax = std::size_t{64} << 20;
constexpr int kOfAnAddressMax = 1024;

const api::Projection& of_pods() {
  static const api::Projection only{"metadata.name", "metadata.namespace",       "metadata.uid",
                                    "status.podIP",  "metadata.resourceVersion", "status.podIPs"};
  return only;
}

}  // namespace

// The watches of a namespace with an Ingress of ours.
struct Router::Namespace {
  Namespace(client::Client& client, rt::Env& env, const std::string& ns, const std::function<void()>& changed)
      : name(ns),
        services(client, env, resources::kServices, {.ns = ns, .only = &client::without_managed_fields()}),
        slices(client, env, resources::kEndpointSlices, {.ns = ns, .only = &client::without_managed_fields()}),
        pods(client, env, resources::kPods, {.ns = ns, .only = &of_pods()}),
        secrets(client, env, resources::kSecrets, {.ns = ns, .only = &client::without_managed_fields()}) {
    slices.add_index("service", [](const Json& slice) {
      return std::vector{slice["metadata"]["labels"][resources::kServiceNameLabel].str()};
    });
    for (client::Informer* one : {&services, &secrets})
      one->on_change([changed](const Json*, const Json*, bool) { changed(); });
    for (client::Informer* one : {&services, &slices, &pods, &secrets}) {
      one->on_synced(changed);
      one->start();
    }
  }
  bool synced() const { return services.synced() && secrets.synced(); }

  const std::string name;
  client::Informer services, slices, pods, secrets;
};

Router::Router(rt::Env& env, client::Client& client, RouterOptions options)
    : env_(env),
      client_(client),
      options_(std::move(options)),
      events_(client, env, "volcano-ingress"),
      ingresses_(client, env, kIngresses, {.only = &client::without_managed_fields()}),
      classes_(client, env, kIngressClasses, {.only = &client::without_managed_fields()}),
      balancers_(client, env, resources::kServices,
                 {.field_selector = "spec.type=LoadBalancer", .only = &client::without_managed_fields()}),
      door_(std::make_shared<Door>(env, DoorOptions{.endpoints = [this](const Backend& b) { return endpoints(b); },
                                                    .is_own_cookie = options_.is_own_cookie})),
      http_{.flag = "--ingress-http", .number = options_.http_port},
      https_{.flag = "--ingress-https", .number = options_.https_port} {}

Router::~Router() {
  http_.server.reset();
  https_.server.reset();
  door_->end();
}

void Router::start() {
  for (client::Informer* one : {&ingresses_, &classes_, &balancers_}) {
    one->on_change([this](const Json*, const Json*, bool) { look_soon(); });
    one->on_synced([this] { look_soon(); });
    one->start();
  }
}

// Made once, where there is no class at all: who deletes or replaces it means it.
void Router::keep_class() {
  if (std::exchange(class_kept_, true) || !classes_.objects().empty()) return;
  client_.call({.verb = client::Verb::kCreate,
                .resource = kIngressClasses,
                .ns = {},
                .name = {},
                .subresource = {},
                .body = own_class()},
               [](const base::Result<Json>& made) {
                 if (!made.ok() && made.error().code != base::Code::kAlreadyExists)
                   base::log_warning("ingress", "the IngressClass volcano: " + made.error().message);
               });
}

void Router::look_soon() {
  if (std::exchange(due_, true)) return;
  env_.loop().after(kSoon, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    due_ = false;
    look();
  });
}

void Router::look() {
  if (!ingresses_.synced() || !classes_.synced()) return;
  keep_class();
  const std::vector<const Json*> served = ours();
  follow(served);
  routes_ = std::make_shared<const Routes>(served);
  door_->set_routes(routes_);
  Wrong wrong;
  for (const Routes::Refused& one : routes_->refused()) wrong[one.ingress].push_back(one.why);
  check_backends(served, wrong);
  keep_ports(served, wrong);
  report(wrong);
  write_statuses();
}

std::vector<const Json*> Router::ours() const {
  std::vector<const Json*> out;
  for (const auto& [key, one] : ingresses_.objects())
    if (!api::is_deleting(one) && is_ours(one, classes_.objects())) out.push_back(&one);
  return out;
}

void Router::follow(const std::vector<const Json*>& ingresses) {
  std::set<std::string, std::less<>> wanted;
  for (const Json* one : ingresses) wanted.emplace(api::namespace_of(*one));
  std::erase_if(namespaces_, [&wanted](const auto& one) { return !wanted.contains(one.first); });
  for (const std::string& ns : wanted)
    if (!namespaces_.contains(ns))
      namespaces_[ns] = std::make_unique<Namespace>(client_, env_, ns, [this] { look_soon(); });
}

void Router::check_backends(const std::vector<const Json*>& ingresses, Wrong& wrong) const {
  const auto check = [&](const Json& ingress, const Json& backend, const std::string& where) {
    const Namespace& of = *namespaces_.at(std::string(api::namespace_of(ingress)));
    const Json& service = backend["service"];
    if (service.is_null() || !of.synced()) return;
    const Backend named{std::string(api::namespace_of(ingress)), service["name"].str(), service["port"]["name"].str(),
                        service["port"]["number"].as_int()};
    if (const base::Status fine = check_backend(named, objects_of(of).service(named.service)); !fine.ok())
      wrong[api::key_of(ingress)].push_back(where + ": " + fine.error().message);
  };
  for (const Json* one : ingresses) {
    check(*one, (*one)["spec"]["defaultBackend"], "spec.defaultBackend");
    const Json& rules = (*one)["spec"]["rules"];
    for (std::size_t i = 0; i < rules.size(); ++i)
      for (std::size_t k = 0; k < rules[i]["http"]["paths"].size(); ++k)
        check(*one, rules[i]["http"]["paths"][k]["backend"],
              base::format("spec.rules[{}].http.paths[{}].backend", i, k));
  }
}

void Router::keep_ports(const std::vector<const Json*>& ingresses, Wrong& wrong) {
  const auto secret_of = [this](const TlsUse& use) {
    const Namespace& of = *namespaces_.at(use.ns);
    return of.secrets.find(use.ns + "/" + use.secret);
  };
  bool with_tls = false, all_known = true;
  for (const Json* one : ingresses) with_tls |= !(*one)["spec"]["tls"].empty();
  for (const auto& [name, of] : namespaces_) all_known &= of->secrets.synced();
  open(http_, !ingresses.empty(), false);
  if (with_tls && all_known && https_.number != 0) {
    const Certificates certificates = certificates_of(routes_->tls(), secret_of);
    for (const Routes::Refused& one : certificates.wrong) wrong[one.ingress].push_back(one.why);
    if (const base::Status used = use_keys(certificates.named); !used.ok())
      base::log_warning("ingress", "the certificates of Ingresses: " + used.error().message);
  }
  open(https_, with_tls && !keys_.certificate_pem.empty(), true);
  door_->set_https_port(https_.server ? https_.server->port() : 0);
  for (const Json* one : ingresses) {
    const std::string http_taker = taker_of(http_, api::namespace_of(*one));
    const std::string https_taker = taker_of(https_, api::namespace_of(*one));
    if (!http_taker.empty()) wrong[api::key_of(*one)].push_back(http_taker);
    if (!https_taker.empty() && !(*one)["spec"]["tls"].empty()) wrong[api::key_of(*one)].push_back(https_taker);
    if (!http_.trouble.empty()) wrong[api::key_of(*one)].push_back(http_.trouble);
    if (!https_.trouble.empty() && !(*one)["spec"]["tls"].empty()) wrong[api::key_of(*one)].push_back(https_.trouble);
  }
}

// Rules of the kernel lead the ports of such a Service to its pods before the router sees a connection. `ns`: of those
// who are told; Services of others have no name for them.
std::string Router::taker_of(const Port& port, std::string_view ns) const {
  for (const auto& [key, service] : balancers_.objects())
    for (const Json& one : service["spec"]["ports"].items())
      if (port.number != 0 && one["port"].as_int() == port.number && one["protocol"].as_string("TCP") == "TCP")
        return base::format("port {} belongs to {} of type LoadBalancer, whose pods answer there", port.number,
                            api::namespace_of(service) == ns ? "the Service " + std::string(api::name_of(service))
                                                             : "a Service of another namespace");
  return {};
}

// A name that no Secret has a certificate for is served with one that nobody trusts.
base::Status Router::use_keys(const std::vector<rt::NamedKeys>& named) {
  rt::ServerKeys wanted;
  for (const rt::NamedKeys& one : named)
    if (one.name.empty())
      wanted.certificate_pem = one.certificate_pem, wanted.key_pem = one.key_pem;
    else
      wanted.by_name.push_back(one);
  static const std::string kOwnName = "volcano-ingress";
  if (wanted.certificate_pem.empty()) {
    const auto facts = keys_.certificate_pem.empty() ? base::make_error(base::Code::kNotFound, "none")
                                                     : rt::certificate_facts(keys_.certificate_pem);
    if (facts.ok() && facts->common_name == kOwnName) {
      wanted.certificate_pem = keys_.certificate_pem, wanted.key_pem = keys_.key_pem;
    } else {
      TRY(const rt::KeyPair ca, rt::make_ca(kOwnName + "-ca", env_.now(), kYears));
      rt::CertificateSubject subject{.common_name = kOwnName, .organizations = {}, .dns_names = {}, .ip_addresses = {}};
      subject.server = true;
      TRY(const rt::KeyPair made, rt::issue_certificate(ca, subject, env_.now(), kYears));
      wanted.certificate_pem = made.certificate_pem, wanted.key_pem = made.key_pem;
    }
  }
  if (wanted.certificate_pem == keys_.certificate_pem && wanted.key_pem == keys_.key_pem &&
      wanted.by_name == keys_.by_name)
    return {};
  if (https_.server) TRY_VOID(https_.server->set_keys(wanted));
  keys_ = std::move(wanted);
  return {};
}

void Router::open(Port& port, bool wanted, bool tls) {
  if (port.number == 0) return;
  if (!wanted) port.server.reset();
  if (!wanted || port.server) return port.trouble.clear();
  rt::ServerOptions options{.address = {}, .port = port.number};
  if (tls) options.tls = keys_;
  options.body_bytes_max = kBodyMax;
  options.strangers_of_an_address_max = kOfAnAddressMax;
  options.recognized_as = [](const rt::HttpRequest&) { return std::nullopt; };  // each address has its share
  options.refusal_before_body = [door = door_](const rt::HttpRequest& http) { return door->refusal(http); };
  auto server = rt::listen_http(std::move(options),
                                [door = door_, tls](rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
                                  door->serve(std::move(http), tls, std::move(exchange));
                                });
  if (server.ok()) {
    port.server = *std::move(server);
    return port.trouble.clear();
  }
  if (port.trouble.empty())
    base::log_warning("ingress", base::format("Ingresses are not served at port {} ({}): {}", port.number, port.flag,
                                              server.error().message));
  port.trouble =
      base::format("port {} of this machine is not free for Ingresses; {} names another one", port.number, port.flag);
  env_.loop().after(kAgain, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) look_soon();
  });
}

// Each problem is told when it begins.
void Router::report(const Wrong& wrong) {
  std::map<std::string, std::set<std::string>> now;
  for (const auto& [key, lines] : wrong) {
    const Json* ingress = ingresses_.find(key);
    if (ingress == nullptr) continue;
    const std::string uid(api::uid_of(*ingress));
    for (std::size_t i = 0; i < lines.size() && i < kReportedMax; ++i) {
      if (!reported_[uid].contains(lines[i])) events_.record(*ingress, {"Warning", "IngressNotServed", lines[i]});
      now[uid].insert(lines[i]);
    }
  }
  reported_ = std::move(now);
}

Json Router::status_of(const Json& ingress) const {
  Json one = Json::object({{"ip", options_.address}});
  const bool tls = !ingress["spec"]["tls"].empty() && https_.server;
  Json ports = Json::array({});
  for (const auto& [port, usual, open] :
       {std::tuple{&http_, 80, http_.server != nullptr}, std::tuple{&https_, 443, tls}})
    if (open && port->number != usual)
      ports.push_back(Json::object({{"port", Json(std::int64_t{port->number})}, {"protocol", "TCP"}}));
  if (!ports.empty()) one.set("ports", std::move(ports));
  return Json::array({std::move(one)});
}

void Router::write_statuses() {
  std::set<std::string> served(routes_->served().begin(), routes_->served().end()), given;
  for (const auto& [key, ingress] : ingresses_.objects()) {
    const std::string uid(api::uid_of(ingress));
    const bool open = http_.server || (https_.server && !ingress["spec"]["tls"].empty());
    const Json& present = ingress["status"]["loadBalancer"]["ingress"];
    if (open && served.contains(key)) {
      given.insert(uid);
      if (Json wanted = status_of(ingress); present != wanted) write(ingress, std::move(wanted));
    } else if (!present.empty() && (given_.contains(uid) || is_ours(ingress, classes_.objects()))) {
      write(ingress, Json());
    }
  }
  given_ = std::move(given);
}

void Router::write(const Json& ingress, Json wanted) {
  Json body =
      Json::object({{"status", Json::object({{"loadBalancer", Json::object({{"ingress", std::move(wanted)}})}})}});
  client_.call({.verb = client::Verb::kPatch,
                .resource = kIngresses,
                .ns = std::string(api::namespace_of(ingress)),
                .name = std::string(api::name_of(ingress)),
                .subresource = "status",
                .body = std::move(body)},
               [this, alive = std::weak_ptr(alive_)](const base::Result<Json>& written) {
                 if (alive.expired() || written.ok() || written.error().code == base::Code::kNotFound) return;
                 env_.loop().after(kAgain, [this, alive] {
                   if (!alive.expired()) look_soon();
                 });
               });
}

Objects Router::objects_of(const Namespace& of) {
  const auto in = [&of](const client::Informer& informer) {
    return [&of, &informer](const std::string& name) { return informer.find(of.name + "/" + name); };
  };
  return {.service = in(of.services), .pod = in(of.pods), .slices = [&of](const std::string& service) {
            return of.slices.by_index("service", service);
          }};
}

std::vector<Endpoint> Router::endpoints(const Backend& backend) const {
  const auto found = namespaces_.find(backend.ns);
  return found == namespaces_.end() ? std::vector<Endpoint>() : endpoints_of(backend, objects_of(*found->second));
}

}  // namespace node::ingress
