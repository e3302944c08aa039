// Which names and label values does Kubernetes take, and what does it say of the others?
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace api {

// The rule of each kind of name, in Kubernetes' words.
extern const std::string_view kDnsLabelRule;
extern const std::string_view kDnsSubdomainRule;
extern const std::string_view kDns1035LabelRule;
extern const std::string_view kNamePartRule;  // of a qualified name, to follow "name part "
extern const std::string_view kLabelValueRule;

// "my-name": RFC 1123, at most 63 bytes.
bool is_dns_label(std::string_view text);
// "my.example.com": labels of any length, at most 253 bytes.
bool is_dns_subdomain(std::string_view text);
// "example.com/MyName", the keys of labels and annotations.
bool is_qualified_name(std::string_view text);
// The values of labels; may be empty.
bool is_label_value(std::string_view text);

// Labels with dots between them, of whatever length.
bool matches_dns_subdomain(std::string_view text);

// Each returns the problems, none if the text is fine. `unit` is how a length is said: bytes, or characters where
// expressions ask.
std::vector<std::string> check_dns_label(std::string_view text, std::string_view unit = "bytes");
std::vector<std::string> check_dns_subdomain(std::string_view text, std::string_view unit = "bytes");
std::vector<std::string> check_dns1035_label(std::string_view text, std::string_view unit = "bytes");
std::vector<std::string> check_qualified_name(std::string_view text, std::string_view unit = "bytes");
std::vector<std::string> check_label_value(std::string_view text, std::string_view unit = "bytes");

}  // namespace api
