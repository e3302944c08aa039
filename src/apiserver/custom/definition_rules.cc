// The faults of a CustomResourceDefinition for which a Kubernetes server refuses it, in its words.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "api/cel/rule_costs.h"
#include "api/json/problems.h"
#include "api/policies/webhook.h"
#include "api/schema/names.h"
#include "apiserver/custom/definition.h"
#include "base/format.h"
#include "base/letters.h"

namespace apiserver {

using api::Json;
using api::Structural;
using base::Cause;

namespace {

constexpr std::size_t kVersionsMax = 100;  // bounds what one definition makes

class Checker {
 public:
  Checker(const Json& object, const Json& before, std::vector<Cause>& causes)
      : object_(object), spec_(object["spec"]), before_(before), causes_(causes) {}

  void run() {
    check_group();
    check_versions();
    check_names();
    check_conversion();
    if (spec_["preserveUnknownFields"].as_bool())
      invalid(
          "spec.preserveUnknownFields", Json(true),
          "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead");
  }

  void check_change(const Json& before) {
    const Json& old_spec = before["spec"];
    const bool established = std::ranges::any_of(before["status"]["conditions"].items(), [](const Json& one) {
      return one["type"].as_string() == "Established" && one["status"].as_string() == "True";
    });
    const auto keep = [&](const std::string& path, const Json& old_value, const Json& value) {
      if (!(old_value == value)) invalid(path, value, "field is immutable");
    };
    if (established) {
      keep("spec.scope", old_spec["scope"], spec_["scope"]);
      keep("spec.names.kind", old_spec["names"]["kind"], spec_["names"]["kind"]);
    }
    keep("spec.group", old_spec["group"], spec_["group"]);
    keep("spec.names.plural", old_spec["names"]["plural"], spec_["names"]["plural"]);
    if (spec_["conversion"]["strategy"].as_string() == "Webhook" && storage_of(old_spec) != storage_of(spec_) &&
        !storage_of(old_spec).empty())
      add("FieldValueForbidden", "spec.versions",
          "Forbidden: the storage version cannot change here where a webhook converts");
    std::size_t at = 0;
    for (const Json& stored : object_["status"]["storedVersions"].items()) {
      const std::string path = base::format("status.storedVersions[{}]", at++);
      const bool there = std::ranges::any_of(spec_["versions"].items(),
                                             [&](const Json& version) { return version["name"] == stored; });
      if (!there)
        invalid(path, stored,
                base::format("missing from spec.versions; {} was previously a storage version, and must remain in "
                             "spec.versions until a storage migration ensures no data remains persisted in {} and "
                             "removes {} from status.storedVersions",
                             stored.as_string(), stored.as_string(), stored.as_string()));
    }
  }

 private:
  void add(std::string_view reason, std::string field, std::string message) {
    if (causes_.size() < api::kProblemsMax)
      causes_.push_back({std::string(reason), std::move(message), std::move(field)});
  }
  void require(std::string field, std::string_view why = {}) {
    add("FieldValueRequired", std::move(field),
        why.empty() ? "Required value" : base::format("Required value: {}", why));
  }
  void invalid(std::string field, const Json& value, std::string_view why) {
    add("FieldValueInvalid", std::move(field),
        base::format("Invalid value: {}: {}", api::shortened(value.dump()), why));
  }
  void unsupported(std::string field, const Json& value, std::string_view choices) {
    add("FieldValueNotSupported", std::move(field),
        base::format("Unsupported value: {}: supported values: {}", api::shortened(value.dump()), choices));
  }

  static std::string storage_of(const Json& spec) {
    for (const Json& version : spec["versions"].items())
      if (version["storage"].as_bool()) return version["name"].str();
    return {};
  }

