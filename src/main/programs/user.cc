// `volcano user create|list`: certificates for people who share the machine.
#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "api/json/yaml.h"
#include "base/base64.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/time.h"
#include "main/host/data/data_folder.h"
#include "main/host/keys/credentials.h"
#include "main/host/keys/user_keys.h"
#include "main/programs/programs.h"
#include "rt/env.h"
#include "rt/files/bounded_files.h"
#include "rt/files/files.h"

namespace volcano_main {
namespace {

using base::Result;

struct UserFlags {
  UserRequest request;
  std::string data;
  std::string server;
  std::string ns;
  std::string output;
  std::string lifetime = "8760h";
};

std::vector<base::Flag> rows(UserFlags& flags) {
  return {
      {"data", &flags.data, "the folder that volcano up uses (default ~/.local/share/volcano)"},
      {"group", &flags.request.groups, "a group that the user is in; may be given several times"},
      {"namespace", &flags.ns, "the namespace that commands of the user are about when they name none"},
      {"server", &flags.server, "how the user reaches the API server (default: as DATA/kubeconfig does)"},
      {"lifetime", &flags.lifetime, "how long the certificate holds, such as 720h; it cannot be taken back before"},
      {"output", &flags.output, "the file to write, mode 0600; -: to standard output (default NAME.kubeconfig)", 'o'},
      {"force", &flags.request.force, "also give groups that begin with system:, such as system:masters"},
  };
}

int usage(const std::vector<base::Flag>& flags, int code) {
  (code == 0 ? std::cout : std::cerr)
      << "usage: volcano user create NAME [flags]   write a kubeconfig with a certificate for NAME\n"
         "       volcano user list [flags]          the certificates that were made here\n\n"
         "A certificate says who somebody is. Roles say what they may do.\n\nflags:\n"
      << base::flags_help(flags);
  return code;
}

int failed(const base::Error& error) {
  std::cerr << "volcano user: " << error.message << "\n";
  return 1;
}

// As a shell reads it back.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@/:=+,";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// The server's own account of itself when it started.
Result<api::Json> cluster_of(const UserFlags& flags) {
  const std::string path = flags.data + "/kubeconfig";
  TRY(const std::string text, rt::read_bounded_file(path, std::size_t{1} << 20, {}));
  auto config = api::parse_yaml(text);
  if (!config.ok()) return base::within(config.take_error(), path);
  return (*config)["clusters"][std::size_t{0}]["cluster"];
}

Result<std::string> server_of(const UserFlags& flags) {
  if (!flags.server.empty()) {
    if (flags.server.starts_with("https://") && flags.server.find_first_of(" \t\r\n") == std::string::npos)
      return flags.server;
    return base::make_error(base::Code::kInvalid, base::format("--server: {:?} is not an https:// URL", flags.server));
  }
  const auto cluster = cluster_of(flags);
  if (!cluster.ok())
    return base::make_error(
        base::Code::kNotFound,
        base::format("{}; say with --server how the user reaches the API server", cluster.error().message));
  const std::string server = (*cluster)["server"].str();
  if (server.empty())
    return base::make_error(base::Code::kInvalid,
                            base::format("{}/kubeconfig names no server; give --server", flags.data));
  return server;
}

// Empty: no server has written it there, or it is written in another way.
std::string ca_in_use(const UserFlags& flags) {
  const auto cluster = cluster_of(flags);
  if (!cluster.ok()) return {};
  auto pem = base::base64_decode((*cluster)["certificate-authority-data"].as_string());
  return pem.ok() ? *std::move(pem) : std::string();
}

std::string explained(const UserFlags& flags, const UserKeys& made, const std::string& server) {
  const UserRequest& request = flags.request;
  const std::string ns = flags.ns.empty() ? "default" : flags.ns;
  std::string text = base::format(
      "# {}, until {}. Whoever has this file is this user.\n"
      "# What the user may do, roles say. An administrator gives one by, for example:\n"
      "#   kubectl create rolebinding {} --clusterrole=edit --user={} --namespace={}\n",
      request.name, base::format_rfc3339(made.until), quoted(request.name + "-edit"), quoted(request.name), quoted(ns));
  for (const std::string& group : request.groups)
    text += base::format("#   kubectl create rolebinding {} --clusterrole=edit --group={} --namespace={}\n",
                         quoted(group + "-edit"), quoted(group), quoted(ns));
  return text + kubeconfig_text({request.name, made.keys, made.ca_pem, server, flags.ns});
}

base::Status create(UserFlags& flags) {
  const auto lifetime = base::parse_go_duration(flags.lifetime);
  if (!lifetime)
    return base::make_error(base::Code::kInvalid,
                            base::format("--lifetime: {:?} is not a time such as 720h", flags.lifetime));
  flags.request.lifetime = *lifetime;
  TRY_VOID(check_user(flags.request));
  if (flags.output.empty()) {
    if (flags.request.name.find('/') != std::string::npos)
      return base::make_error(
          base::Code::kInvalid,
          base::format("NAME: {:?} cannot be part of a file's name; give -o FILE", flags.request.name));
    flags.output = flags.request.name + ".kubeconfig";
  }
  std::error_code ignored;
  // It may hold the only copy of a key.
  if (flags.output != "-" && std::filesystem::exists(flags.output, ignored))
    return base::make_error(base::Code::kAlreadyExists,
                            base::format("{} is there already; nothing was changed", flags.output));
  TRY(const std::string server, server_of(flags));
  TRY(const std::string corrected, open_data_folder(flags.data));
  if (!corrected.empty()) std::cerr << "volcano user: " << corrected << "\n";
  const auto env = rt::make_real_env("user");
  TRY(const UserKeys made, make_user_keys(flags.data + "/keys", flags.request, env->now(), ca_in_use(flags)));
  const std::string text = explained(flags, made, server);
  if (flags.output == "-") {
    std::cout << text;
    return {};
  }
  TRY_VOID(rt::write_file(flags.output, text, 0600));
  std::cout << base::format("{} is written: {}, until {}\n", flags.output, flags.request.name,
                            base::format_rfc3339(made.until));
  return {};
}

base::Status list(const UserFlags& flags) {
  TRY(const std::vector<KnownUser> all, known_users(flags.data + "/keys"));
  std::cout << base::format("{:<24} {:<32} {:<22} {}\n", "NAME", "GROUPS", "UNTIL", "SERIAL");
  for (const KnownUser& one : all) {
    std::string groups;
    for (const std::string& group : one.groups) groups += (groups.empty() ? "" : ",") + group;
    std::cout << base::format("{:<24} {:<32} {:<22} {}\n", one.name, groups.empty() ? "<none>" : groups,
                              base::format_rfc3339(one.until), one.serial);
  }
  return {};
}

}  // namespace

int run_user(const Arguments& arguments) {
  UserFlags flags;
  const std::vector<base::Flag> table = rows(flags);
  if (base::asks_for_help(arguments)) return usage(table, 0);
  const auto words = base::parse_flags(table, arguments);
  if (!words.ok()) return failed(words.error());
  const std::vector<std::string>& rest = words->rest;
  if (flags.data.empty()) flags.data = default_data_folder();
  const bool creates = rest.size() == 2 && rest.front() == "create";
  if (!creates && !(rest.size() == 1 && rest.front() == "list")) return usage(table, 2);
  if (creates) flags.request.name = rest.back();
  const base::Status done = creates ? create(flags) : list(flags);
  return done.ok() ? 0 : failed(done.error());
}

}  // namespace volcano_main
