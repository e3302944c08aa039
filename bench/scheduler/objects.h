// Objects as a cluster has them: with uids, owners, versions, managed fields, conditions, tolerations and the volume of
// a service account; a pod has 4 to 6 KB. One JSON line each.
#pragma once

#include <string>

namespace bench {

std::string node_line(const std::string& name, const std::string& resources, const std::string& labels,
                      const std::string& spec = "");
std::string group_line(const std::string& name, int min, const std::string& queue, const std::string& minimum = "",
                       const std::string& phase = "Pending", const std::string& priority = "",
                       const std::string& topology = "", const std::string& annotations = "");
std::string queue_line(const std::string& name, int weight, const std::string& more = "",
                       const std::string& annotations = "");

// Members as JSON text; those that follow others begin with a comma.
struct PodLine {
  std::string name, group, requests, node, labels, spec, annotations;
  std::string tolerations;  // beside those that every pod gets
};
std::string pod_line(const PodLine& pod);

}  // namespace bench
