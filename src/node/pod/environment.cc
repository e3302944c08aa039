// The sources of the values in a container's environment.
#include "node/pod/environment.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/utf8.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

bool is_name(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '='; });
}

// Variables as they come together, up to what the kernel hands to a program.
class Variables {
 public:
  base::Status put(std::string name, std::string value) {
    const auto failed = [&](const char* why) {
      return make_error(Code::kInvalid, base::format("environment variable {:?}: {}", name, why));
    };
    if (!is_name(name)) return failed("this is not a name of a variable");
    if (value.find('\0') != std::string::npos) return failed("the value contains a NUL character");
    if (!base::is_utf8(value)) return failed("the value is not valid UTF-8");
    if (name.size() + value.size() + 2 > kWordBytesMax) return failed("the value is longer than a program is given");
    bytes_ += name.size() + value.size() + 2;
    if (bytes_ > kWordsBytesMax) return failed("the environment is larger than a program is given");
    const auto [place, is_new] = places_.emplace(name, all_.size());
    if (is_new)
      all_.emplace_back(std::move(name), std::move(value));
    else
      all_[place->second].second = std::move(value);
    return {};
  }
  const std::string* find(std::string_view name) const {
    const auto place = places_.find(name);
    return place == places_.end() ? nullptr : &all_[place->second].second;
  }
  const Environment& all() const { return all_; }

 private:
  Environment all_;
  std::map<std::string, std::size_t, std::less<>> places_;  // in `all_`; there may be a hundred thousand
  std::size_t bytes_ = 0;                                   // of all that was put, replaced or not
};

// One key of a ConfigMap or Secret; ok and empty flag for optional ones that are absent.
struct KeyValue {
  bool present = false;
  std::string value;
};

base::Result<KeyValue> key_value(const Json& pod, const Json& reference, bool secret, const Lookups& lookups) {
  const std::string_view ns = api::namespace_of(pod);
  const std::string_view name = reference["name"].as_string();
  const std::string_view key = reference["key"].as_string();
  const bool optional = reference["optional"].as_bool();
  const Json* object = lookups.find(secret ? "Secret" : "ConfigMap", ns, name);
  if (object == nullptr) {
    if (optional) return KeyValue{};
    return make_error(Code::kNotFound, base::format("{} {:?} not found", secret ? "secret" : "configmap", name));
  }
  if (const Json* value = (*object)["data"].find(key)) {
    if (!secret) return KeyValue{true, value->str()};
    TRY(std::string decoded, base::base64_decode(value->as_string()));
    return KeyValue{true, std::move(decoded)};
  }
  if (optional) return KeyValue{};
  return make_error(Code::kNotFound,
                    base::format("couldn't find key {} in {} {}/{}", key, secret ? "Secret" : "ConfigMap", ns, name));
}

base::Status add_all(const Json& pod, const Json& source, const Lookups& lookups, Variables& variables) {
  const bool secret = source.has("secretRef");
  const Json& reference = source[secret ? "secretRef" : "configMapRef"];
  const std::string_view name = reference["name"].as_string();
  const Json* object = lookups.find(secret ? "Secret" : "ConfigMap", api::namespace_of(pod), name);
  if (object == nullptr) {
    if (reference["optional"].as_bool()) return {};
    return make_error(Code::kNotFound, base::format("{} {:?} not found", secret ? "secret" : "configmap", name));
  }
  const Json data = (*object)["data"].sorted();
  for (const Json::Member& member : data.members()) {
    std::string value = member.value.str();
    if (secret) {
      TRY(value, base::base64_decode(value));
    }
    std::string name = source["prefix"].str() + std::string(member.name());
    if (!is_name(name)) continue;  // as a kubelet does it: a key can be no name
    TRY_VOID(variables.put(std::move(name), std::move(value)));
  }
  return {};
}

