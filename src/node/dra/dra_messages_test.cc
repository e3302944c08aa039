// Plugins' messages when they register, and about claims: taken, or refused by name.
#include "node/dra/dra_messages.h"

#include <gtest/gtest.h>

#include "base/protobuf_wire.h"
#include "node/dra/registration.h"

namespace node {
namespace {

using base::WireWriter;

std::string info_message(std::string_view type, std::string_view name, std::string_view endpoint,
                         const std::vector<std::string>& versions) {
  WireWriter info;
  info.add(1, type);
  info.add(2, name);
  info.add(3, endpoint);
  for (const std::string& version : versions) info.add_entry(4, version);
  return info.take();
}

// How the plugin would be called, or why not.
std::string introduced(const std::string& message) {
  const auto info = plugin_info_from(message);
  if (!info.ok()) return info.error().message;
  const auto plugin = dra_plugin_from(*info, "/reg.sock");
  return plugin.ok() ? plugin->driver + " " + plugin->endpoint + plugin->service : plugin.error().message;
}

TEST(Registration, takes_the_newest_version_that_both_speak) {
  EXPECT_EQ(introduced(info_message("DRAPlugin", "gpu.org", "/dra.sock", {"v1beta1.DRAPlugin", "v1.DRAPlugin"})),
            "gpu.org /dra.sock/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin");
  EXPECT_EQ(introduced(info_message("DRAPlugin", "gpu.org", "", {"v1alpha1.DRAResourceHealth", "v1beta1.DRAPlugin"})),
            "gpu.org /reg.sock/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin");
}

TEST(Registration, refuses_by_name) {
  const std::string failed = "RegisterPlugin error -- plugin validation failed with err: ";
  EXPECT_EQ(introduced(info_message("CSIPlugin", "csi.org", "/csi.sock", {"1.0.0"})),
            "RegisterPlugin error -- no handler registered for plugin type: CSIPlugin at socket /reg.sock");
  EXPECT_EQ(introduced(info_message("DRAPlugin", "Gpu/org", "/dra.sock", {"v1.DRAPlugin"})),
            failed + "the name \"Gpu/org\" of a DRA driver is not a DNS subdomain");
  EXPECT_EQ(introduced(info_message("DRAPlugin", "gpu.org", "/dra.sock", {})),
            failed +
                "invalid supported gRPC versions of DRA driver plugin gpu.org at endpoint /dra.sock: empty list of "
                "supported gRPC services (aka supported versions)");
  EXPECT_EQ(introduced(info_message("DRAPlugin", "gpu.org", "/dra.sock", {"1.0.0"})),
            failed +
                "invalid supported gRPC versions of DRA driver plugin gpu.org at endpoint /dra.sock: none of services "
                "supported by the plugin ([\"1.0.0\"]) are supported by the kubelet ([\"v1.DRAPlugin\" "
                "\"v1beta1.DRAPlugin\"])");
  EXPECT_EQ(introduced(info_message("DRAPlugin", "gpu.org", "dra.sock", {"v1.DRAPlugin"})),
            "endpoint: \"dra.sock\" is not an absolute path of a socket");
  EXPECT_EQ(introduced(info_message("DRA\nPlugin", "gpu.org", "", {})),
            "type: \"DRA\\nPlugin\" is not a type of plugin");
  EXPECT_EQ(introduced(info_message("DRAPlugin", "gpu.org", "", std::vector<std::string>(33, "v1.DRAPlugin"))),
            "supported_versions: more than 32");
  EXPECT_EQ(introduced("\x0a\x7f nonsense"), "the message is malformed");
}

TEST(Registration, tells_how_it_went) {
  EXPECT_EQ(registration_status(""), "\x08\x01");
  EXPECT_EQ(registration_status("no"), "\x12\x02no");
}

std::string device(const std::vector<std::string>& requests, std::string_view name,
                   const std::vector<std::string>& cdi) {
  WireWriter out;
  for (const std::string& request : requests) out.add_entry(1, request);
  out.add(2, std::string_view("pool"));
  out.add(3, name);
  for (const std::string& one : cdi) out.add_entry(4, one);
  return out.take();
}

std::string entry(std::string_view uid, const std::string& value) {
  WireWriter out;
  out.add(1, uid);
  out.add_entry(2, value);
  return out.take();
}

std::string prepared(const std::vector<std::string>& devices, std::string_view error = {}) {
  WireWriter claim, all;
  for (const std::string& one : devices) claim.add_entry(1, one);
  claim.add(2, error);
  all.add_entry(1, entry("uid-1", claim.take()));
  return all.take();
}

TEST(DraMessages, name_claims) {
  EXPECT_EQ(claims_request({{"ns", "a", "uid-1"}}),
            "\x0a\x0e\x0a\x02ns\x12\x05uid-1\x1a\x01"
            "a");
}

TEST(DraMessages, tell_of_devices) {
  const auto answers = prepared_from(prepared({device({"gpu"}, "gpu-0", {"gpu.org/gpu=0", "gpu.org/all=x"})}));
  ASSERT_TRUE(answers.ok());
  const PreparedDevice expected{{"gpu"}, "pool", "gpu-0", {"gpu.org/gpu=0", "gpu.org/all=x"}};
  EXPECT_EQ(answers->at("uid-1").devices, std::vector{expected});
  EXPECT_EQ(prepared_from(prepared({}, "it is \xff hot"))->at("uid-1").error, "it is \xef\xbf\xbd hot");
}

TEST(DraMessages, are_read_with_suspicion) {
  const auto wrong = [](const std::string& message) {
    const auto answers = prepared_from(message);
    return answers.ok() ? std::string("fine") : answers.error().message;
  };
  EXPECT_EQ(wrong(prepared({device({}, "gpu-0", {"gpu"})})), "cdi_device_ids: \"gpu\" is not VENDOR/CLASS=NAME");
  EXPECT_EQ(wrong(prepared({device({}, "gpu-0", std::vector<std::string>(65, "a/b=c"))})),
            "cdi_device_ids: more than 64");
  EXPECT_EQ(wrong(prepared({device({}, "a\nb", {})})), "device_name: \"a\\nb\" is not a name");
  EXPECT_EQ(wrong(prepared({device(std::vector<std::string>(65, "r"), "a", {})})), "request_names: more than 64");
  EXPECT_EQ(wrong(prepared(std::vector<std::string>(513, device({}, "a", {})))), "devices: more than 512");
  EXPECT_EQ(wrong("\x0a\x7f nonsense"), "the message is malformed");
  WireWriter many;
  for (int i = 0; i < 1025; ++i) many.add_entry(1, entry(std::to_string(i), {}));
  EXPECT_EQ(wrong(many.take()), "claims: more than 1024");
}

TEST(DraMessages, must_tell_of_each_claim_and_of_no_other) {
  const std::vector<ClaimKey> asked = {{"ns", "a", "uid-1"}, {"ns", "b", "uid-2"}};
  const auto reported = [&](const ClaimAnswers& answers) {
    const base::Status good = check_answers("NodePrepareResources", asked, answers);
    return good.ok() ? std::string("fine") : good.error().message;
  };
  EXPECT_EQ(reported({{"uid-1", {}}, {"uid-2", {}}}), "fine");
  EXPECT_EQ(reported({{"uid-1", {}}}), "NodePrepareResources skipped 1 ResourceClaims");
  EXPECT_EQ(reported({{"uid-1", {{}, "no power"}}, {"uid-2", {}}}),
            "NodePrepareResources failed for ResourceClaim a: no power");
  EXPECT_EQ(reported({{"uid-1", {}}, {"uid-3", {}}}),
            "NodePrepareResources returned result for unknown claim UID uid-3");
  EXPECT_TRUE(unprepared_from("")->empty());
  WireWriter failure, all;
  failure.add(1, std::string_view("busy"));
  all.add_entry(1, entry("uid-1", failure.take()));
  EXPECT_EQ(unprepared_from(all.take())->at("uid-1").error, "busy");
}

}  // namespace
}  // namespace node
