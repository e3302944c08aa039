// A Queue divides its parent's capacity between tenants.
#pragma once

#include "api/meta/owner_reference.h"
#include "api/scheduling/v1beta1/topology.h"

namespace api {

struct QueueCluster {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.Cluster";
  static constexpr auto fields() {
    return rows(field<Text>("name", "Name of the remote cluster."), field<std::int32_t>("weight", "Its weight."),
                field<ResourceList>("capacity", "What it offers."));
  }
};

struct QueueGuarantee {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.Guarantee";
  static constexpr auto fields() {
    return rows(field<ResourceList>("resource", "Resources kept for this queue whether it uses them or not."));
  }
};

struct NodeGroupTerms {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.NodeGroupAffinity";
  static constexpr auto fields() {
    return rows(
        field<List<Text>>("requiredDuringSchedulingIgnoredDuringExecution", "Node groups that must hold."),
        field<List<Text>>("preferredDuringSchedulingIgnoredDuringExecution", "Node groups that are preferred."));
  }
};

struct QueueAffinity {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.Affinity";
  static constexpr auto fields() {
    return rows(field<NodeGroupTerms>("nodeGroupAffinity", "Node groups this queue uses."),
                field<NodeGroupTerms>("nodeGroupAntiAffinity", "Node groups this queue avoids."));
  }
};

struct QueueSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.QueueSpec";
  static constexpr auto fields() {
    return rows(
        field<std::int32_t>("weight", {.default_json = "1", .minimum = 1, .maximum = 65535},
                            "This queue's share of its parent, relative to its siblings."),
        field<ResourceList>("capability", "The most this queue may ever use. Absent means no limit."),
        field<bool>("reclaimable", "Whether siblings may take back what this queue borrowed from them."),
        field<List<QueueCluster>>("extendClusters", "Remote clusters; a non-empty list turns on job forwarding."),
        field<QueueGuarantee>("guarantee", "What is kept for this queue."),
        field<QueueAffinity>("affinity", "Node groups this queue uses or avoids."),
        field<Text>("type", {.length_max = 253}, "Free form."),
        field<Text>("parent", {.length_max = 253, .pattern = kDnsSubdomainPattern},
                    "The queue above this one. Empty means the root."),
        field<ResourceList>("deserved", "The fair amount; what exceeds it may be reclaimed."),
        field<std::int32_t>("priority", {.minimum = 0}, "Higher goes first in scheduling and later in reclaim."),
        field<Text>("dequeueStrategy", {.default_json = "\"traverse\"", .enumeration = "fifo|traverse"},
                    "Whether those behind a blocked head of queue wait (fifo) or pass (traverse)."));
  }
};

struct QueueReservation {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.Reservation";
  static constexpr auto fields() {
    return rows(field<List<Text>>("nodes", "Nodes locked for the queue."),
                field<ResourceList>("resource", "Resources of those nodes."));
  }
};

struct QueueStatus {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.QueueStatus";
  static constexpr auto fields() {
    return rows(
        field<Text>("state", {.enumeration = "Open|Closed|Closing|Unknown"}, "Whether the queue accepts pod groups."),
        field<std::int32_t>("unknown", {.minimum = 0}, "Pod groups in phase Unknown."),
        field<std::int32_t>("pending", {.minimum = 0}, "Pod groups in phase Pending."),
        field<std::int32_t>("running", {.minimum = 0}, "Pod groups in phase Running."),
        field<std::int32_t>("inqueue", {.minimum = 0}, "Pod groups in phase Inqueue."),
        field<std::int32_t>("completed", {.minimum = 0}, "Pod groups in phase Completed."),
        field<QueueReservation>("reservation", "What is reserved for the queue."),
        field<ResourceList>("allocated", "Resources of bound, binding and running pods of the queue."));
  }
};

struct Queue {
  static constexpr std::string_view kSchemaName = "sh.volcano.scheduling.v1beta1.Queue";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<QueueSpec>("spec", "What the queue may use."), field<QueueStatus>("status", "What it uses."));
  }
};

}  // namespace api
