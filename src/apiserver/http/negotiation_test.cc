// The encodings that Accept headers lead to.
#include "apiserver/http/negotiation.h"

#include <gtest/gtest.h>

namespace apiserver {
namespace {

std::string chosen(std::string_view accept) {
  rt::HttpRequest http;
  http.headers = {{"Accept", std::string(accept)}};
  const Format format = negotiate(http, {});
  std::string text(media_type(format.encoding).substr(12));
  if (format.shape == Format::Shape::kTable) text += " table";
  if (format.shape == Format::Shape::kMetadata) text += " metadata";
  return text;
}

struct Row {
  const char* accept;
  const char* chosen;
};

TEST(Negotiation, goes_by_quality_then_by_what_is_named_then_by_order) {
  for (const Row& row :
       {Row{"", "json"}, Row{"*/*", "json"}, Row{"application/*", "json"}, Row{"application/json", "json"},
        Row{"application/yaml", "yaml"}, Row{"application/cbor", "cbor"}, Row{"application/cbor-seq", "cbor"},
        Row{"application/cbor, application/json", "cbor"}, Row{"application/json,application/cbor", "json"},
        // The header of client-go's dynamic client.
        Row{"application/json;q=0.9,application/cbor;q=1", "cbor"},
        Row{"application/cbor;q=0.2 , application/yaml; q=0.5,application/json;q=0.3", "yaml"},
        Row{"*/*, application/cbor", "cbor"}, Row{"*/*, application/cbor;q=0.5", "json"},
        Row{"application/cbor;q=0", "json"}, Row{"application/cbor;q=x, application/yaml;q=0.1", "yaml"},
        // The header of Kubernetes' controllers.
        Row{"application/vnd.kubernetes.protobuf,application/json", "vnd.kubernetes.protobuf"},
        Row{"application/json, application/vnd.kubernetes.protobuf", "json"},
        Row{"application/vnd.volcano.stored+json,application/vnd.kubernetes.protobuf,application/json", "json"},
        // A form without a meaning here is passed over.
        Row{"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io, application/cbor", "cbor"},
        Row{"text/html", "json"}, Row{",;,=;q=,/", "json"}, Row{"application/json;stream=watch", "json"},
        Row{"application/json; charset=utf-8", "json"}})
    EXPECT_EQ(chosen(row.accept), row.chosen) << row.accept;
}

TEST(Negotiation, finds_the_shape) {
  constexpr const char* kKubectl =
      "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
  for (const Row& row :
       {Row{kKubectl, "json table"}, Row{"application/cbor;as=Table;v=v1;g=meta.k8s.io", "cbor table"},
        Row{"application/cbor;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "cbor metadata"},
        Row{"application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
            "vnd.kubernetes.protobuf metadata"},
        Row{"application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/"
            "json;as=Table;v=v1;g=meta.k8s.io",
            "json table"},
        Row{"application/cbor;as=Picture, application/yaml", "yaml"}, Row{"application/json;as=Picture", "json"}})
    EXPECT_EQ(chosen(row.accept), row.chosen) << row.accept;
}

TEST(Negotiation, of_documents_knows_the_aggregated_form) {
  constexpr const char* kClientGo =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
  EXPECT_TRUE(negotiate_document(kClientGo).aggregated);
  EXPECT_FALSE(negotiate_document("application/json").aggregated);
  EXPECT_FALSE(
      negotiate_document("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList").aggregated);
  const DocumentFormat cbor =
      negotiate_document("application/cbor;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_TRUE(cbor.aggregated);
  EXPECT_EQ(cbor.encoding, Encoding::kCbor);
  EXPECT_EQ(negotiate_document("").encoding, Encoding::kJson);
}

TEST(Negotiation, of_a_header_without_end_looks_at_its_beginning) {
  std::string accept;
  for (int i = 0; i < 100'000; ++i) accept += "text/html,";
  EXPECT_EQ(chosen(accept + "application/cbor"), "json");
}

}  // namespace
}  // namespace apiserver
