// `volcano pipeline serve`: the REST API of pipelines on the loopback, for one person, over an API server elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "api/json/json.h"
#include "base/result.h"

namespace volcano_main {

// Returns only where it cannot begin. `ns`: the only namespace whose objects are known; empty: that of the kubeconfig,
// or all where it names none.
base::Status serve_pipelines(const std::string& kubeconfig, const std::string& master, const std::string& ns,
                             std::uint16_t port);

// A reader of the same API, without a port: that of the server, or this program's where the server has none.
base::Result<std::function<base::Result<api::Json>(const std::string& target)>> open_pipelines(
    const std::string& kubeconfig, const std::string& master, const std::string& ns);

}  // namespace volcano_main
