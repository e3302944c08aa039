// The keys of the ConfigMap are those of Kubeflow: defaultPipelineRoot, and providers with a default and overrides for
// each scheme.
#include "pipelines/stage/stores.h"

#include <algorithm>

#include "api/json/yaml.h"
#include "base/format.h"

namespace pipelines {

using api::Json;

namespace {

constexpr std::size_t kStoresMax = 16;  // of one step

base::Error invalid(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

// The parts of SCHEME://BUCKET/KEY.
struct Place {
  std::string_view scheme, bucket, key;
};

Place place_of(std::string_view uri) {
  const std::size_t end = uri.find("://");
  if (end == std::string_view::npos) return {};
  const std::string_view rest = uri.substr(end + 3);
  const std::size_t slash = rest.find('/');
  return {uri.substr(0, end), rest.substr(0, slash), slash == std::string_view::npos ? "" : rest.substr(slash + 1)};
}

bool is_word(std::string_view text) {
  return std::ranges::all_of(text, [](char one) { return one > ' ' && one != 0x7f; });
}

// A host, with or without a scheme before it and a port behind it.
base::Status read_endpoint(std::string_view text, const Json& disable_ssl, Store& store) {
  if (disable_ssl.is_bool()) store.tls = !disable_ssl.as_bool();
  for (const auto& [scheme, tls] : {std::pair<std::string_view, bool>{"http://", false}, {"https://", true}})
    if (text.starts_with(scheme)) {
      text.remove_prefix(scheme.size());
      store.tls = tls;
    }
  while (text.ends_with('/')) text.remove_suffix(1);
  const std::size_t colon = text.rfind(':');
  store.host = std::string(text.substr(0, colon));
  store.port = colon == std::string_view::npos ? (store.tls ? "443" : "80") : std::string(text.substr(colon + 1));
  const bool digits = std::ranges::all_of(store.port, [](char one) { return one >= '0' && one <= '9'; });
  if (store.host.empty() || store.host.size() > 253 || !is_word(store.host) ||
      store.host.find('/') != std::string::npos || store.port.empty() || store.port.size() > 5 || !digits)
    return invalid(base::format("endpoint: {} is not HOST or HOST:PORT", Json(text).dump()));
  return {};
}

base::Status read_credentials(const Json& credentials, Store& store) {
  if (!credentials.is_object()) return invalid("credentials: they are required");
  store.secret.clear();
  if (credentials["fromEnv"].as_bool()) return {};
  const Json& secret = credentials["secretRef"];
  store.secret = secret["secretName"].str();
  store.id_key = secret["accessKeyKey"].str();
  store.secret_key = secret["secretKeyKey"].str();
  if (store.secret.empty() || store.id_key.empty() || store.secret_key.empty())
    return invalid(
        "credentials.secretRef: secretName, accessKeyKey and secretKeyKey are required where fromEnv is false");
  return {};
}

base::Status read_store(const Json& from, Store& store) {
  if (const std::string_view region = from["region"].as_string(); !region.empty()) {
    if (region.size() > 63 || !is_word(region)) return invalid("region: it is not the name of a region");
    store.region = region;
  }
  if (const std::string_view endpoint = from["endpoint"].as_string(); !endpoint.empty()) {
    TRY_VOID(read_endpoint(endpoint, from["disableSSL"], store));
  }
  if (from["forcePathStyle"].is_bool()) store.bucket_in_host = !from["forcePathStyle"].as_bool();
  return read_credentials(from["credentials"], store);
}

}  // namespace

base::Result<Stores::Provider> Stores::read_provider(const Json& provider) {
  Provider out;
  if (!provider["default"].is_object()) return invalid("default: it is required");
  if (const auto read = read_store(provider["default"], out.store); !read.ok())
    return invalid(base::format("default.{}", read.error().message));
  const Json& list = provider.has("overrides") ? provider["overrides"] : provider["Overrides"];
  for (std::size_t i = 0; i < list.size(); ++i) {
    Override one{.bucket = list[i]["bucketName"].str(), .prefix = list[i]["keyPrefix"].str(), .store = out.store};
    if (const auto read = read_store(list[i], one.store); !read.ok())
      return invalid(base::format("overrides[{}].{}", i, read.error().message));
    out.overrides.push_back(std::move(one));
  }
  return out;
}

base::Result<Stores> Stores::read(const Json& config) {
  Stores stores;
  stores.default_root_ = config["data"]["defaultPipelineRoot"].str();
  const std::string_view text = config["data"]["providers"].as_string();
  if (text.empty()) return stores;
  const auto providers = api::parse_yaml(text);
  if (!providers.ok()) return invalid(base::format("providers: {}", providers.error().message));
  for (const char* scheme : {"minio", "s3"}) {
    const Json& one = (*providers)[std::string_view(scheme)];
    if (!one.is_object()) continue;
    auto read = read_provider(one);
    if (!read.ok()) return invalid(base::format("providers.{}.{}", scheme, read.error().message));
    stores.providers_.emplace(scheme, *std::move(read));
  }
  return stores;
}

bool Stores::is_volume(std::string_view uri) const {
  if (providers_.contains("minio")) return false;
  return uri == kVolumeStore || uri.starts_with(base::format("{}/", kVolumeStore));
}

base::Result<std::optional<Store>> Stores::store_of(std::string_view uri) const {
  const Place place = place_of(uri);
  if (is_volume(uri) || (place.scheme != "s3" && place.scheme != "minio")) return std::optional<Store>();
  if (place.bucket.empty() || place.bucket.size() > 63 || !is_word(place.bucket))
    return invalid(base::format("{} names no bucket", Json(uri).dump()));
  if (std::ranges::any_of(uri, [](char one) { return static_cast<unsigned char>(one) < ' '; }) ||
      place.key.size() > 1024)
    return invalid(base::format("{} is not a key of a store", Json(uri).dump()));
  const auto provider = providers_.find(place.scheme);
  if (provider == providers_.end()) {
    if (place.scheme == "s3") return std::optional<Store>(Store());
    return invalid(base::format("{}: the ConfigMap {} has no provider minio", Json(uri).dump(), kStoresConfig));
  }
  for (const Override& one : provider->second.overrides) {
    const bool below =
        one.prefix.empty() || place.key == one.prefix || place.key.starts_with(base::format("{}/", one.prefix));
    if (one.bucket == place.bucket && below) return std::optional<Store>(one.store);
  }
  return std::optional<Store>(provider->second.store);
}

base::Status Stores::check_root(std::string_view root) const {
  if (is_volume(root)) return {};
  if (root.find('?') != std::string_view::npos)
    return invalid(
        base::format("the root of artifacts {} has a query; the ConfigMap {} may name an endpoint and a region",
                     Json(root).dump(), kStoresConfig));
  TRY(const std::optional<Store> store, store_of(root));
  if (store) return {};
  return invalid(
      base::format("the root of artifacts {} is neither in {} nor in an S3-compatible store (s3://, minio://)",
                   Json(root).dump(), kVolumeStore));
}

base::Result<Staging> Stores::staging_of(const Json& executor_input, std::string (*path_of)(const Json&)) const {
  Staging out;
  std::string moves;
  for (const char* way : {"inputs", "outputs"})
    for (const Json::Member& list : executor_input[std::string_view(way)]["artifacts"].members())
      for (const Json& artifact : list.value["artifacts"].items()) {
        const std::string_view uri = artifact["uri"].as_string();
        out.reads_volume = out.reads_volume || is_volume(uri);
        auto store = store_of(uri);
        if (!store.ok()) return invalid(base::format("{}.artifacts.{}: {}", way, list.name(), store.error().message));
        const std::string path = path_of(artifact);
        if (!*store || !path.starts_with('/')) continue;
        const auto found = std::ranges::find(out.stores, **store);
        const std::size_t number = static_cast<std::size_t>(found - out.stores.begin());
        if (found == out.stores.end()) out.stores.push_back(**store);
        const Place place = place_of(uri);
        const std::string folder = base::format("/{}", place.scheme);
        if (std::ranges::find(out.folders, folder) == out.folders.end()) out.folders.push_back(folder);
        if (std::ranges::any_of(path, [](char one) { return static_cast<unsigned char>(one) < ' '; }))
          return invalid(base::format("{}.artifacts.{}: {} is not a path", way, list.name(), Json(path).dump()));
        moves +=
            base::format("{}\t{}\t{}\t{}\t{}\n", way[0] == 'i' ? "get" : "put", number, place.bucket, place.key, path);
      }
  if (out.stores.size() > kStoresMax)
    return invalid(base::format("the artifacts of the step lie in more than {} stores", kStoresMax));
  for (std::size_t i = 0; i < out.stores.size(); ++i) {
    const Store& one = out.stores[i];
    out.plan += base::format("store\t{}\t{}\t{}\t{}\t{}\t{}\n", i, one.tls ? "tls" : "plain",
                             one.bucket_in_host ? "host" : "path", one.host, one.port, one.region);
  }
  out.plan += moves;
  return out;
}

}  // namespace pipelines
