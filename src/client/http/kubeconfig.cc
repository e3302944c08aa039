// How a kubeconfig names a server and credentials.
#include "client/http/kubeconfig.h"

#include <set>
#include <tuple>

#include "api/json/yaml.h"
#include "base/base64.h"
#include "base/format.h"
#include "client/http/impersonation.h"
#include "client/http/kubeconfig_check.h"
#include "rt/files/bounded_files.h"

namespace client {

using api::Json;
using base::Code;
using base::make_error;

namespace {

const Json* find_named(const Json& list, std::string_view name) {
  for (const Json& item : list.items())
    if (item["name"].as_string() == name) return &item;
  return nullptr;
}

// More than any kubeconfig or certificate has. A shell's <(...) has its time.
base::Result<std::string> read_small(const std::string& path) {
  return rt::read_bounded_file(path, std::size_t{16} << 20, base::seconds(10));
}

base::Result<std::string> token_in(const std::string& path) {
  TRY(const std::string text, read_small(path));
  auto token = token_from(text);
  if (!token.ok()) return base::within(token.take_error(), path);
  return token;
}

std::string resolve(const std::string& folder, std::string_view path) {
  if (path.starts_with('/') || folder.empty()) return std::string(path);
  return folder + "/" + std::string(path);
}

// The content of `<key>-data` (base64), or of the file that `<key>` names, or nothing.
base::Result<std::string> data_or_file(const Json& entry, const std::string& key, const std::string& folder) {
  if (const std::string_view data = entry[key + "-data"].as_string(); !data.empty()) {
    auto decoded = base::base64_decode(data);
    if (!decoded.ok()) return base::within(decoded.take_error(), key + "-data");
    return decoded;
  }
  const std::string_view path = entry[key].as_string();
  if (path.empty()) return std::string();
  auto content = read_small(resolve(folder, path));
  if (!content.ok()) return base::within(content.take_error(), key);
  return content;
}

// The program's input: KUBERNETES_EXEC_INFO.
base::Result<std::string> exec_info(const Json& exec, const Json& cluster, const std::string& folder) {
  Json spec = Json::object({{"interactive", false}});
  if (exec["provideClusterInfo"].as_bool()) {
    Json kept_cluster = Json::object();
    for (const char* key : {"server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url"})
      if (cluster.has(key)) kept_cluster.set(key, cluster[key]);
    TRY(const std::string ca, data_or_file(cluster, "certificate-authority", folder));
    if (!ca.empty()) kept_cluster.set("certificate-authority-data", base::base64_encode(ca));
    if (const Json* own = find_named(cluster["extensions"], "client.authentication.k8s.io/exec"))
      kept_cluster.set("config", (*own)["extension"]);
    spec.set("cluster", std::move(kept_cluster));
  }
  return Json::object({{"kind", "ExecCredential"}, {"apiVersion", exec["apiVersion"]}, {"spec", std::move(spec)}})
      .dump();
}

base::Status ask_program(const Json& exec, const Json& cluster, const std::string& folder, const RunProgram& run,
                         ServerAccess& access) {
  const std::string_view version = exec["apiVersion"].as_string();
  if (version != "client.authentication.k8s.io/v1" && version != "client.authentication.k8s.io/v1beta1")
    return make_error(Code::kBadRequest, base::format("exec: apiVersion {:?} is not supported", version));
  const std::string_view command = exec["command"].as_string();
  if (command.empty()) return make_error(Code::kBadRequest, "exec: command is not given");
  if (exec["interactiveMode"].as_string() == "Always")
    return make_error(Code::kBadRequest,
                      "exec: programs that need a terminal (interactiveMode Always) are not supported");
  CredentialProgram program;
  program.words.push_back(command.find('/') == std::string_view::npos ? std::string(command)
                                                                      : resolve(folder, command));
  for (const Json& word : exec["args"].items()) program.words.push_back(word.str());
  for (const Json& one : exec["env"].items())
    program.environment.push_back(base::format("{}={}", one["name"].as_string(), one["value"].as_string()));
  TRY(const std::string info, exec_info(exec, cluster, folder));
  program.environment.push_back("KUBERNETES_EXEC_INFO=" + info);
  auto printed = run(program);
  if (!printed.ok()) return base::within(printed.take_error(), "exec");
  auto answer = api::parse_json(*printed);
  if (!answer.ok()) return base::within(answer.take_error(), base::format("exec: the answer of {}", command));
  if ((*answer)["kind"].as_string() != "ExecCredential" || (*answer)["apiVersion"].as_string() != version)
    return make_error(Code::kBadRequest,
                      base::format("exec: {} does not answer with an ExecCredential of {}", command, version));
  const Json& status = (*answer)["status"];
  if (status.has("token") && !status["token"].as_string().empty()) {
    auto token = token_from(status["token"].as_string());
    if (!token.ok()) return base::within(token.take_error(), base::format("exec: the answer of {}", command));
    access.token = *std::move(token);
  }
  if (status.has("clientCertificateData")) {
    access.certificate_pem = status["clientCertificateData"].str();
    access.key_pem = status["clientKeyData"].str();
  }
  if (access.token.empty() && access.certificate_pem.empty())
    return make_error(Code::kBadRequest, base::format("exec: {} gives neither a token nor a certificate", command));
  return {};
}

base::Status read_user(const Json& user, const Json& cluster, const std::string& user_folder,
                       const std::string& cluster_folder, const RunProgram& run, ServerAccess& access) {
  TRY(access.certificate_pem, data_or_file(user, "client-certificate", user_folder));
  TRY(access.key_pem, data_or_file(user, "client-key", user_folder));
  if (const std::string_view token = user["token"].as_string(); !token.empty()) {
    auto usable = token_from(token);
    if (!usable.ok()) return base::within(usable.take_error(), "token");
    access.token = *std::move(usable);
  }
  if (const std::string_view file = user["tokenFile"].as_string(); !file.empty()) {
    access.token_file = resolve(user_folder, file);
    auto token = token_in(access.token_file);
    if (!token.ok()) return base::within(token.take_error(), "tokenFile");
    access.token = *std::move(token);
  }
  if (const Json& provider = user["auth-provider"]; provider["name"].as_string() == "oidc") {
    const std::string_view token = provider["config"]["id-token"].as_string();
    access.token.clear();
    if (!token.empty()) {
      TRY(access.token, token_from(token));  // COMPAT(credentials): used as it is, not renewed
      return {};
    }
  }
  for (const char* key : {"exec", "auth-provider", "username"})
    if (user.has(key) && !(key == std::string_view("exec") && run))
      return make_error(Code::kBadRequest, base::format("user credentials of kind {:?} are not supported", key));
  if (!user.has("exec")) return {};
  Json kept_cluster = cluster;
  if (!kept_cluster["certificate-authority"].as_string().empty())
    kept_cluster.set("certificate-authority",
                     resolve(cluster_folder, kept_cluster["certificate-authority"].as_string()));
  return ask_program(user["exec"], kept_cluster, user_folder, run, access);
}

// Adds what `text` has and `config` lacks; entries remember their folder.
base::Status add_config(std::string_view text, const std::string& folder, Json& config) {
  TRY(const Json more, api::parse_yaml(text));
  TRY_VOID(check_kubeconfig(more));
  for (const char* list : {"clusters", "users", "contexts"}) {
    std::set<std::string, std::less<>> names;
    for (const Json& item : config[list].items()) names.insert(item["name"].str());
    for (const Json& item : more[list].items()) {
      if (!names.insert(item["name"].str()).second) continue;
      Json kept = item;
      kept.set("folder", folder);
      config.edit(list).push_back(std::move(kept));
    }
  }
  if (config["current-context"].as_string().empty()) config.set("current-context", more["current-context"].str());
  return {};
}

base::Status read_proxy(const Json& cluster, std::string_view name, ServerAccess& access) {
  const std::string_view url = cluster["proxy-url"].as_string();
  if (url.empty()) return {};
  const std::string where = base::format("cluster {:?}: proxy-url", name);
  auto proxy = rt::parse_proxy_url(url);
  if (!proxy.ok()) return base::within(proxy.take_error(), where);
  if (access.server.starts_with("http://"))
    return make_error(Code::kBadRequest, base::format("{}: the server {:?} has no TLS, and is not spoken to through a "
                                                      "proxy",
                                                      where, access.server));
  access.proxy = *std::move(proxy);
  return {};
}

base::Result<ServerAccess> choose(const Json& config, const std::string& context, const RunProgram& run) {
  const std::string context_name = context.empty() ? config["current-context"].str() : context;
  if (context_name.empty()) return ServerAccess();
  const Json* entry = find_named(config["contexts"], context_name);
  if (entry == nullptr) return make_error(Code::kNotFound, base::format("context {:?} does not exist", context_name));
  const Json& chosen = (*entry)["context"];
  const Json* cluster_entry = find_named(config["clusters"], chosen["cluster"].as_string());
  if (cluster_entry == nullptr)
    return make_error(Code::kNotFound, base::format("cluster {:?} does not exist", chosen["cluster"].as_string()));
  const Json& cluster = (*cluster_entry)["cluster"];
  const std::string cluster_folder = (*cluster_entry)["folder"].str();
  ServerAccess access;
  access.server = cluster["server"].str();
  if (access.server.empty())
    return make_error(Code::kBadRequest, base::format("cluster {:?} names no server", chosen["cluster"].as_string()));
  TRY(access.ca_pem, data_or_file(cluster, "certificate-authority", cluster_folder));
  access.insecure_skip_tls_verify = cluster["insecure-skip-tls-verify"].as_bool();
  access.tls_server_name = cluster["tls-server-name"].str();
  TRY_VOID(read_proxy(cluster, chosen["cluster"].as_string(), access));
  access.ns = chosen["namespace"].str();
  if (const std::string_view user = chosen["user"].as_string(); !user.empty()) {
    const Json* user_entry = find_named(config["users"], user);
    if (user_entry == nullptr) return make_error(Code::kNotFound, base::format("user {:?} does not exist", user));
    const Json& facts = (*user_entry)["user"];
    TRY_VOID(read_user(facts, cluster, (*user_entry)["folder"].str(), cluster_folder, run, access));
    auto acts_as = impersonation_of(facts);
    if (!acts_as.ok()) return base::within(acts_as.take_error(), base::format("user {:?}", user));
    access.acts_as = *std::move(acts_as);
  }
  return access;
}

}  // namespace

bool ServerAccess::has_connection_of(const ServerAccess& other) const {
  const auto parts = [](const ServerAccess& one) {
    return std::tie(one.server, one.ca_pem, one.certificate_pem, one.key_pem, one.tls_server_name,
                    one.insecure_skip_tls_verify, one.proxy);
  };
  return parts(*this) == parts(other);
}

base::Result<ServerAccess> parse_kubeconfig(std::string_view text, const std::string& folder,
                                            const std::string& context, const RunProgram& run) {
  Json config = Json::object();
  TRY_VOID(add_config(text, folder, config));
  return choose(config, context, run);
}

base::Result<ServerAccess> load_kubeconfig(const std::string& path, const std::string& context, const RunProgram& run) {
  return load_kubeconfigs({path}, context, run);
}

base::Result<ServerAccess> load_kubeconfigs(const std::vector<std::string>& paths, const std::string& context,
                                            const RunProgram& run) {
  Json config = Json::object();
  std::string names;
  for (const std::string& path : paths) {
    TRY(const std::string text, read_small(path));
    const std::size_t slash = path.rfind('/');
    if (base::Status added = add_config(text, slash == std::string::npos ? "." : path.substr(0, slash), config);
        !added.ok())
      return base::within(base::Error(added.error()), path);
    names += (names.empty() ? "" : ":") + path;
  }
  auto access = choose(config, context, run);
  if (!access.ok()) return base::within(access.take_error(), names);
  return access;
}

base::Result<ServerAccess> in_cluster_access(const std::string& host, const std::string& port,
                                             const std::string& folder) {
  if (host.empty() || port.empty())
    return make_error(Code::kNotFound,
                      "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: not in a cluster");
  ServerAccess access;
  const bool v6 = host.find(':') != std::string::npos;
  access.server = v6 ? base::format("https://[{}]:{}", host, port) : base::format("https://{}:{}", host, port);
  access.token_file = folder + "/token";
  TRY(access.token, token_in(access.token_file));
  TRY(access.ca_pem, read_small(folder + "/ca.crt"));
  if (auto ns = read_small(folder + "/namespace"); ns.ok()) access.ns = *ns;
  return access;
}

}  // namespace client
