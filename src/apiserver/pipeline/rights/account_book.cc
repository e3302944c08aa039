// The uids of all service accounts, as they are written.
#include "apiserver/pipeline/rights/account_book.h"

#include "api/kinds.h"

namespace apiserver {

void AccountBook::begin() {
  const auto index =
      static_cast<std::uint32_t>(api::find_kind(api::resources::kServiceAccounts) - api::all_kinds().data());
  store_.for_each(index, "", "", store::View::kLatest, [this](const store::ObjectPtr& object) {
    uids_->insert(object->uid);
    return true;
  });
  store_.on_latest(index, [uids = uids_](const store::ObjectPtr& before, const store::ObjectPtr& after) {
    if (before) uids->erase(before->uid);
    if (after) uids->insert(after->uid);
  });
}

}  // namespace apiserver
