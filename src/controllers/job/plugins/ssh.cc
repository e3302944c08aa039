// ssh: the pods of a job log in to each other without a password.
#include <array>

#include "api/json/limits.h"
#include "base/base64.h"
#include "base/format.h"
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/plugins/plugin.h"

namespace controllers::job {

using api::Json;

namespace {

constexpr std::string_view kDefaultFolder = "/root/.ssh";
constexpr std::array<Flag, 4> kFlags = {{{"ssh-key-file-path", Flag::Type::kText, kDefaultFolder},
                                         {"ssh-private-key", Flag::Type::kText, ""},
                                         {"ssh-public-key", Flag::Type::kText, ""},
                                         {"ssh-port", Flag::Type::kNumber, "22"}}};
constexpr std::array<std::string_view, 4> kKeys = {"id_rsa", "id_rsa.pub", "authorized_keys", "config"};

std::string client_config(const Job& job, std::int64_t port) {
  if (port < 1 || port > 65535) port = 22;
  std::string text = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n";
  // A list that is larger than a Secret may be is refused, and there may be more of it than there is memory.
  for (const Task& task : job.tasks)
    for (std::int64_t index = 0; index < task.replicas && text.size() <= api::kObjectBytesMax; ++index) {
      const std::string host = host_name(job, task, index);
      text += base::format("Host {}\n  HostName {}.{}\n  Port {}\n", host, host, domain_name(job, task), port);
      if (!task.pod_template["spec"]["hostname"].as_string().empty()) break;
    }
  return text;
}

}  // namespace

base::Status edit_ssh(const Job& job, const Args& args, const Task&, std::int64_t, Json& pod) {
  const Flags flags(kFlags, args);
  const std::string folder = flags.text("ssh-key-file-path");
  const std::string volume = job.name + "-ssh";
  Json items = Json::array();
  for (const std::string_view key : kKeys)
    items.push_back(Json::object({{"key", key}, {"path", ".ssh/" + std::string(key)}}));
  // sshd refuses keys that others may read; a folder of another user can only be read if others may.
  const int mode = folder == kDefaultFolder ? 0600 : 0644;
  pod.edit("spec").edit("volumes").push_back(Json::object(
      {{"name", volume},
       {"secret", Json::object({{"secretName", volume}, {"items", std::move(items)}, {"defaultMode", mode}})}}));
  for_containers(pod, true, [&](Json& container) {
    container.edit("volumeMounts")
        .push_back(Json::object({{"name", volume}, {"mountPath", folder}, {"subPath", ".ssh"}}));
  });
  return {};
}

base::Status list_ssh(const Job& job, const Args& args, std::vector<PluginObject>& objects) {
  const Flags flags(kFlags, args);
  const std::string config = base::base64_encode(client_config(job, flags.number("ssh-port")));
  PluginObject object{.resource = api::resources::kSecrets,
                      .body = owned_object(job, "v1", "Secret", job.name + "-ssh"),
                      .existing_has = DataField{"config", config}};
  Json data = Json::object();
  const std::string private_key = flags.text("ssh-private-key");
  if (private_key.empty()) {
    object.addition = Addition::kSshKeyPair;
  } else {
    const std::string public_key = base::base64_encode(flags.text("ssh-public-key"));
    data.set("id_rsa", base::base64_encode(private_key));
    data.set("id_rsa.pub", public_key);
    data.set("authorized_keys", public_key);
  }
  data.set("config", config);
  object.body.set("data", std::move(data));
  objects.push_back(std::move(object));
  return {};
}

}  // namespace controllers::job