  void check_group() {
    const std::string group = spec_["group"].str();
    const std::string wanted = spec_["names"]["plural"].str() + "." + group;
    if (api::name_of(object_) != wanted)
      invalid("metadata.name", object_["metadata"]["name"], "must be spec.names.plural+\".\"+spec.group");
    if (group.empty()) {
      require("spec.group");
    } else if (const auto problems = api::check_dns_subdomain(group); !problems.empty()) {
      invalid("spec.group", Json(group), problems.front());
    } else if (group.find('.') == std::string::npos) {
      invalid("spec.group", Json(group), "should be a domain with at least one dot");
    }
    const std::string_view scope = spec_["scope"].as_string();
    if (scope.empty())
      require("spec.scope");
    else if (scope != "Cluster" && scope != "Namespaced")
      unsupported("spec.scope", spec_["scope"], "\"Cluster\", \"Namespaced\"");
    const bool is_protected = group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io");
    if (is_protected && api::annotation_of(object_, "api-approved.kubernetes.io").empty())
      require("metadata.annotations[api-approved.kubernetes.io]",
              "protected groups must have approval annotation \"api-approved.kubernetes.io\", see "
              "https://github.com/kubernetes/enhancements/pull/1111");
  }

  // A stock server names the parts of versions once if all are alike.
  std::string place(std::string_view member, std::size_t at) const {
    const auto versions = spec_["versions"].items();
    const bool alike =
        std::ranges::all_of(versions, [&](const Json& one) { return one[member] == versions.front()[member]; });
    const std::string_view top = member == "schema" ? "validation" : member;
    return alike ? base::format("spec.{}", top) : base::format("spec.versions[{}].{}", at, member);
  }

  void check_versions() {
    const auto versions = spec_["versions"].items();
    std::set<std::string> names;
    int stored = 0;
    for (std::size_t i = 0; i < versions.size() && i < kVersionsMax; ++i) {
      const Json& version = versions[i];
      const std::string path = base::format("spec.versions[{}]", i);
      check_label(path + ".name", version["name"]);
      names.insert(version["name"].str());
      stored += version["storage"].as_bool();
      if (!version["deprecationWarning"].is_null() && !version["deprecated"].as_bool())
        invalid(path + ".deprecationWarning", version["deprecationWarning"], "can only be set for deprecated versions");
      else if (const Json& warning = version["deprecationWarning"]; warning.is_string() && warning.as_string().empty())
        invalid(path + ".deprecationWarning", warning, "must not be an empty string");
      if (!version["schema"]["openAPIV3Schema"].is_object()) {
        require(path + ".schema.openAPIV3Schema");
        continue;
      }
      check_schema(version, i);
    }
    if (versions.size() > kVersionsMax)
      add("FieldValueTooMany", "spec.versions",
          base::format("Too many: {}: must have at most {} items", versions.size(), kVersionsMax));
    if (names.size() != versions.size() && versions.size() <= kVersionsMax)
      invalid("spec.versions", Json(static_cast<std::int64_t>(versions.size())), "must contain unique version names");
    if (stored != 1)
      invalid("spec.versions", Json(static_cast<std::int64_t>(versions.size())),
              "must have exactly one version marked as storage version");
  }

  // The part that all versions share is looked at once.
  void check_schema(const Json& version, std::size_t at) {
    const auto was_looked_at = [at](const std::string& path) { return at > 0 && !path.starts_with("spec.versions["); };
    const Json& schema = version["schema"]["openAPIV3Schema"];
    const std::string path = place("schema", at) + ".openAPIV3Schema";
    const bool is_shared = was_looked_at(path);
    if (!is_shared) {
      const std::size_t before = causes_.size();
      structure_ = api::read_structural(schema, path, causes_);
      if (causes_.size() == before) api::cel::StructuralRules(structure_, path, patterns_, causes_);
      if (causes_.size() == before && !was_stored(schema)) api::cel::check_rule_costs(structure_, path, causes_);
    }
    const std::string columns = place("additionalPrinterColumns", at);
    if (!was_looked_at(columns)) check_columns(version["additionalPrinterColumns"], columns);
    const std::string selectable = place("selectableFields", at);
    if (!was_looked_at(selectable) || !is_shared) check_selectable(version["selectableFields"], structure_, selectable);
    const std::string subresources = place("subresources", at);
    if (const Json& status = version["subresources"]["status"]; !status.is_null() && !status.is_object())
      invalid(subresources + ".status", status, "must be an object");
    if (!was_looked_at(subresources)) check_scale(version["subresources"]["scale"], subresources + ".scale");
  }

