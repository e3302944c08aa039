// Requests for a version that is not the stored one, where the definition's webhook converts: answers and watches of
// the stored version, as the requested one has them.
#pragma once

#include "apiserver/pipeline/api.h"
#include "apiserver/webhooks/conversion.h"

namespace apiserver {

// The request, of the version that is stored.
Request in_stored_version(const Request& request, const ConversionHook& hook);
// Converts what an answer holds: an object, a list of them; a Status stays what it is. `request` is the one for the
// other version. Loop thread only.
OnAnswer converting(Converter& converter, SideWork& side_work, ConversionHookPtr hook, const Request& request,
                    OnAnswer on_answer);
// Opens a watch of the stored version by `open`, and tells its events converted, in their order. A conversion that
// fails ends the watch: whoever watches begins anew, and hears why when he lists.
base::Result<std::unique_ptr<ApiWatch>> open_converting_watch(
    Converter& converter, ConversionHookPtr hook, const Request& request, WatchSink sink,
    const std::function<base::Result<std::unique_ptr<ApiWatch>>(const Request&, WatchSink)>& open);

}  // namespace apiserver
