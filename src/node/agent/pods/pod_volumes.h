// Volumes of running pods that follow their objects: ConfigMaps, Secrets, tokens.
#pragma once

#include <map>
#include <set>
#include <string>

#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_table.h"
#include "node/agent/core/pod_work.h"
#include "node/agent/pods/pod_lookups.h"
#include "node/pod/volumes.h"

namespace node {

// Owns the versions that volumes were laid out from, by pod, and the objects that changed in this turn of the loop.
// Asks the lookups for objects, and the machine to lay volumes out anew. Loop thread only.
class PodVolumes {
 public:
  PodVolumes(AgentLoop& loop, const PodTable& pods, PodWork& work, const PodLookups& lookups);

  // Lays out anew the volumes that come from the object, once per turn of the loop.
  void object_changed(const char* kind, const api::Json& object);
  // Lays out the pod's volumes anew whose objects have changed.
  void refresh(const std::string& uid);
  // The pod's sandbox is made with these.
  void laid_out(const std::string& uid, const std::vector<VolumeSpec>& volumes);
  void forget(const std::string& uid) { pods_laid_out_.erase(uid); }

 private:
  struct LaidOut {
    std::map<std::string, std::string> versions;  // of live volumes: what they were laid out from
    std::set<std::string> under_way;              // live volumes that are being laid out anew
  };

  AgentLoop& loop_;
  const PodTable& pods_;
  PodWork& work_;
  const PodLookups& lookups_;
  std::map<std::string, LaidOut> pods_laid_out_;  // by uid
  std::set<VolumeObject> changed_;                // in this turn of the loop
  bool due_ = false;                              // a look at those is posted
};

}  // namespace node
