// Types of the fields of a kubeconfig. A token that is a number, say, is not taken for none.
#include "client/http/kubeconfig_check.h"

#include <string>
#include <string_view>

#include "base/format.h"

namespace client {

using api::Json;

namespace {

enum class Type { kText, kSwitch, kMap, kList };

struct Field {
  std::string_view name;
  Type type;
};

constexpr Field kConfig[] = {
    {"current-context", Type::kText}, {"clusters", Type::kList}, {"users", Type::kList}, {"contexts", Type::kList}};
constexpr Field kCluster[] = {{"server", Type::kText},
                              {"certificate-authority", Type::kText},
                              {"certificate-authority-data", Type::kText},
                              {"tls-server-name", Type::kText},
                              {"proxy-url", Type::kText},
                              {"insecure-skip-tls-verify", Type::kSwitch},
                              {"extensions", Type::kList}};
constexpr Field kUser[] = {{"token", Type::kText},
                           {"tokenFile", Type::kText},
                           {"client-certificate", Type::kText},
                           {"client-certificate-data", Type::kText},
                           {"client-key", Type::kText},
                           {"client-key-data", Type::kText},
                           {"username", Type::kText},
                           {"password", Type::kText},
                           {"exec", Type::kMap},
                           {"auth-provider", Type::kMap},
                           {"as", Type::kText},
                           {"as-uid", Type::kText},
                           {"as-groups", Type::kList},
                           {"as-user-extra", Type::kMap}};
constexpr Field kContext[] = {{"cluster", Type::kText}, {"user", Type::kText}, {"namespace", Type::kText}};
constexpr Field kExec[] = {{"apiVersion", Type::kText},           {"command", Type::kText},
                           {"interactiveMode", Type::kText},      {"args", Type::kList},
                           {"provideClusterInfo", Type::kSwitch}, {"env", Type::kList}};
constexpr Field kVariable[] = {{"name", Type::kText}, {"value", Type::kText}};
constexpr Field kProvider[] = {{"name", Type::kText}, {"config", Type::kMap}};

bool is_of(const Json& value, Type type) {
  switch (type) {
    case Type::kText: return value.is_string();
    case Type::kSwitch: return value.is_bool();
    case Type::kMap: return value.is_object();
    case Type::kList: return value.is_array();
  }
  return false;
}

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kText: return "text";
    case Type::kSwitch: return "true or false";
    case Type::kMap: return "a map";
    case Type::kList: return "a list";
  }
  return "";
}

// Values may be secrets, so that only what kind they are of is told.
std::string_view kind_of(const Json& value) {
  if (value.is_string()) return "text";
  if (value.is_bool()) return "true or false";
  if (value.is_object()) return "a map";
  if (value.is_array()) return "a list";
  return "a number";
}

base::Status expect(const Json& value, Type type, const std::string& where) {
  if (value.is_null() || is_of(value, type)) return {};
  return base::make_error(base::Code::kBadRequest,
                          base::format("{} must be {}, not {}", where, name_of(type), kind_of(value)));
}

template <std::size_t size>
base::Status expect_fields(const Json& map, const Field (&fields)[size], const std::string& where) {
  TRY_VOID(expect(map, Type::kMap, where.empty() ? "it" : where));
  for (const Field& field : fields)
    TRY_VOID(expect(map[field.name], field.type, base::format("{}{}{}", where, where.empty() ? "" : ".", field.name)));
  return {};
}

base::Status expect_texts(const Json& list, const std::string& where) {
  TRY_VOID(expect(list, Type::kList, where));
  for (std::size_t i = 0; i < list.size(); ++i)
    TRY_VOID(expect(list[i], Type::kText, base::format("{}[{}]", where, i)));
  return {};
}

base::Status check_user(const Json& user, const std::string& where) {
  TRY_VOID(expect_fields(user, kUser, where));
  const Json &exec = user["exec"], &provider = user["auth-provider"];
  TRY_VOID(expect_texts(user["as-groups"], where + ".as-groups"));
  for (const auto& [key, values] : user["as-user-extra"].members())
    TRY_VOID(expect_texts(values, base::format("{}.as-user-extra.{}", where, key.as_string())));
  TRY_VOID(expect_fields(exec, kExec, where + ".exec"));
  TRY_VOID(expect_texts(exec["args"], where + ".exec.args"));
  for (std::size_t i = 0; i < exec["env"].size(); ++i)
    TRY_VOID(expect_fields(exec["env"][i], kVariable, base::format("{}.exec.env[{}]", where, i)));
  TRY_VOID(expect_fields(provider, kProvider, where + ".auth-provider"));
  return expect(provider["config"]["id-token"], Type::kText, where + ".auth-provider.config.id-token");
}

}  // namespace

base::Status check_kubeconfig(const Json& config) {
  TRY_VOID(expect_fields(config, kConfig, ""));
  const auto each = [&config](const char* list, const char* inner, auto&& check) -> base::Status {
    for (std::size_t i = 0; i < config[list].size(); ++i) {
      const Json& entry = config[list][i];
      const std::string where = base::format("{}[{}]", list, i);
      TRY_VOID(expect(entry, Type::kMap, where));
      TRY_VOID(expect(entry["name"], Type::kText, where + ".name"));
      TRY_VOID(check(entry[inner], base::format("{}.{}", where, inner)));
    }
    return {};
  };
  TRY_VOID(each("clusters", "cluster",
                [](const Json& one, const std::string& where) { return expect_fields(one, kCluster, where); }));
  TRY_VOID(each("users", "user", check_user));
  return each("contexts", "context",
              [](const Json& one, const std::string& where) { return expect_fields(one, kContext, where); });
}

base::Result<std::string> token_from(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return base::make_error(base::Code::kBadRequest, "the token is empty");
  const std::string_view token = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  for (const char c : token)
    if (c <= ' ' || c > '~')
      return base::make_error(base::Code::kBadRequest, "a token is one word of printable ASCII characters");
  return std::string(token);
}

}  // namespace client