  // Such a schema is in force already, and may stay.
  bool was_stored(const Json& schema) const {
    return std::ranges::any_of(before_["spec"]["versions"].items(),
                               [&](const Json& one) { return one["schema"]["openAPIV3Schema"] == schema; });
  }

  void check_columns(const Json& columns, const std::string& path) {
    static constexpr std::array<std::string_view, 5> kTypes = {"boolean", "date", "integer", "number", "string"};
    static constexpr std::array<std::string_view, 9> kFormats = {"",      "byte",  "date",  "date-time", "double",
                                                                 "float", "int32", "int64", "password"};
    std::size_t at = 0;
    for (const Json& column : columns.items()) {
      const std::string place = base::format("{}[{}]", path, at++);
      if (column["name"].as_string().empty()) require(place + ".name");
      if (column["type"].as_string().empty())
        require(place + ".type", "must be one of boolean,date,integer,number,string");
      else if (std::ranges::find(kTypes, column["type"].as_string()) == kTypes.end())
        invalid(place + ".type", column["type"], "must be one of boolean,date,integer,number,string");
      if (std::ranges::find(kFormats, column["format"].as_string()) == kFormats.end())
        invalid(place + ".format", column["format"],
                "must be one of byte,date,date-time,double,float,int32,int64,password");
      const Json& text = column["jsonPath"];
      if (text.as_string().empty())
        require(place + ".JSONPath");
      else if (text.as_string()[0] != '.')
        invalid(place + ".JSONPath", text, "must be a simple json path starting with .");
    }
  }

  void check_selectable(const Json& fields, const Structural& root, const std::string& path) {
    constexpr std::size_t kFieldsMax = 8;
    if (fields.size() > kFieldsMax)
      add("FieldValueTooMany", path,
          base::format("Too many: {}: must have at most {} items", fields.size(), kFieldsMax));
    std::set<std::string> seen;
    std::size_t at = 0;
    for (const Json& field : fields.items()) {
      const std::string place = base::format("{}[{}].jsonPath", path, at++);
      const Json& text = field["jsonPath"];
      if (text.as_string().empty()) {
        require(place);
      } else if (text.as_string()[0] != '.') {
        invalid(place, text,
                base::format("is an invalid path: expected [ or . but got: {}", text.as_string().substr(0, 20)));
      } else {
        const Structural* leads_to = follow(root, text.as_string());
        const bool scalar = leads_to != nullptr && (leads_to->type == Structural::Type::kString ||
                                                    leads_to->type == Structural::Type::kBoolean ||
                                                    leads_to->type == Structural::Type::kInteger);
        if (leads_to == nullptr)
          invalid(place, text, "is an invalid path: does not refer to a valid field");
        else if (!scalar)
          invalid(place, text,
                  "must point to a field of type string, boolean or integer. Enum string fields and strings with "
                  "formats are allowed.");
      }
      if (!seen.insert(text.str()).second)
        add("FieldValueDuplicate", place, base::format("Duplicate value: {}", text.dump()));
    }
  }

  static const Structural* follow(const Structural& root, std::string_view path) {
    const Structural* at = &root;
    while (at != nullptr && path.size() > 1) {
      path.remove_prefix(1);
      const std::size_t dot = std::min(path.find('.'), path.size());
      const std::string_view name = path.substr(0, dot);
      if (at == &root && name == "metadata") return nullptr;
      at = at->member(name);
      path.remove_prefix(dot);
    }
    return at;
  }

  void check_scale(const Json& scale, const std::string& path) {
    if (!scale.is_object()) return;
    const auto check = [&](const char* name, bool needed, std::initializer_list<std::string_view> under,
                           std::string_view words) {
      const std::string_view text = scale[name].as_string();
      const std::string field = path + "." + name;
      if (text.empty()) {
        if (needed) require(field);
      } else if (text[0] != '.' || text.find("..") != std::string_view::npos || text.ends_with('.')) {
        invalid(field, scale[name], "must be a simple json path starting with .");
      } else if (std::ranges::none_of(under, [&](std::string_view part) { return text.starts_with(part); })) {
        invalid(field, scale[name], base::format("should be a json path under {}", words));
      }
    };
    check("specReplicasPath", true, {".spec."}, ".spec");
    check("statusReplicasPath", true, {".status."}, ".status");
    check("labelSelectorPath", false, {".status.", ".spec."}, "either .status or .spec");
  }

