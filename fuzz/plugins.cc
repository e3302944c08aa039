// Messages of device plugins over their sockets: the first byte picks the message. The accepted parts are text, and
// have limits.
#include <string>

#include "base/utf8.h"
#include "node/devices/plugin_messages.h"
#include "node/dra/dra_messages.h"
#include "node/dra/registration.h"
#include "targets.h"

namespace fuzz {

namespace {

void text(std::string_view what) { promise(base::is_utf8(what), "what is taken is text", what); }

void cdi_name(const std::string& name) {
  text(name);
  promise(name.find('=') != std::string::npos, "a CDI device has a name", name);
}

void claims(const base::Result<node::ClaimAnswers>& answers) {
  if (!answers.ok()) return text(answers.error().message);
  for (const auto& [uid, answer] : *answers) {
    text(uid);
    text(answer.error);
    promise(answer.devices.size() <= node::kClaimDevicesMax, "devices have a limit");
    for (const node::PreparedDevice& device : answer.devices) {
      text(device.pool);
      text(device.device);
      promise(device.cdi_names.size() <= node::kCdiNamesMax, "names have a limit");
      for (const std::string& name : device.cdi_names) cdi_name(name);
      for (const std::string& request : device.requests) text(request);
    }
  }
  const base::Status checked = node::check_answers("Method", {{"ns", "name", "uid"}}, *answers);
  if (!checked.ok()) text(checked.error().message);
}

void registration(std::string_view input) {
  const auto info = node::plugin_info_from(input);
  if (!info.ok()) return text(info.error().message);
  const auto plugin = node::dra_plugin_from(*info, "/socket");
  if (!plugin.ok()) return text(plugin.error().message);
  promise(plugin->endpoint.starts_with('/') && plugin->endpoint.size() <= 107, "a socket has a path", plugin->endpoint);
}

void devices_of_plugin(std::string_view input) {
  if (const auto list = node::devices_from(input); !list.ok()) text(list.error().message);
  const auto allocation = node::allocation_from(input);
  if (!allocation.ok()) return text(allocation.error().message);
  for (const std::string& name : allocation->cdi_names) cdi_name(name);
  for (const auto& [name, value] : allocation->grant.environment) text(name + value);
}

}  // namespace

void plugins(std::string_view input) {
  if (input.empty()) return;
  const auto first = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  switch (first % 4) {
    case 0: return claims(node::prepared_from(input));
    case 1: return claims(node::unprepared_from(input));
    case 2: return registration(input);
    default: return devices_of_plugin(input);
  }
}

}  // namespace fuzz
