// Checks of names, and the copies that stay.
#include "main/host/keys/user_keys.h"

#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "base/utf8.h"
#include "main/host/keys/credentials.h"
#include "main/host/keys/key_files.h"
#include "rt/files/files.h"

namespace volcano_main {
namespace {

using base::Code;
using base::make_error;
using base::Result;

constexpr std::size_t kNameCharactersMax = 64;  // of a part of a certificate's subject
constexpr std::size_t kGroupsMax = 64;
constexpr base::Duration kLifetimeMin = base::minutes(1), kLifetimeMax = base::hours(24 * 3650);

base::Error wrong(std::string message) { return make_error(Code::kInvalid, std::move(message)); }

base::Status check_name(std::string_view what, const std::string& name) {
  if (name.empty()) return wrong(base::format("{}: it must not be empty", what));
  if (!base::is_utf8(name)) return wrong(base::format("{}: {:?} is not valid UTF-8", what, base::to_utf8(name)));
  std::size_t characters = 0;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return wrong(base::format("{}: {:?} has a control character, which a certificate cannot hold", what, name));
    characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }
  if (characters > kNameCharactersMax)
    return wrong(
        base::format("{}: {:?} has {} characters; a certificate holds {}", what, name, characters, kNameCharactersMax));
  if (name.front() == ' ' || name.back() == ' ')
    return wrong(base::format("{}: {:?} begins or ends with a space", what, name));
  return {};
}

}  // namespace

base::Status check_user(const UserRequest& request) {
  TRY_VOID(check_name("NAME", request.name));
  if (request.name.starts_with("system:"))
    return wrong(base::format("NAME: {:?}: names that begin with system: are the cluster's own", request.name));
  if (request.groups.size() > kGroupsMax)
    return wrong(base::format("--group: {} groups are too many; at most {}", request.groups.size(), kGroupsMax));
  for (const std::string& group : request.groups) {
    TRY_VOID(check_name("--group", group));
    if (request.force || !group.starts_with("system:")) continue;
    return wrong(base::format("--group: {:?}: {}; --force gives it all the same", group,
                              group == "system:masters"
                                  ? "whoever is in it may do everything, and no role can take that back"
                                  : "groups that begin with system: are the cluster's own"));
  }
  if (request.lifetime < kLifetimeMin || request.lifetime > kLifetimeMax)
    return wrong("--lifetime: it must be between 1m and 87600h (ten years)");
  return {};
}

Result<UserKeys> make_user_keys(const std::string& folder, const UserRequest& request, base::Time now,
                                const std::string& ca_in_use) {
  TRY_VOID(check_user(request));
  std::vector<Witness> witnesses;
  TRY(const auto server, read_key_file(folder + "/server.crt"));
  if (server) witnesses.push_back({folder + "/server.crt", *server});
  if (!ca_in_use.empty()) witnesses.push_back({"the kubeconfig that the server wrote at its start", ca_in_use});
  TRY(const rt::KeyPair authority, load_authority(folder, witnesses));
  rt::CertificateSubject subject;
  subject.common_name = request.name;
  subject.organizations = request.groups;
  UserKeys made;
  TRY(made.keys, rt::issue_certificate(authority, subject, now, request.lifetime));
  TRY(const rt::CertificateFacts facts, rt::certificate_facts(made.keys.certificate_pem));
  made.ca_pem = authority.certificate_pem;
  made.until = facts.not_after;
  TRY_VOID(rt::make_folders(folder + "/users", 0700));
  TRY_VOID(rt::write_file(base::format("{}/users/{}.crt", folder, facts.serial), made.keys.certificate_pem, 0600));
  return made;
}

Result<std::vector<KnownUser>> known_users(const std::string& folder) {
  std::vector<KnownUser> all;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder + "/users", error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".crt") continue;
    TRY(const auto pem, read_key_file(at->path().string()));
    if (!pem) continue;  // it went just now
    auto facts = rt::certificate_facts(*pem);
    if (!facts.ok()) return base::within(facts.take_error(), at->path().string());
    all.push_back({facts->common_name, facts->organizations, facts->serial, facts->not_after});
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return make_error(Code::kUnavailable, base::format("cannot look into {}/users: {}", folder, error.message()));
  std::ranges::sort(all, [](const KnownUser& a, const KnownUser& b) {
    return std::tie(a.name, a.until, a.serial) < std::tie(b.name, b.until, b.serial);
  });
  return all;
}

}  // namespace volcano_main
