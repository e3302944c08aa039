// From a stored definition to kinds that can be served.
#include "apiserver/custom/definition.h"

#include <algorithm>
#include <tuple>

#include "base/format.h"

namespace apiserver {

using api::Json;

namespace {

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  for (const Json& item : list.items()) out.push_back(item.str());
  return out;
}

// "v2" before "v1" before "v2beta1" before "v1alpha3" before "other".
std::tuple<int, std::int64_t, std::int64_t, std::string> rank(const std::string& version) {
  const auto number = [&](std::size_t& at) {
    std::int64_t value = 0;
    const std::size_t begin = at;
    for (; at < version.size() && version[at] >= '0' && version[at] <= '9' && at - begin < 9; ++at)
      value = value * 10 + (version[at] - '0');
    return at == begin ? std::int64_t{-1} : value;
  };
  std::size_t at = 1;
  const std::tuple<int, std::int64_t, std::int64_t, std::string> other{3, 0, 0, version};
  if (version.empty() || version[0] != 'v') return other;
  const std::int64_t major = number(at);
  if (major < 0) return other;
  if (at == version.size()) return {0, -major, 0, ""};
  for (const auto& [word, place] : {std::pair{std::string_view("beta"), 1}, {std::string_view("alpha"), 2}}) {
    if (!std::string_view(version).substr(at).starts_with(word)) continue;
    std::size_t end = at + word.size();
    const std::int64_t minor = number(end);
    if (minor >= 0 && end == version.size()) return {place, -major, -minor, ""};
  }
  return other;
}

class Maker {
 public:
  // `known`: the same definition before; a schema that stays is not compiled again.
  Maker(const Definition& definition, const Json& spec, const Definition* known)
      : definition_(definition), spec_(spec), known_(known) {}

  std::shared_ptr<const CustomKind> make(const Json& version, const std::string& storage, std::int64_t since) {
    auto made = std::make_shared<CustomKind>();
    CustomKind& kind = *made;
    kind.definition = definition_.name;
    kind.storage_version = storage;
    kind.written_anew_after = since;
    kind.deleting = definition_.deleting;
    kind.converts_by_webhook = spec_["conversion"]["strategy"].as_string() == "Webhook";
    kind.needs_converter = kind.converts_by_webhook && version["name"] != Json(storage);
    set_names(version, kind);
    kind.open_api = version["schema"]["openAPIV3Schema"];
    set_schema(kind);
    kind.copy = api::to_schema(*kind.structure);
    kind.schema = kind.copy.root;
    add_subresources(version["subresources"], kind);
    add_columns(version, kind);
    for (const Json& field : version["selectableFields"].items())
      if (const std::string_view path = field["jsonPath"].as_string(); path.size() > 1)
        kind.selectable.emplace_back(path.substr(1));
    return made;
  }

 private:
  void set_schema(CustomKind& kind) {
    const auto same = [&](const std::shared_ptr<const CustomKind>& one) {
      return one != nullptr && one->open_api == kind.open_api;
    };
    const CustomKind* like = nullptr;
    for (const Definition* of : {&definition_, known_}) {
      if (of == nullptr || like != nullptr) continue;
      const auto found = std::ranges::find_if(of->kinds, same);
      like = found != of->kinds.end() ? found->get() : same(of->stored_kind) ? of->stored_kind.get() : nullptr;
    }
    if (like != nullptr) {
      kind.structure = like->structure;
      kind.rules = like->rules;
      return;
    }
    std::vector<base::Cause> problems;  // were told when it was written
    kind.structure = std::make_shared<const api::Structural>(api::read_structural(kind.open_api, "", problems));
    kind.rules = std::make_shared<const api::cel::StructuralRules>(*kind.structure, "", patterns_, problems);
  }

  void set_names(const Json& version, CustomKind& kind) const {
    const KindNames& names = definition_.accepted;
    kind.resource = {definition_.group, version["name"].str(), names.plural};
    kind.kind = names.kind;
    kind.list_name = names.list_kind;
    kind.singular = names.singular;
    kind.short_names = names.short_names;
    kind.categories = names.categories;
    kind.namespaced = spec_["scope"].as_string() == "Namespaced";
    kind.custom = true;
    kind.has_generation = true;
    if (!version["deprecated"].as_bool()) return;
    kind.warning = version["deprecationWarning"].as_string();
    if (kind.warning.empty())
      kind.warning = base::format("{} {} is deprecated", kind.resource.api_version(), kind.kind);
  }

