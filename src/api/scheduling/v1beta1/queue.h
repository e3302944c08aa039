// A Queue divides its parent's capacity between tenants.
#pragma once

#include "api/meta/object.h"
#include "api/scheduling/v1beta1/topology.h"

namespace api {

struct QueueCluster {
  std::string name;
  std::int32_t weight = 0;
  ResourceList capacity;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.Cluster";
  static constexpr auto fields() {
    using C = QueueCluster;
    return rows(field<&C::name>("name", "Name of the remote cluster."), field<&C::weight>("weight", "Its weight."),
                field<&C::capacity>("capacity", "What it offers."));
  }
};

struct QueueGuarantee {
  ResourceList resource;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.Guarantee";
  static constexpr auto fields() {
    return rows(
        field<&QueueGuarantee::resource>("resource", "Resources kept for this queue whether it uses them or not."));
  }
};

struct NodeGroupTerms {
  std::vector<std::string> required;
  std::vector<std::string> preferred;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.NodeGroupAffinity";
  static constexpr auto fields() {
    using N = NodeGroupTerms;
    return rows(
        field<&N::required>("requiredDuringSchedulingIgnoredDuringExecution", "Node groups that must hold."),
        field<&N::preferred>("preferredDuringSchedulingIgnoredDuringExecution", "Node groups that are preferred."));
  }
};

struct QueueAffinity {
  std::optional<NodeGroupTerms> node_group_affinity;
  std::optional<NodeGroupTerms> node_group_anti_affinity;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.Affinity";
  static constexpr auto fields() {
    using A = QueueAffinity;
    return rows(field<&A::node_group_affinity>("nodeGroupAffinity", "Node groups this queue uses."),
                field<&A::node_group_anti_affinity>("nodeGroupAntiAffinity", "Node groups this queue avoids."));
  }
};

struct QueueSpec {
  std::int32_t weight = 0;
  ResourceList capability;
  std::optional<bool> reclaimable;
  std::vector<QueueCluster> extend_clusters;
  QueueGuarantee guarantee;
  std::optional<QueueAffinity> affinity;
  std::string type;
  std::string parent;
  ResourceList deserved;
  std::int32_t priority = 0;
  std::string dequeue_strategy;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.QueueSpec";
  static constexpr auto fields() {
    using Q = QueueSpec;
    return rows(
        field<&Q::weight>("weight", {.default_json = "1", .minimum = 1, .maximum = 65535},
                          "This queue's share of its parent, relative to its siblings."),
        field<&Q::capability>("capability", "The most this queue may ever use. Absent means no limit."),
        field<&Q::reclaimable>("reclaimable", "Whether siblings may take back what this queue borrowed from them."),
        field<&Q::extend_clusters>("extendClusters", "Remote clusters; a non-empty list turns on job forwarding."),
        field<&Q::guarantee>("guarantee", "What is kept for this queue."),
        field<&Q::affinity>("affinity", "Node groups this queue uses or avoids."),
        field<&Q::type>("type", {.length_max = 253}, "Free form."),
        field<&Q::parent>("parent", {.length_max = 253, .pattern = kDnsSubdomainPattern},
                          "The queue above this one. Empty means the root."),
        field<&Q::deserved>("deserved", "The fair amount; what exceeds it may be reclaimed."),
        field<&Q::priority>("priority", {.minimum = 0}, "Higher goes first in scheduling and later in reclaim."),
        field<&Q::dequeue_strategy>("dequeueStrategy", {.default_json = "\"traverse\"", .enumeration = "fifo|traverse"},
                                    "Whether those behind a blocked head of queue wait (fifo) or pass (traverse)."));
  }
};

struct QueueReservation {
  std::vector<std::string> nodes;
  ResourceList resource;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.Reservation";
  static constexpr auto fields() {
    using R = QueueReservation;
    return rows(field<&R::nodes>("nodes", "Nodes locked for the queue."),
                field<&R::resource>("resource", "Resources of those nodes."));
  }
};

struct QueueStatus {
  std::string state;
  std::int32_t unknown = 0;
  std::int32_t pending = 0;
  std::int32_t running = 0;
  std::int32_t inqueue = 0;
  std::int32_t completed = 0;
  QueueReservation reservation;
  ResourceList allocated;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.QueueStatus";
  static constexpr auto fields() {
    using Q = QueueStatus;
    return rows(field<&Q::state>("state", {.enumeration = "Open|Closed|Closing|Unknown"},
                                 "Whether the queue accepts pod groups."),
                field<&Q::unknown>("unknown", {.minimum = 0}, "Pod groups in phase Unknown."),
                field<&Q::pending>("pending", {.minimum = 0}, "Pod groups in phase Pending."),
                field<&Q::running>("running", {.minimum = 0}, "Pod groups in phase Running."),
                field<&Q::inqueue>("inqueue", {.minimum = 0}, "Pod groups in phase Inqueue."),
                field<&Q::completed>("completed", {.minimum = 0}, "Pod groups in phase Completed."),
                field<&Q::reservation>("reservation", "What is reserved for the queue."),
                field<&Q::allocated>("allocated", "Resources of bound, binding and running pods of the queue."));
  }
};

struct Queue {
  ObjectMeta metadata;
  QueueSpec spec;
  QueueStatus status;

  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.Queue";
  static constexpr auto fields() {
    using Q = Queue;
    return rows(field<&Q::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&Q::spec>("spec", "What the queue may use."), field<&Q::status>("status", "What it uses."));
  }
};

}  // namespace api
