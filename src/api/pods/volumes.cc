// Volumes of a pod template: a name, and exactly one source.
#include <array>
#include <cstdint>
#include <set>

#include "api/pods/names.h"
#include "api/pods/parts.h"
#include "api/pods/volume_sources.h"
#include "api/schema/quantity.h"
#include "api/schema/selector_rules.h"
#include "base/format.h"

namespace api {

namespace {

void check_mode(const Json& mode, const std::string& path, FieldErrors& errors) {
  if (mode.is_number() && (mode.as_int() < 0 || mode.as_int() > 0777))
    errors.invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive");
}

void check_file(const Json& file, const std::string& path, FieldErrors& errors) {
  const std::string text = file.str();
  if (text.empty()) return errors.required(path);
  if (text.starts_with("/")) errors.invalid(path, text, "must be a relative path");
  check_no_way_up(path, text, errors);
  if (text.starts_with("..") && !text.starts_with("../")) errors.invalid(path, text, "must not start with '..'");
}

void check_items(const Json& items, const std::string& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string where = at(path, i);
    if (items[i]["key"].as_string().empty()) errors.required(in(where, "key"));
    check_file(items[i]["path"], in(where, "path"), errors);
    check_mode(items[i]["mode"], in(where, "mode"), errors);
  }
}

void check_downward_items(const Json& items, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 5> kFields = {"metadata.annotations", "metadata.labels", "metadata.name",
                                                       "metadata.namespace", "metadata.uid"};
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string where = at(path, i);
    check_file(items[i]["path"], in(where, "path"), errors);
    const Json& field = items[i]["fieldRef"];
    const Json& amount = items[i]["resourceFieldRef"];
    if (field.is_object()) {
      check_field_ref(field, in(where, "fieldRef"), kFields, errors);
      if (amount.is_object())
        errors.invalid(where, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    } else if (amount.is_object()) {
      if (amount["containerName"].as_string().empty())
        errors.required(in(in(where, "resourceFieldRef"), "containerName"));
      check_resource_field_ref(amount, in(where, "resourceFieldRef"), errors);
    } else {
      errors.required(where, "one of fieldRef and resourceFieldRef is required");
    }
    check_mode(items[i]["mode"], in(where, "mode"), errors);
  }
}

void check_token(const Json& token, const std::string& path, FieldErrors& errors) {
  const Json& seconds = token["expirationSeconds"];
  if (seconds.is_number() && seconds.as_int() < 600)
    errors.invalid(in(path, "expirationSeconds"), seconds, "may not specify a duration less than 10 minutes");
  if (seconds.is_number() && seconds.as_int() > (std::int64_t{1} << 32))
    errors.invalid(in(path, "expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds");
  check_file(token["path"], in(path, "path"), errors);
}

void check_trust_bundle(const Json& bundle, const std::string& path, FieldErrors& errors) {
  const bool by_name = bundle["name"].is_string(), by_signer = bundle["signerName"].is_string();
  if (by_name && by_signer) errors.invalid(path, bundle, "only one of name and signerName may be used");
  if (!by_name && !by_signer) errors.required(path, "either name or signerName must be specified");
  if (by_name && bundle["name"].as_string().empty()) errors.required(in(path, "name"));
  if (by_name && !bundle["labelSelector"].is_null())
    errors.invalid(in(path, "labelSelector"), bundle["labelSelector"], "labelSelector is mutually exclusive with name");
  if (by_signer && bundle["signerName"].as_string().empty()) errors.required(in(path, "signerName"));
  // Values that no label has are taken, as Kubernetes takes them: they select nothing.
  Json selector = bundle["labelSelector"];
  const Json labels = selector["matchLabels"];
  for (const Json::Member& label : labels.members())
    if (label.value.is_string()) selector.edit("matchLabels").set(label.name(), "");
  check_label_selector(selector, in(path, "labelSelector"), errors);
  check_file(bundle["path"], in(path, "path"), errors);
}

// Several sources in one folder: a file cannot be made by two of them.
void check_projected(const Json& projected, const std::string& path, FieldErrors& errors) {
  check_mode(projected["defaultMode"], in(path, "defaultMode"), errors);
  std::set<std::string> files;
  const Json& sources = projected["sources"];
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string all = at(in(path, "sources"), i);
    int given = 0;
    for (const Json::Member& member : sources[i].members()) {
      if (!member.value.is_object()) continue;
      const Json& source = member.value;
      const std::string where = in(all, member.name());
      // Kubernetes' own count leaves bundles out.
      if (member.name() != "clusterTrustBundle" && ++given > 1)
        errors.forbidden(all, "may not specify more than 1 volume type per source");
      if (member.name() == "secret" || member.name() == "configMap") {
        if (source["name"].as_string().empty()) errors.required(in(where, "name"));
        check_items(source["items"], in(where, "items"), errors);
      } else if (member.name() == "downwardAPI") {
        check_downward_items(source["items"], in(where, "items"), errors);
      } else if (member.name() == "serviceAccountToken") {
        check_token(source, where, errors);
      } else if (member.name() == "clusterTrustBundle") {
        check_trust_bundle(source, where, errors);
      }
      for (const Json& item : source["items"].items())
        if (const std::string text = item["path"].str(); !text.empty() && !files.insert(text).second)
          errors.invalid(path, source["name"].str(), "conflicting duplicate paths");
    }
  }
}

// The claim is made of the template; only these parts of its metadata are the author's.
void check_ephemeral(const Json& source, const std::string& path, FieldErrors& errors) {
  const Json& claim = source["volumeClaimTemplate"];
  const std::string where = in(path, "volumeClaimTemplate");
  if (!claim.is_object()) return errors.required(where);
  check_labels(claim["metadata"]["labels"], in(in(where, "metadata"), "labels"), errors);
  check_annotations(claim["metadata"]["annotations"], in(in(where, "metadata"), "annotations"), errors);
  check_claim_spec(claim["spec"], in(where, "spec"), errors);
}

void check_image(const Json& image, const std::string& path, FieldErrors& errors) {
  constexpr std::array<std::string_view, 3> kPullPolicies = {"Always", "IfNotPresent", "Never"};
  if (image["reference"].as_string().empty()) errors.required(in(path, "reference"));
  check_choice(image, path, "pullPolicy", kPullPolicies, errors);
}

void check_source(std::string_view kind, const Json& source, const std::string& path, FieldErrors& errors) {
  const auto need = [&](std::string_view field) {
    if (source[field].as_string().empty()) errors.required(in(path, field));
  };
  check_volume_source(kind, source, path, errors);
  if (kind == "secret" || kind == "configMap") {
    need(kind == "secret" ? "secretName" : "name");
    check_mode(source["defaultMode"], in(path, "defaultMode"), errors);
    check_items(source["items"], in(path, "items"), errors);
  } else if (kind == "downwardAPI") {
    check_mode(source["defaultMode"], in(path, "defaultMode"), errors);
    check_downward_items(source["items"], in(path, "items"), errors);
  } else if (kind == "persistentVolumeClaim") {
    need("claimName");
  } else if (kind == "emptyDir") {
    if (const auto size = Quantity::from_json(source["sizeLimit"]); size && size->sign() < 0)
      errors.forbidden(in(path, "sizeLimit"), "SizeLimit field must be a valid resource quantity");
  } else if (kind == "csi") {
    const Json& secret = source["nodePublishSecretRef"];
    if (const std::string name = secret["name"].str(); secret.is_object() && name.empty())
      errors.required(in(in(path, "nodePublishSecretRef"), "name"));
    else if (secret.is_object())
      errors.invalid(in(path, "name"), name, check_dns_subdomain(name));  // the path is Kubernetes' own
  } else if (kind == "projected") {
    check_projected(source, path, errors);
  } else if (kind == "ephemeral") {
    check_ephemeral(source, path, errors);
  } else if (kind == "image") {
    check_image(source, path, errors);
  }
}

}  // namespace

std::set<std::string> check_pod_volumes(const Json& spec, const std::string& path, FieldErrors& errors) {
  std::set<std::string> names;
  const Json& volumes = spec["volumes"];
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const std::string where = at(in(path, "volumes"), i);
    int sources = 0;  // none: an emptyDir, as Kubernetes fills in
    for (const Json::Member& member : volumes[i].members()) {
      if (member.name() == "name" || !member.value.is_object()) continue;
      if (++sources > 1)
        errors.forbidden(in(where, member.name()), "may not specify more than 1 volume type");
      else
        check_source(member.name(), member.value, in(where, member.name()), errors);
    }
    const std::string name = volumes[i]["name"].str();
    if (name.empty())
      errors.required(in(where, "name"));
    else if (const auto problems = check_dns_label(name); !problems.empty())
      errors.invalid(in(where, "name"), name, problems);
    else if (!names.insert(name).second)
      errors.duplicate(in(where, "name"), name);
  }
  return names;
}

}  // namespace api