  static std::string_view keep(CustomKind& kind, const Json& text) { return kind.texts.emplace_back(text.str()); }

  static void add_subresources(const Json& subresources, CustomKind& kind) {
    kind.status_subresource = subresources["status"].is_object();
    const Json& scale = subresources["scale"];
    if (!scale.is_object()) return;
    kind.subresources = {"scale"};
    kind.scale = {keep(kind, scale["specReplicasPath"]), keep(kind, scale["statusReplicasPath"]),
                  keep(kind, scale["labelSelectorPath"])};
  }

  static void add_columns(const Json& version, CustomKind& kind) {
    for (const Json& column : version["additionalPrinterColumns"].items()) {
      auto path = api::JsonPath::parse(column["jsonPath"].as_string());
      if (!path.ok()) {  // with one that cannot be read a stock server prints none of them
        kind.columns.clear();
        kind.cells.clear();
        return;
      }
      kind.columns.push_back({keep(kind, column["name"]), keep(kind, column["jsonPath"]), keep(kind, column["type"]),
                              static_cast<int>(column["priority"].as_int())});
      std::string description = column["description"].str();
      if (description.empty())
        description =
            base::format("Custom resource definition column (in JSONPath format): {}", column["jsonPath"].as_string());
      kind.cells.push_back({*std::move(path), column["type"].str(), column["format"].str(), std::move(description)});
    }
  }

  const Definition& definition_;
  const Json& spec_;
  const Definition* known_;
  api::cel::Patterns patterns_;
};

bool has_condition(const Json& object, std::string_view type) {
  return std::ranges::any_of(object["status"]["conditions"].items(), [&](const Json& one) {
    return one["type"].as_string() == type && one["status"].as_string() == "True";
  });
}

// For the definition before: its spec says how objects are read that were written under it.
std::int64_t written_anew_after(const Definition& now, const Definition* known) {
  if (known == nullptr || known->kinds.empty() || !(known->spec == now.spec)) return now.revision;
  return known->kinds.front()->written_anew_after;
}

}  // namespace

bool comes_before(const std::string& version, const std::string& other) { return rank(version) < rank(other); }

bool is_definition(const api::KindInfo& kind) { return kind.resource == api::resources::kCustomResourceDefinitions; }

KindNames KindNames::read(const Json& names) {
  return {names["plural"].str(),   names["singular"].str(),    names["kind"].str(),
          names["listKind"].str(), texts(names["shortNames"]), texts(names["categories"])};
}

DefinitionPtr read_definition(const Json& object, std::int64_t revision, const Definition* known) {
  auto made = std::make_shared<Definition>();
  made->name = api::name_of(object);
  made->spec = object["spec"];
  made->group = made->spec["group"].as_string();
  made->accepted = KindNames::read(object["status"]["acceptedNames"]);
  made->established = has_condition(object, "Established");
  made->conflicts = !has_condition(object, "NamesAccepted");
  made->deleting = api::is_deleting(object);
  made->revision = revision;
  const auto own = api::all_kinds();
  made->is_own = std::ranges::any_of(own, [&](const api::KindInfo& kind) {
    return kind.resource.group == made->group && kind.resource.plural == made->spec["names"]["plural"].as_string();
  });
  if (!made->established || made->is_own) return made;
  std::vector<Json> versions;
  std::string storage;
  for (const Json& version : made->spec["versions"].items()) {
    if (version["storage"].as_bool()) storage = version["name"].as_string();
    if (version["served"].as_bool()) versions.push_back(version);
  }
  std::ranges::stable_sort(versions,
                           [](const Json& a, const Json& b) { return comes_before(a["name"].str(), b["name"].str()); });
  const std::int64_t since = written_anew_after(*made, known);
  Maker maker(*made, made->spec, known);
  for (const Json& version : versions) made->kinds.push_back(maker.make(version, storage, since));
  for (const Json& version : made->spec["versions"].items())
    if (version["storage"].as_bool()) made->stored_kind = maker.make(version, storage, since);
  return made;
}

}  // namespace apiserver
