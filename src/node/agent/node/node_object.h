// This machine as the API sees it: the Node object, its status, its Lease.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "client/watch/informer.h"
#include "node/agent/core/agent_loop.h"
#include "node/devices/device_manager.h"
#include "node/machine/machine.h"

namespace node {

// Owns the machine's facts and capacity, the watch of its own Node, and the times of the next writes. Asks the devices
// for their amounts, labels and annotations. Loop thread only.
class NodeObject {
 public:
  NodeObject(AgentLoop& loop, client::Client& client, const Options& options, MachineFacts facts,
             DeviceManager& devices);

  // The runtime is open: the Node is written as ready from now on, and the Lease is renewed.
  void start();
  // The machine cannot run pods: the Node is written as not ready.
  void fail(std::string why);
  // Ends what comes at its times; changes are written still.
  void stop() { stopping_ = true; }
  client::Informer& watch() { return own_node_; }
  // The Node as last seen; null: not yet.
  const api::Json* seen() const { return own_node_.find(options_.node_name); }
  // Amounts or labels of devices have changed: the Node is written soon.
  void refresh();
  // The capacity without what is set aside, and without devices.
  api::ResourceList allocatable() const;

 private:
  void write();
  void write_in(base::Duration delay);
  void write_again(base::Duration delay);  // or as soon as may be, if a change came meanwhile
  void patch_status(const api::Json& body, const base::Result<api::Json>& kept);
  void drop_old_devices(const api::Json& kept, api::Json& status);
  void write_status(const api::Json& status);
  void keep_lease();
  void keep_lease_in(base::Duration delay);
  void create_lease(const api::Json& spec);
  api::Json labels();
  api::Json status() const;

  AgentLoop& loop_;
  client::Client& client_;
  const Options& options_;
  MachineFacts facts_;
  DeviceManager& devices_;
  api::ResourceList capacity_;
  client::Informer own_node_;
  bool ready_ = false;
  bool stopping_ = false;
  std::string error_;                   // in the Ready condition
  rt::Loop::TimerId timer_ = 0;         // when the Node is written next; 0: a write is under way
  bool due_ = false;                    // it changed meanwhile
  base::Duration next_{};               // no write of it before, for what changes all the time
  std::set<std::string> stale_labels_;  // of GPUs that are not here any more
};

}  // namespace node