  void check_label(std::string field, const Json& value) {
    for (const std::string& problem : api::check_dns1035_label(value.as_string())) invalid(field, value, problem);
  }

  void check_names() {
    const Json& names = spec_["names"];
    check_label("spec.names.plural", names["plural"]);
    check_label("spec.names.singular", names["singular"]);
    for (const char* name : {"kind", "listKind"}) {
      const std::string field = base::format("spec.names.{}", name);
      if (names[name].as_string().empty()) {
        require(field);
        continue;
      }
      for (const std::string& problem : api::check_dns1035_label(base::lower(names[name].str())))
        invalid(field, names[name], "may have mixed case, but should otherwise match: " + problem);
    }
    std::size_t at = 0;
    for (const Json& name : names["shortNames"].items())
      check_label(base::format("spec.names.shortNames[{}]", at++), name);
    if (!names["kind"].as_string().empty() && names["kind"] == names["listKind"])
      invalid("spec.names.listKind", names["listKind"], "kind and listKind may not be the same");
    at = 0;
    for (const Json& name : names["categories"].items())
      check_label(base::format("spec.names.categories[{}]", at++), name);
  }

  void check_conversion() {
    const Json& conversion = spec_["conversion"];
    const std::string_view strategy = conversion["strategy"].as_string();
    if (strategy != "None" && strategy != "Webhook")
      return unsupported("spec.conversion.strategy", conversion["strategy"], "\"None\", \"Webhook\"");
    const Json& webhook = conversion["webhook"];
    if (strategy == "None") {
      if (!webhook.is_null())
        add("FieldValueForbidden", "spec.conversion.webhook",
            "Forbidden: should not be set when strategy is not set to Webhook");
      return;
    }
    const std::string config = "spec.conversion.webhookClientConfig";
    const Json& client = webhook["clientConfig"];
    if (client.is_null()) {
      require(config, "required when strategy is set to Webhook");
    } else {
      api::policies::check_webhook_address(client, config, causes_);
    }
    const Json& versions = webhook["conversionReviewVersions"];
    const std::string field = "spec.conversion.conversionReviewVersions";
    if (versions.empty()) return require(field);
    api::policies::check_webhook_review_versions(versions, field, causes_);
  }

  const Json& object_;
  const Json& spec_;
  const Json& before_;  // null: it is new
  std::vector<Cause>& causes_;
  Structural structure_;         // of the version that is looked at
  api::cel::Patterns patterns_;  // of the whole definition
};

}  // namespace

void fill_definition(Json& object) {
  if (!object["spec"].is_object() || !object["spec"]["names"].is_object()) return;
  Json& spec = object.edit("spec");
  Json& names = spec.edit("names");
  const std::string kind = names["kind"].str();
  const auto is_unset = [](const Json& text) { return text.is_null() || text == Json(""); };
  if (is_unset(names["singular"])) names.set("singular", base::lower(kind));
  if (is_unset(names["listKind"]) && !kind.empty()) names.set("listKind", kind + "List");
  for (std::size_t i = 0; i < spec["versions"].items().size(); ++i)
    if (spec["versions"][i].is_object() && spec["versions"][i]["served"].is_null())
      spec.edit("versions").edit(i).set("served", false);
  if (!spec["conversion"].is_object()) spec.set("conversion", Json::object({{"strategy", "None"}}));
  if (const Json* preserve = spec.find("preserveUnknownFields"); preserve != nullptr && !preserve->as_bool())
    spec.erase("preserveUnknownFields");
}

void check_definition(const Json& object, const Json& before, std::vector<Cause>& causes) {
  Checker checker(object, before, causes);
  if (before.is_object()) checker.check_change(before);
  // A stored specification is not judged anew.
  if (!(object["spec"] == before["spec"])) checker.run();
}

}  // namespace apiserver