std::string variable_name(std::string_view text) {
  std::string name;
  for (const char c : text) name += c == '-' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

// WEB_SERVICE_HOST and its kin, and the variables of container links, which Kubernetes has kept.
base::Status add_service(const Json& service, Variables& variables) {
  const std::string prefix = variable_name(api::name_of(service));
  const std::string address = service["spec"]["clusterIP"].str();
  const Json& ports = service["spec"]["ports"];
  TRY_VOID(variables.put(prefix + "_SERVICE_HOST", address));
  const std::string first = ports[std::size_t{0}]["port"].dump();
  TRY_VOID(variables.put(prefix + "_SERVICE_PORT", first));
  for (const Json& port : ports.items())
    if (!port["name"].as_string().empty())
      TRY_VOID(variables.put(prefix + "_SERVICE_PORT_" + variable_name(port["name"].as_string()), port["port"].dump()));
  bool is_first = true;
  for (const Json& port : ports.items()) {
    const std::string upper(port["protocol"].as_string("TCP"));
    std::string lower = upper;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const std::string url = base::format("{}://{}:{}", lower, address, port["port"].as_int());
    if (std::exchange(is_first, false)) TRY_VOID(variables.put(prefix + "_PORT", url));
    const std::string of_port = base::format("{}_PORT_{}_{}", prefix, port["port"].as_int(), upper);
    TRY_VOID(variables.put(of_port, url));
    TRY_VOID(variables.put(of_port + "_PROTO", lower));
    TRY_VOID(variables.put(of_port + "_PORT", port["port"].dump()));
    TRY_VOID(variables.put(of_port + "_ADDR", address));
  }
  return {};
}

// `key` of "metadata.labels['key']", or nothing.
std::string_view subscript(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix) || path.size() < prefix.size() + 4) return {};
  path.remove_prefix(prefix.size());
  if (!path.starts_with("['") || !path.ends_with("']")) return {};
  return path.substr(2, path.size() - 4);
}

std::string map_text(const Json& map) {
  std::string text;
  const Json sorted = map.sorted();
  for (const Json::Member& member : sorted.members()) {
    if (!text.empty()) text += '\n';
    text += base::format("{}={}", member.name(), member.value.dump());
  }
  return text;
}

}  // namespace

ContainersByName::ContainersByName(const Json& pod) {
  for (const char* list : {"containers", "initContainers"})
    for (const Json& one : pod["spec"][list].items()) containers_.insert_or_assign(one["name"].as_string(), &one);
}

const Json* ContainersByName::find(std::string_view name) const {
  const auto found = containers_.find(name);
  return found == containers_.end() ? nullptr : found->second;
}

std::string expand(std::string_view text, const Environment& environment) {
  std::map<std::string_view, const std::string*> values;
  if (text.find("$(") != std::string_view::npos)
    for (const auto& [name, value] : environment) values.emplace(name, &value);
  return expand(text, [&values](std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second;
  });
}

