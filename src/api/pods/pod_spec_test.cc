// Fields that become a line of a file in a pod are words of their own.
#include "api/pods/pod_spec.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace api {
namespace {

std::string causes_with(const std::string& fields) {
  const auto spec = parse_yaml("{containers: [{name: c, image: i}], " + fields + "}");
  std::string all;
  for (const base::Cause& cause : check_pod_spec(*spec, "spec", {})) all += cause.field + ": " + cause.message + "\n";
  return all;
}
std::string causes_of(const std::string& dns_config) { return causes_with("dnsConfig: " + dns_config); }

// A line break in a search path made a second line, and a word that is not an address was taken for a server.
TEST(PodSpec, dns_is_made_of_addresses_and_names) {
  EXPECT_EQ(
      causes_of("{nameservers: [1.1.1.1, '2001:db8::1'], searches: [a.b., ., _http._tcp.x], options: [{name: ndots}]}"),
      "");
  EXPECT_TRUE(causes_of(R"({nameservers: ["1.1.1.1\nsearch evil"]})").starts_with("spec.dnsConfig.nameservers[0]: "));
  EXPECT_TRUE(causes_of(R"({searches: [a, "b\nnameserver 6.6.6.6"]})").starts_with("spec.dnsConfig.searches[1]: "));
  std::string many;
  for (int i = 0; i < 33; ++i) many += "a,";
  EXPECT_NE(causes_of("{searches: [" + many + "]}").find("must not have more than 32 search paths"), std::string::npos);
  EXPECT_NE(causes_of("{searches: [" + std::string(2049, 'a') + "]}").find("more than 2048 characters"),
            std::string::npos);
}

TEST(PodSpec, profiles_of_the_node_are_below_its_folder) {
  const auto causes_of_file = [](const std::string& file) {
    return causes_with("securityContext: {seccompProfile: {type: Localhost, localhostProfile: '" + file + "'}}");
  };
  const std::string field = "spec.securityContext.seccompProfile.localhostProfile: Invalid value: ";
  EXPECT_EQ(causes_of_file("team/own.json"), "");
  EXPECT_EQ(causes_of_file("/etc/shadow"), field + "\"/etc/shadow\": must be a relative path\n");
  EXPECT_EQ(causes_of_file("a/../../b"), field + "\"a/../../b\": must not contain '..'\n");
}

TEST(PodSpec, restart_rules_need_a_policy_and_codes) {
  const auto causes_of_container = [](const std::string& fields) {
    const auto spec = parse_yaml("{containers: [{name: c, image: i, " + fields + "}]}");
    std::string all;
    for (const base::Cause& cause : check_pod_spec(*spec, "spec", {})) all += cause.field + ": " + cause.message + "\n";
    return all;
  };
  const std::string rule = "restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [1, 42]}}]";
  EXPECT_EQ(causes_of_container("restartPolicy: Never, " + rule), "");
  EXPECT_EQ(
      causes_of_container(rule),
      "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when restart rules are used\n");
  EXPECT_EQ(causes_of_container("restartPolicy: Never, restartPolicyRules: [{action: Restart}]"),
            "spec.containers[0].restartPolicyRules[0].exitCodes: Required value: must be specified\n");
  EXPECT_NE(causes_of_container("restartPolicy: Never, restartPolicyRules: [{action: Stop, exitCodes: {operator: Is, "
                                "values: [1, 1]}}]"),
            "");
  EXPECT_EQ(causes_of_container("lifecycle: {stopSignal: SIGUSR1}"),
            "spec.containers[0].lifecycle.stopSignal: Forbidden: may not be set for containers with empty "
            "`spec.os.name`\n");
}

TEST(PodSpec, a_host_name_of_its_own_is_a_name_and_goes_alone) {
  EXPECT_EQ(causes_with("hostnameOverride: other.name.example"), "");
  EXPECT_NE(causes_with("hostnameOverride: Other_Name"), "");
  EXPECT_NE(causes_with("hostnameOverride: " + std::string(65, 'a')), "");
  EXPECT_EQ(causes_with("hostnameOverride: a, setHostnameAsFQDN: true"),
            "spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true\n");
  EXPECT_EQ(causes_with("hostnameOverride: a, hostNetwork: true"),
            "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true\n");
}

}  // namespace
}  // namespace api
