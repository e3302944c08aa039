// A HyperNode is a part of the network: nodes, or smaller parts, that reach one another equally fast.
#pragma once

#include "api/meta/condition.h"
#include "api/meta/owner_reference.h"
#include "api/scheduling/v1beta1/topology.h"

namespace api {

struct ExactMatch {
  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.ExactMatch";
  static constexpr auto fields() {
    return rows(field<Text>("name",
                            {.required = true, .length_min = 1, .length_max = 253, .pattern = kDnsSubdomainPattern},
                            "The member's name."));
  }
};

struct RegexMatch {
  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.RegexMatch";
  static constexpr auto fields() {
    return rows(field<Text>("pattern", {.required = true, .length_min = 1},
                            "Members are those whose name contains a match of this expression."));
  }
};

struct MemberSelector {
  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.MemberSelector";
  static constexpr auto fields() {
    return rows(field<ExactMatch>("exactMatch", "One member by its name."),
                field<RegexMatch>("regexMatch", "Members by a pattern of their names."),
                field<Json>("labelMatch", {.atomic = true, .core_type = "meta.v1.LabelSelector"},
                            "Nodes by their labels. An empty selector matches nothing."));
  }
};

struct MemberSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.MemberSpec";
  static constexpr auto fields() {
    return rows(
        field<Text>("type", {.required = true, .enumeration = "Node|HyperNode"}, "What the members are."),
        field<MemberSelector>("selector", {.exactly_one = "exactMatch|regexMatch|labelMatch"}, "Which ones they are."));
  }
};

struct HyperNodeSpec {
  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.HyperNodeSpec";
  static constexpr auto fields() {
    return rows(
        field<std::int64_t>("tier", {.required = true, .minimum = 0}, "Its level; lower levels are closer together."),
        field<Text>("tierName", {.length_max = 253}, "The level's name."),
        field<List<MemberSpec>>("members", {.items_min = 1}, "What it consists of."));
  }
};

struct HyperNodeStatus {
  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.HyperNodeStatus";
  static constexpr auto fields() {
    return rows(field<List<Condition>>("conditions", "Standard conditions."),
                field<std::int64_t>("nodeCount", {.minimum = 0}, "How many names its selectors resolve to."));
  }
};

struct HyperNode {
  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.HyperNode";
  static constexpr auto fields() {
    return rows(field<Json>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<HyperNodeSpec>("spec", "Where it stands and what it consists of."),
                field<HyperNodeStatus>("status", "What its selectors resolve to."));
  }
};

}  // namespace api
