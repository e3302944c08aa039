// The places of artifacts: the volume of the namespace, or S3-compatible stores, as the ConfigMap kfp-launcher of the
// namespace has them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace pipelines {

inline constexpr const char* kStoresConfig = "kfp-launcher";
inline constexpr std::string_view kVolumeStore = "minio://mlpipeline";

struct Store {
  std::string host = "s3.amazonaws.com";
  std::string port = "443";
  std::string region = "us-east-1";
  bool tls = true;
  bool bucket_in_host = false;
  std::string secret, id_key, secret_key;  // an empty name: the variables of AWS of the step

  bool operator==(const Store&) const = default;
};

// A text that the launcher's helper reads, and the variables that it needs.
struct Staging {
  std::string plan;                       // empty: all is in the volume
  std::vector<Store> stores;              // by number
  bool reads_volume = false;              // an artifact lies in the volume
  std::vector<std::string> folders = {};  // that artifacts of stores have in the step: "/s3", "/minio"
};

class Stores {
 public:
  // `config`: the ConfigMap; null: there is none.
  static base::Result<Stores> read(const api::Json& config);

  const std::string& default_root() const { return default_root_; }
  bool is_volume(std::string_view uri) const;
  // Nothing: the volume, or a place that is not staged, such as gs://.
  base::Result<std::optional<Store>> store_of(std::string_view uri) const;
  // The root of a run's artifacts is in the volume or in a store.
  base::Status check_root(std::string_view root) const;
  // `executor_input`: the document of the step, with the artifacts that it reads and writes.
  base::Result<Staging> staging_of(const api::Json& executor_input,
                                   std::string (*path_of)(const api::Json& artifact)) const;

 private:
  struct Override {
    std::string bucket, prefix;
    Store store;
  };
  struct Provider {
    Store store;
    std::vector<Override> overrides;
  };
  static base::Result<Provider> read_provider(const api::Json& provider);

  std::string default_root_;
  std::map<std::string, Provider, std::less<>> providers_;  // "s3", "minio"
};

}  // namespace pipelines
