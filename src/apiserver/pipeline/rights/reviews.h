// Questions that are asked by a POST and answered without being stored: who am I, what may I do, whose token is this.
#pragma once

#include "api/cel/access.h"
#include "apiserver/pipeline/rights/account_tokens.h"
#include "apiserver/pipeline/rights/role_book.h"

namespace apiserver {

// As reviews and the audit log show somebody.
api::Json user_json(const UserInfo& user);

// The rights of the user, and of service accounts, as expressions of policies and webhooks see them.
std::shared_ptr<const api::cel::AccessJudge> access_judge(const UserInfo& user, std::shared_ptr<const RoleSet> roles);

bool is_review(const api::KindInfo& kind);
// `tokens` may be null: there are none then.
base::Result<api::Json> review(const Request& request, const RoleSet& roles, const Lookups& objects,
                               const AccountTokens* tokens, base::Time now);
// Whether the user of the request has all rights that the changed role or binding gives, or the right to give others.
base::Status check_rights_given(const Request& request, const api::Json& object, const RoleBook& book,
                                const Lookups& objects);

}  // namespace apiserver
