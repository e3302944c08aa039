// The table: each row is a name and its signatures, in words. A is any type, the same in all its places.
#include "api/cel/overloads.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace api::cel {
namespace {

struct OverloadRow {
  std::string_view names;       // several have the same signatures
  std::string_view signatures;  // "string,int:string;string,int,int:string"
};

constexpr std::string_view kOrdered =
    "bool,bool:bool;int,int:bool;int,uint:bool;int,double:bool;uint,uint:bool;uint,int:bool;uint,double:bool;"
    "double,double:bool;double,int:bool;double,uint:bool;string,string:bool;bytes,bytes:bool;"
    "timestamp,timestamp:bool;duration,duration:bool";

constexpr OverloadRow kOperators[] = {
    {"_&&_ _||_", "bool,bool:bool"},
    {"!_", "bool:bool"},
    {"-_", "int:int;double:double"},
    {"_==_ _!=_", "A,A:bool"},
    {"_<_ _<=_ _>_ _>=_", kOrdered},
    {"_in_", "A,list(A):bool;A,map(A,B):bool"},
    {"_[_]", "list(A),int:A;map(A,B),A:B;optional(list(A)),int:optional(A);optional(map(A,B)),A:optional(B)"},
    {"_[?_]",
     "list(A),int:optional(A);map(A,B),A:optional(B);optional(list(A)),int:optional(A);"
     "optional(map(A,B)),A:optional(B)"},
    {"_?_:_", "bool,A,A:A"},
    {"_+_",
     "int,int:int;uint,uint:uint;double,double:double;string,string:string;bytes,bytes:bytes;"
     "list(A),list(A):list(A);timestamp,duration:timestamp;duration,timestamp:timestamp;"
     "duration,duration:duration"},
    {"_-_",
     "int,int:int;uint,uint:uint;double,double:double;timestamp,timestamp:duration;"
     "timestamp,duration:timestamp;duration,duration:duration"},
    {"_*_ _/_", "int,int:int;uint,uint:uint;double,double:double"},
    {"_%_", "int,int:int;uint,uint:uint"},
    {"or", "optional(A),optional(A):optional(A)"},
    {"orValue", "optional(A),A:A"},
};

constexpr OverloadRow kFunctions[] = {
    {"size", "string:int;bytes:int;list(A):int;map(A,B):int"},
    {"int", "int:int;uint:int;double:int;string:int;timestamp:int;duration:int"},
    {"uint", "uint:uint;int:uint;double:uint;string:uint"},
    {"double", "double:double;int:double;uint:double;string:double"},
    {"bool", "bool:bool;string:bool"},
    {"string",
     "string:string;bool:string;int:string;uint:string;double:string;bytes:string;timestamp:string;"
     "duration:string;net.IP:string;net.CIDR:string"},
    {"bytes", "bytes:bytes;string:bytes"},
    {"dyn", "A:dyn"},
    {"type", "A:type(A)"},
    {"timestamp", "timestamp:timestamp;string:timestamp;int:timestamp"},
    {"duration", "duration:duration;string:duration;int:duration"},
    {"matches", "string,string:bool"},
    {"strings.quote", "string:string"},
    {"sets.contains sets.intersects sets.equivalent", "list(A),list(A):bool"},
    {"lists.range", "int:list(int)"},
    {"quantity", "string:kubernetes.Quantity"},
    {"isQuantity isIP isCIDR isURL ip.isCanonical", "string:bool"},
    {"semver", "string:kubernetes.Semver;string,bool:kubernetes.Semver"},
    {"isSemver", "string:bool;string,bool:bool"},
    {"ip", "string:net.IP"},
    {"cidr", "string:net.CIDR"},
    {"url", "string:kubernetes.URL"},
    {"optional.of", "A:optional(A)"},
    {"optional.ofNonZeroValue", "A:optional(A)"},
    {"optional.none", ":optional(dyn)"},
};

constexpr OverloadRow kMethods[] = {
    {"size", "string:int;bytes:int;list(A):int;map(A,B):int"},
    {"matches contains startsWith endsWith", "string,string:bool"},
    {"indexOf lastIndexOf", "string,string:int;string,string,int:int;list(A),A:int"},
    {"split", "string,string:list(string);string,string,int:list(string)"},
    {"find", "string,string:string"},
    {"findAll", "string,string:list(string);string,string,int:list(string)"},
    {"replace", "string,string,string:string;string,string,string,int:string"},
    {"substring", "string,int:string;string,int,int:string"},
    {"charAt", "string,int:string"},
    {"lowerAscii upperAscii trim", "string:string"},
    {"format", "string,list(dyn):string"},
    {"join", "list(string):string;list(string),string:string"},
    {"reverse sort distinct", "list(A):list(A)"},
    {"slice", "list(A),int,int:list(A)"},
    {"isSorted", "list(A):bool"},
    {"sum", "list(int):int;list(uint):uint;list(double):double;list(duration):duration"},
    {"min max", "list(A):A"},
    {"first last", "list(A):optional(A)"},
    {"getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear", "timestamp:int;timestamp,string:int"},
    {"getHours getMinutes getSeconds getMilliseconds", "timestamp:int;timestamp,string:int;duration:int"},
    {"sign asInteger", "kubernetes.Quantity:int"},
    {"isInteger", "kubernetes.Quantity:bool"},
    {"asApproximateFloat", "kubernetes.Quantity:double"},
    {"add sub",
     "kubernetes.Quantity,kubernetes.Quantity:kubernetes.Quantity;kubernetes.Quantity,int:kubernetes.Quantity"},
    {"isLessThan isGreaterThan",
     "kubernetes.Quantity,kubernetes.Quantity:bool;kubernetes.Semver,kubernetes.Semver:bool"},
    {"compareTo", "kubernetes.Quantity,kubernetes.Quantity:int;kubernetes.Semver,kubernetes.Semver:int"},
    {"major minor patch", "kubernetes.Semver:int"},
    {"family", "net.IP:int"},
    {"isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast", "net.IP:bool"},
    {"containsIP", "net.CIDR,string:bool;net.CIDR,net.IP:bool"},
    {"containsCIDR", "net.CIDR,string:bool;net.CIDR,net.CIDR:bool"},
    {"prefixLength", "net.CIDR:int"},
    {"masked", "net.CIDR:net.CIDR"},
    {"ip", "net.CIDR:net.IP"},
    {"getScheme getHost getHostname getPort getEscapedPath", "kubernetes.URL:string"},
    {"getQuery", "kubernetes.URL:map(string,list(string))"},
    {"hasValue", "optional(A):bool"},
    {"value", "optional(A):A"},
};

struct Signature {
  std::vector<StaticType> arguments;
  StaticType result;
};
using Table = std::map<std::string_view, std::vector<Signature>>;

// Splits at `by` outside of parentheses.
std::vector<std::string_view> parts_of(std::string_view text, char by) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != by) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    } else if (i == text.size() || depth == 0) {
      if (i > begin) out.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return out;
}

