// How a kubeconfig names a server and credentials.
#include "client/kubeconfig.h"

#include "api/yaml.h"
#include "base/format.h"
#include "rt/files.h"
#include "rt/tls.h"

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

std::string resolve(const std::string& folder, std::string_view path) {
  if (path.starts_with('/') || folder.empty()) return std::string(path);
  return folder + "/" + std::string(path);
}

// The content of `<key>-data` (base64), or of the file that `<key>` names, or nothing.
base::Result<std::string> data_or_file(const Json& entry, const std::string& key, const std::string& folder) {
  if (const std::string_view data = entry[key + "-data"].as_string(); !data.empty()) {
    auto decoded = rt::base64_decode(data);
    if (!decoded.ok()) return base::within(decoded.take_error(), key + "-data");
    return decoded;
  }
  const std::string_view path = entry[key].as_string();
  if (path.empty()) return std::string();
  auto content = rt::read_file(resolve(folder, path));
  if (!content.ok()) return base::within(content.take_error(), key);
  return content;
}

base::Status read_user(const Json& user, const std::string& folder, ServerAccess& access) {
  TRY(access.certificate_pem, data_or_file(user, "client-certificate", folder));
  TRY(access.key_pem, data_or_file(user, "client-key", folder));
  access.token = user["token"].str();
  if (const std::string_view file = user["tokenFile"].as_string(); !file.empty())
    access.token_file = resolve(folder, file);
  for (const char* key : {"exec", "auth-provider", "username"})
    if (user.has(key))
      return make_error(Code::kBadRequest, base::format("user credentials of kind {:?} are not supported", key));
  return {};
}

}  // namespace

base::Result<ServerAccess> parse_kubeconfig(std::string_view text, const std::string& folder,
                                            const std::string& context) {
  TRY(const Json config, api::parse_yaml(text));
  const std::string context_name = context.empty() ? config["current-context"].str() : context;
  const Json* entry = find_named(config["contexts"], context_name);
  if (entry == nullptr) return make_error(Code::kNotFound, base::format("context {:?} does not exist", context_name));
  const Json& chosen = (*entry)["context"];
  const Json* cluster_entry = find_named(config["clusters"], chosen["cluster"].as_string());
  if (cluster_entry == nullptr)
    return make_error(Code::kNotFound, base::format("cluster {:?} does not exist", chosen["cluster"].as_string()));
  const Json& cluster = (*cluster_entry)["cluster"];
  ServerAccess access;
  access.server = cluster["server"].str();
  if (access.server.empty())
    return make_error(Code::kBadRequest, base::format("cluster {:?} names no server", chosen["cluster"].as_string()));
  TRY(access.ca_pem, data_or_file(cluster, "certificate-authority", folder));
  access.insecure_skip_tls_verify = cluster["insecure-skip-tls-verify"].as_bool();
  access.tls_server_name = cluster["tls-server-name"].str();
  access.ns = chosen["namespace"].str();
  if (const std::string_view user = chosen["user"].as_string(); !user.empty()) {
    const Json* user_entry = find_named(config["users"], user);
    if (user_entry == nullptr) return make_error(Code::kNotFound, base::format("user {:?} does not exist", user));
    TRY_VOID(read_user((*user_entry)["user"], folder, access));
  }
  return access;
}

base::Result<ServerAccess> load_kubeconfig(const std::string& path, const std::string& context) {
  TRY(const std::string text, rt::read_file(path));
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  auto access = parse_kubeconfig(text, folder, context);
  if (!access.ok()) return base::within(access.take_error(), path);
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
  TRY(access.ca_pem, rt::read_file(folder + "/ca.crt"));
  if (auto ns = rt::read_file(folder + "/namespace"); ns.ok()) access.ns = *ns;
  return access;
}

}  // namespace client