std::string expand(std::string_view text, const ValueOf& value_of) {
  std::string out;
  const std::size_t last = text.rfind(')');  // nothing behind it is a reference
  // References to references can double the text each time; what is longer than this no program is given.
  for (std::size_t i = 0; i < text.size() && out.size() <= kWordBytesMax; ++i) {
    if (text[i] != '$' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    if (text[i + 1] == '$') {
      out += '$';
      ++i;
      continue;
    }
    if (text[i + 1] != '(' || last == std::string_view::npos || last < i) {
      out += '$';
      continue;
    }
    const std::size_t close = text.find(')', i + 2);
    const std::string* value = value_of(text.substr(i + 2, close - i - 2));
    out += value == nullptr ? text.substr(i, close - i + 1) : std::string_view(*value);
    i = close;
  }
  return out;
}

base::Result<std::string> field_value(const Json& pod, std::string_view path, const Lookups& lookups) {
  if (path == "metadata.name") return std::string(api::name_of(pod));
  if (path == "metadata.namespace") return std::string(api::namespace_of(pod));
  if (path == "metadata.uid") return std::string(api::uid_of(pod));
  if (path == "metadata.labels") return map_text(pod["metadata"]["labels"]);
  if (path == "metadata.annotations") return map_text(pod["metadata"]["annotations"]);
  if (path == "spec.nodeName") return pod["spec"]["nodeName"].str();
  if (path == "spec.serviceAccountName") return std::string(pod["spec"]["serviceAccountName"].as_string("default"));
  if (path == "status.hostIP" || path == "status.hostIPs") return lookups.host_ip;
  if (path == "status.podIP" || path == "status.podIPs") return lookups.pod_ip;
  if (const std::string_view key = subscript(path, "metadata.labels"); !key.empty())
    return std::string(api::label_of(pod, key));
  if (const std::string_view key = subscript(path, "metadata.annotations"); !key.empty())
    return std::string(api::annotation_of(pod, key));
  return make_error(Code::kInvalid, base::format("unsupported fieldPath: {}", path));
}

base::Result<std::string> resource_value(const Json& container, const Json& reference, const Lookups& lookups) {
  const std::string_view resource = reference["resource"].as_string();
  const std::size_t dot = resource.find('.');
  if (dot == std::string_view::npos)
    return make_error(Code::kInvalid, base::format("unsupported container resource: {}", resource));
  const std::string_view list = resource.substr(0, dot);
  const std::string_view name = resource.substr(dot + 1);
  if (list != "limits" && list != "requests")
    return make_error(Code::kInvalid, base::format("unsupported container resource: {}", resource));
  auto quantity = api::Quantity::from_json(container["resources"][list][name]);
  if (!quantity && list == "limits") {
    const auto found = lookups.allocatable.find(name);
    if (found != lookups.allocatable.end()) quantity = found->second;
  }
  if (!quantity) quantity = api::Quantity();
  auto divisor = api::Quantity::from_json(reference["divisor"]);
  if (!divisor || divisor->is_zero()) divisor = api::Quantity::from_int(1);
  const bool milli = name == "cpu";
  const std::int64_t value = milli ? quantity->milli_value() : quantity->value();
  const std::int64_t unit = std::max<std::int64_t>(1, milli ? divisor->milli_value() : divisor->value());
  return std::to_string(value / unit + (value % unit != 0 ? 1 : 0));
}

base::Result<Environment> environment_of(const Json& pod, const Json& container, const Lookups& lookups) {
  Variables variables;
  for (const Json* service : lookups.services) TRY_VOID(add_service(*service, variables));
  // Without a proxy, and on the host's network, the server is where it listens.
  const bool by_service = !lookups.services.empty() && api::key_of(*lookups.services.front()) == "default/kubernetes";
  if (lookups.api_port != 0 && (!by_service || pod["spec"]["hostNetwork"].as_bool())) {
    const std::string port = std::to_string(lookups.api_port);
    TRY_VOID(variables.put("KUBERNETES_SERVICE_HOST", lookups.api_host));
    TRY_VOID(variables.put("KUBERNETES_SERVICE_PORT", port));
    TRY_VOID(variables.put("KUBERNETES_SERVICE_PORT_HTTPS", port));
  }
  for (const Json& source : container["envFrom"].items()) TRY_VOID(add_all(pod, source, lookups, variables));
  const ContainersByName containers(pod);
  for (const Json& variable : container["env"].items()) {
    const std::string name = variable["name"].str();
    const Json& from = variable["valueFrom"];
    if (from.is_null()) {
      TRY_VOID(variables.put(
          name, expand(variable["value"].as_string(), [&](std::string_view one) { return variables.find(one); })));
    } else if (from.has("fieldRef")) {
      TRY(std::string value, field_value(pod, from["fieldRef"]["fieldPath"].as_string(), lookups));
      TRY_VOID(variables.put(name, std::move(value)));
    } else if (from.has("resourceFieldRef")) {
      const Json& reference = from["resourceFieldRef"];
      const std::string_view whose = reference["containerName"].as_string();
      const Json* other = whose.empty() ? nullptr : containers.find(whose);
      TRY(std::string value, resource_value(other == nullptr ? container : *other, reference, lookups));
      TRY_VOID(variables.put(name, std::move(value)));
    } else if (from.has("configMapKeyRef") || from.has("secretKeyRef")) {
      const bool secret = from.has("secretKeyRef");
      TRY(KeyValue value, key_value(pod, from[secret ? "secretKeyRef" : "configMapKeyRef"], secret, lookups));
      if (value.present) TRY_VOID(variables.put(name, std::move(value.value)));
    } else {
      return make_error(Code::kInvalid, base::format("variable {:?}: this kind of valueFrom is not supported", name));
    }
  }
  return variables.all();
}

}  // namespace node