StaticType type_named(std::string_view word) {
  static const std::map<std::string_view, TypeKind> kKinds = {
      {"bool", TypeKind::kBool},         {"int", TypeKind::kInt},
      {"uint", TypeKind::kUint},         {"double", TypeKind::kDouble},
      {"string", TypeKind::kString},     {"bytes", TypeKind::kBytes},
      {"duration", TypeKind::kDuration}, {"timestamp", TypeKind::kTimestamp},
      {"type", TypeKind::kType},         {"dyn", TypeKind::kDyn}};
  if (const auto found = kKinds.find(word); found != kKinds.end()) return {.kind = found->second};
  if (word.size() == 1) return {.kind = TypeKind::kVariable, .name = word};
  const std::size_t open = word.find('(');
  if (open == std::string_view::npos) return {.kind = TypeKind::kNamed, .name = word};
  const auto inner = parts_of(word.substr(open + 1, word.size() - open - 2), ',');
  if (inner.size() == 2) return map_of(type_named(inner[0]), type_named(inner[1]));
  if (word.starts_with("type")) return type_of_type(type_named(inner[0]));
  return word.starts_with("list") ? list_of(type_named(inner[0])) : optional_of(type_named(inner[0]));
}

template <std::size_t N>
void read_rows(const OverloadRow (&rows)[N], Table& table) {
  for (const OverloadRow& row : rows)
    for (const std::string_view one : parts_of(row.signatures, ';')) {
      Signature signature;
      const std::size_t colon = one.rfind(':');
      for (const std::string_view word : parts_of(one.substr(0, colon), ','))
        signature.arguments.push_back(type_named(word));
      signature.result = type_named(one.substr(colon + 1));
      for (const std::string_view name : parts_of(row.names, ' ')) table[name].push_back(signature);
    }
}

