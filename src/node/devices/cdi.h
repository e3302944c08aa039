// Specifications of the Container Device Interface: what a device named "vendor.com/class=name" means for a container.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/machine/device_grant.h"

namespace node {

// The devices of all specs, by qualified name. A name that two specs of the same folder have is nobody's.
class CdiDevices {
 public:
  // Reads one spec, JSON or YAML; `priority` is its folder's: the higher one wins. A malformed spec is not used in any
  // part; the error names the field.
  base::Status read(std::string_view text, int priority);
  // Null: no spec has it.
  const DeviceGrant* find(std::string_view qualified_name) const;
  // All of them together; an error names one that no spec has.
  base::Result<DeviceGrant> grant_of(const std::vector<std::string>& qualified_names) const;
  bool has_kind(std::string_view kind) const;
  std::size_t size() const { return devices_.size(); }

 private:
  struct Entry {
    DeviceGrant grant;
    int priority = 0;
    bool ambiguous = false;
  };
  std::map<std::string, Entry, std::less<>> devices_;
};

inline constexpr std::size_t kCdiSpecBytesMax = 4 << 20;
inline constexpr std::size_t kCdiDevicesMax = 4096;

// Reads *.json and *.yaml of the folders, the last of which wins. `trouble` gets a line for each file that is left out.
CdiDevices read_cdi_folders(const std::vector<std::string>& folders, std::vector<std::string>& trouble);
// Specs are read for each container: a line is said once. Any thread.
void log_cdi_trouble(const std::vector<std::string>& trouble);

}  // namespace node
