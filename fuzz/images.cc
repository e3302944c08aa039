// Texts of images: their names, their configuration, their lists of users, as they become a container.
#include "api/json/json.h"
#include "base/split.h"
#include "base/utf8.h"
#include "node/machine/image_name.h"
#include "node/os/runc/oci_bundle.h"
#include "targets.h"

namespace fuzz {

using api::Json;

namespace {

void image_name(std::string_view name) {
  if (!node::check_image_name(name).ok()) return;
  promise(!name.starts_with('-'), "a name is not a flag", name);
  for (const std::string_view part : base::split(name, '/'))
    promise(!part.empty() && part != "." && part != "..", "a name leads nowhere as a path", name);
  const std::string normal = node::normal_image_name(name);
  promise(node::check_image_name(normal).ok() || name.size() > 200, "the normal form is a name", normal);
  promise(node::normal_image_name(normal) == normal, "the normal form is stable", normal);
}

}  // namespace

void image(std::string_view input) {
  image_name(input);
  // A configuration, and behind a zero byte the user's name and the files with the accounts.
  const std::size_t zero = input.find('\0');
  const auto json = api::parse_json(input.substr(0, zero));
  node::ImageConfig config = node::image_config_from(json.ok() ? *json : Json());
  std::string accounts(zero == std::string_view::npos ? input : input.substr(zero + 1));
  if (!json.ok()) config.user = accounts.substr(0, accounts.find('\n'));
  node::ContainerSpec spec;
  spec.command = {"run"};
  const auto user = node::resolve_user(spec, config, accounts, accounts);
  if (!user.ok()) return promise(!user.error().message.empty(), "an error says something");
  promise(user->uid >= 0 && user->uid <= 2147483647 && user->gid >= 0 && user->gid <= 2147483647, "ids are ids");
  promise(base::is_utf8(user->home), "the home is text", user->home);
  node::BundleInput bundle;
  bundle.spec = &spec;
  bundle.image = config;
  bundle.user = *user;
  if (const auto made = node::make_bundle(bundle); made.ok()) {
    const std::string text = made->dump();
    promise(base::is_utf8(text) && api::parse_json(text).ok(), "the bundle can be read", text);
  }
}

}  // namespace fuzz