const Table& functions() {
  static const Table kTable = [] {
    Table table;
    read_rows(kOperators, table);
    read_rows(kFunctions, table);
    return table;
  }();
  return kTable;
}

const Table& methods() {
  static const Table kTable = [] {
    Table table;
    read_rows(kMethods, table);
    return table;
  }();
  return kTable;
}

// The types of a signature's variables in one call.
using Bound = std::map<std::string_view, StaticType>;

bool binds(const StaticType& wanted, const StaticType& given, Bound& bound) {
  if (wanted.is(TypeKind::kVariable)) {
    const auto [at, is_new] = bound.try_emplace(wanted.name, given);
    if (is_new) return true;
    if (!fits(at->second, given)) return false;
    if (at->second.is(TypeKind::kNull)) at->second = given;  // a message that may be null
    return true;
  }
  if (given.is_open() || !wanted.item) return fits(wanted, given);
  if (wanted.kind != given.kind) return false;
  return (!wanted.key || binds(*wanted.key, *given.key, bound)) && binds(*wanted.item, *given.item, bound);
}

StaticType bound_type(const StaticType& type, const Bound& bound) {
  if (type.is(TypeKind::kVariable)) {
    const auto found = bound.find(type.name);
    return found == bound.end() ? StaticType() : found->second;
  }
  if (!type.item) return type;
  StaticType item = bound_type(*type.item, bound);
  if (type.is(TypeKind::kMap)) return map_of(bound_type(*type.key, bound), std::move(item));
  if (type.is(TypeKind::kType)) return type_of_type(std::move(item));
  return type.is(TypeKind::kList) ? list_of(std::move(item)) : optional_of(std::move(item));
}

}  // namespace

std::optional<StaticType> type_of_call(std::string_view name, bool is_method,
                                       const std::vector<StaticType>& arguments) {
  const Table& table = is_method ? methods() : functions();
  const auto row = table.find(name);
  if (row == table.end()) return StaticType();
  std::optional<StaticType> result;
  for (const Signature& one : row->second) {
    if (one.arguments.size() != arguments.size()) continue;
    Bound bound;
    bool holds = true;
    for (std::size_t i = 0; holds && i < arguments.size(); ++i) holds = binds(one.arguments[i], arguments[i], bound);
    if (!holds) continue;
    StaticType type = bound_type(one.result, bound);
    // Several take values whose types are open: then so is the result.
    if (result && (result->kind != type.kind || result->name != type.name))
      return StaticType{.kind =
                            std::ranges::any_of(arguments, [](const StaticType& t) { return t.is(TypeKind::kUnknown); })
                                ? TypeKind::kUnknown
                                : TypeKind::kDyn};
    if (!result) result = std::move(type);
  }
  return result;
}

bool is_beyond_rules(std::string_view function) {
  return function.starts_with("math.") || function == "jsonpatch.escapeKey" || function == "image" ||
         function == "isImage";
}

}  // namespace api::cel
