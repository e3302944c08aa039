// Images of this machine: unpacked root file systems under the names that pods use.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "node/machine/image_name.h"

namespace node {

struct StoredImage {
  std::string name;  // normal form: docker.io/library/nginx:latest
  std::string id;    // sha256:...
  std::string root;  // folder of the unpacked root file system
  api::Json config;  // the OCI image configuration
  std::int64_t bytes = 0;
  bool imported = false;  // by hand, not pulled
  std::string created;    // RFC 3339, when it came here
};

// An image as it is unpacked: more than any that is in use, and less than a disk.
inline constexpr std::int64_t kImageBytesMax = std::int64_t{64} << 30;
// Docker makes no more.
inline constexpr std::size_t kLayersMax = 127;

// Several processes may use one store at a time. All methods block.
class ImageStore {
 public:
  explicit ImageStore(std::string folder, std::int64_t image_bytes_max = kImageBytesMax)
      : folder_(std::move(folder)), image_bytes_max_(image_bytes_max) {}

  std::optional<StoredImage> find(std::string_view name) const;
  std::vector<StoredImage> list() const;  // by name, without their configurations
  // From a tar of a root file system, or a docker or OCI archive; tells them apart.
  base::Result<StoredImage> import_file(const std::string& name, const std::string& file, const std::string& now);
  // From a registry, by skopeo. `keys`: see registry_keys(); they lie in a file of the owner's alone while it runs.
  // `given_up`: once true, it ends with an error.
  base::Result<StoredImage> pull(const std::string& name, const std::string& now, const std::string& keys = {},
                                 const std::atomic<bool>* given_up = nullptr);
  base::Status remove(const std::string& name);
  // Takes away what imports and pulls that were killed have left behind.
  void sweep();
  // Ends imports and pulls under way with an error. Any thread.
  void cancel() { cancelled_ = true; }

 private:
  base::Status run(const std::vector<std::string>& words, const std::string& work, const std::string& download = {},
                   const std::atomic<bool>* given_up = nullptr) const;
  base::Result<std::string> kind_of(const std::string& file) const;
  base::Result<api::Json> json_in(const std::string& kind, const std::string& file, const std::string& name) const;
  base::Status check_layers(const std::string& kind, const std::string& file) const;
  base::Result<StoredImage> unpack_root(const std::string& file, const std::string& work);
  base::Result<StoredImage> unpack_layout(const std::string& layout, const std::string& work,
                                          const std::atomic<bool>* given_up = nullptr);
  base::Status keep(StoredImage& image, const std::string& work);
  base::Status change_index(const std::function<void(api::Json&)>& change);

  std::string folder_;
  std::int64_t image_bytes_max_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace node
