// A HyperNode is a part of the network: nodes, or smaller parts, that reach one another equally fast.
#pragma once

#include "api/meta/condition.h"
#include "api/meta/object.h"
#include "api/scheduling/v1beta1/topology.h"

namespace api {

struct ExactMatch {
  std::string name;

  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.ExactMatch";
  static constexpr auto fields() {
    return rows(field<&ExactMatch::name>(
        "name", {.required = true, .length_min = 1, .length_max = 253, .pattern = kDnsSubdomainPattern},
        "The member's name."));
  }
};

struct RegexMatch {
  std::string pattern;

  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.RegexMatch";
  static constexpr auto fields() {
    return rows(field<&RegexMatch::pattern>("pattern", {.required = true, .length_min = 1},
                                            "Members are those whose name contains a match of this expression."));
  }
};

struct MemberSelector {
  std::optional<ExactMatch> exact_match;
  std::optional<RegexMatch> regex_match;
  Json label_match;

  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.MemberSelector";
  static constexpr auto fields() {
    using M = MemberSelector;
    return rows(field<&M::exact_match>("exactMatch", "One member by its name."),
                field<&M::regex_match>("regexMatch", "Members by a pattern of their names."),
                field<&M::label_match>("labelMatch", {.atomic = true, .core_type = "meta.v1.LabelSelector"},
                                       "Nodes by their labels. An empty selector matches nothing."));
  }
};

struct MemberSpec {
  std::string type;
  std::optional<MemberSelector> selector;

  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.MemberSpec";
  static constexpr auto fields() {
    using M = MemberSpec;
    return rows(
        field<&M::type>("type", {.required = true, .enumeration = "Node|HyperNode"}, "What the members are."),
        field<&M::selector>("selector", {.exactly_one = "exactMatch|regexMatch|labelMatch"}, "Which ones they are."));
  }
};

struct HyperNodeSpec {
  std::int64_t tier = 0;
  std::string tier_name;
  std::vector<MemberSpec> members;

  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.HyperNodeSpec";
  static constexpr auto fields() {
    using H = HyperNodeSpec;
    return rows(field<&H::tier>("tier", {.required = true, .keep_empty = true, .minimum = 0},
                                "Its level; lower levels are closer together."),
                field<&H::tier_name>("tierName", {.length_max = 253}, "The level's name."),
                field<&H::members>("members", {.items_min = 1}, "What it consists of."));
  }
};

struct HyperNodeStatus {
  std::vector<Condition> conditions;
  std::int64_t node_count = 0;

  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.HyperNodeStatus";
  static constexpr auto fields() {
    using H = HyperNodeStatus;
    return rows(field<&H::conditions>("conditions", "Standard conditions."),
                field<&H::node_count>("nodeCount", {.minimum = 0}, "How many names its selectors resolve to."));
  }
};

struct HyperNode {
  ObjectMeta metadata;
  HyperNodeSpec spec;
  HyperNodeStatus status;

  static constexpr std::string_view kSchemaName = "sh.volcano.topology.v1alpha1.HyperNode";
  static constexpr auto fields() {
    using H = HyperNode;
    return rows(field<&H::metadata>("metadata", {.core_type = "meta.v1.ObjectMeta"}, "Standard metadata."),
                field<&H::spec>("spec", {.keep_empty = true}, "Where it stands and what it consists of."),
                field<&H::status>("status", "What its selectors resolve to."));
  }
};

}  // namespace api
