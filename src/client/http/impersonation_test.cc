// The user as whom a kubeconfig's user acts, as headers.
#include "client/http/impersonation.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/http/kubeconfig.h"

namespace client {
namespace {

// The headers, one a line, or the error.
std::string headers_of(std::string_view user) {
  const auto access =
      parse_kubeconfig(base::format("{{current-context: x, contexts: [{{name: x, context: {{cluster: c, "
                                    "user: u}}}}], clusters: [{{name: c, cluster: {{server: s}}}}], "
                                    "users: [{{name: u, user: {{{}}}}}]}}",
                                    user),
                       "/");
  if (!access.ok()) return access.error().message;
  std::string out;
  for (const auto& [name, value] : access->acts_as) out += base::format("{}: {}\n", name, value);
  return out;
}

TEST(Impersonation, is_sent_as_client_go_sends_it) {
  const struct {
    std::string_view user, headers;
  } rows[] = {
      {"token: T", ""},
      {"as: ''", ""},
      {"as: null, as-uid: '', as-groups: [], as-user-extra: {}", ""},
      {"as: jane", "Impersonate-User: jane\n"},
      {"token: T, as: 'system:serviceaccount:a:b', as-uid: '7'",
       "Impersonate-User: system:serviceaccount:a:b\nImpersonate-Uid: 7\n"},
      {"as: jane, as-groups: [a, 'b c']", "Impersonate-User: jane\nImpersonate-Group: a\nImpersonate-Group: b c\n"},
      {"as: jane, as-user-extra: {scopes: [one, two], 'acme.com/Pro%ject': [x]}",
       "Impersonate-User: jane\nImpersonate-Extra-scopes: one\nImpersonate-Extra-scopes: two\n"
       "Impersonate-Extra-acme.com%2FPro%25ject: x\n"},
      {R"(as: jane, as-user-extra: {"a\r\nb: c": [x]})",
       "Impersonate-User: jane\nImpersonate-Extra-a%0D%0Ab%3A%20c: x\n"},
      {"auth-provider: {name: oidc, config: {id-token: T}}, as: jane", "Impersonate-User: jane\n"},
  };
  for (const auto& row : rows) EXPECT_EQ(headers_of(row.user), row.headers) << row.user;
}

TEST(Impersonation, is_refused_where_a_header_cannot_carry_it_or_nobody_is_named) {
  const std::string_view control = " has a control character (a line's end, say), which a header cannot carry";
  const std::string_view nobody = " is given without as: who is meant has to be named, too";
  const struct {
    std::string_view user, field, why;
  } rows[] = {
      {R"(as: "jane\r\nImpersonate-Group: system:masters")", R"(as: "jane\r\nImpersonate-Group: system:masters")",
       control},
      {R"(as: "jane\n")", R"(as: "jane\n")", control},
      {R"(as: "a\0b")", R"(as: "a\x00b")", control},
      {R"(as: jane, as-uid: "1\n2")", R"(as-uid: "1\n2")", control},
      {R"(as: jane, as-groups: [a, "b\rc"])", R"(as-groups[1]: "b\rc")", control},
      {R"(as: jane, as-user-extra: {k: ["x\ny"]})", R"(as-user-extra.k[0]: "x\ny")", control},
      {"as-uid: '7'", "as-uid", nobody},
      {"as-groups: [a]", "as-groups", nobody},
      {"as: '', as-user-extra: {k: []}", "as-user-extra", nobody},
  };
  for (const auto& row : rows)
    EXPECT_EQ(headers_of(row.user), base::format("user \"u\": {}{}", row.field, row.why)) << row.user;
}

}  // namespace
}  // namespace client
