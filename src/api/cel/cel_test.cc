// What expressions mean: a table of texts and values.
#include <gtest/gtest.h>

#include "api/cel/expression.h"

namespace api::cel {
namespace {

Value evaluate(std::string_view text, std::uint64_t cost_max = kCostMax) {
  const auto expression = Expression::compile(text, {"device", "self", "x"});
  if (!expression.ok()) return fail("compile: " + expression.error().message);
  const Json self =
      *parse_json(R"({"name":"web","replicas":3,"tags":["a","b"],"limits":{"cpu":"2"},"none":null,"ratio":0.5})");
  Map domain;
  domain.entries = {{"model", "A100-80G"}, {"version", *Semver::parse("12.4.0", false)}};
  Map attributes;
  attributes.entries = {{"gpu.example.com", domain}};
  attributes.empty_maps_for_missing = true;
  Map device;
  device.entries = {{"driver", "gpu.example.com"}, {"attributes", attributes}};
  return expression->evaluate({{"self", Value::from_json(self)}, {"device", device}, {"x", std::int64_t{5}}}, cost_max);
}

struct Case {
  const char* text;
  const char* expected;  // an expression with the same value, or "error: MESSAGE"
};

const Case kCases[] = {
    {"1 + 2 * 3", "7"},
    {"(1 + 2) * 3", "9"},
    {"7 / 2", "3"},
    {"-7 / 2", "-3"},
    {"7 % -2", "1"},
    {"7.0 / 2.0", "3.5"},
    {"1u + 2u", "3u"},
    {"-9223372036854775808", "-9223372036854775807 - 1"},
    {"9223372036854775807 + 1", "error: integer overflow"},
    {"1 / 0", "error: division by zero"},
    {"1 % 0", "error: modulus by zero"},
    {"1 + 1.0", "error: no such overload: _+_"},
    {"0x10", "16"},
    {"9223372036854775808", "error: compile: column 1: a number is too large"},
    {"1e3", "1000.0"},
    {".5", "0.5"},
    {"'a' + \"b\"", "'ab'"},
    {"r'\\n'.size()", "2"},
    {"'\\n\\x41\\u00e9'.size()", "3"},
    {"'''a'b'''", "\"a'b\""},
    {"b'ab' == bytes('ab')", "true"},
    {"1 == 1.0", "true"},
    {"1 == 1u", "true"},
    {"-1 < 1u", "true"},
    {"1 == '1'", "false"},
    {"'a' < 'b'", "true"},
    {"[1, 2] == [1.0, 2u]", "true"},
    {"{'a': 1} == {'a': 1}", "true"},
    {"null == null", "true"},
    {"1 < 'a'", "error: no such overload: _<_"},
    {"false && (1 / 0 > 0)", "false"},
    {"(1 / 0 > 0) && false", "false"},
    {"true || (1 / 0 > 0)", "true"},
    {"(1 / 0 > 0) || true", "true"},
    {"(1 / 0 > 0) || false", "error: division by zero"},
    {"!true", "false"},
    {"!!true", "true"},
    {"true ? 1 : 2", "1"},
    {"false ? 1 : true ? 2 : 3", "2"},
    {"2 in [1, 2]", "true"},
    {"'a' in {'a': 1}", "true"},
    {"3 in [1]", "false"},
    {"[1, 2][1]", "2"},
    {"[1][1]", "error: index out of bounds: 1"},
    {"{'a': 1}['b']", "error: no such key: b"},
    {"{'a': 1}.a", "1"},
    {"{1: 2, 1: 3}", "error: insert failed: key already exists"},
    {"has(self.name)", "true"},
    {"has(self.nothing)", "false"},
    {"self.replicas + 1", "4"},
    {"self.nothing", "error: no such key: nothing"},
    {"self.none == null", "true"},
    {"[1, 2, 3].all(i, i > 0)", "true"},
    {"[1, 2, 3].exists(i, i == 2)", "true"},
    {"[1, 2, 2].exists_one(i, i == 2)", "false"},
    {"[1, 2, 3].map(i, i * 2)", "[2, 4, 6]"},
    {"[1, 2, 3].map(i, i > 1, i * 2)", "[4, 6]"},
    {"[0, 1].map(i, true, i)", "[0, 1]"},
    {"[1, 2, 3].filter(i, i != 2)", "[1, 3]"},
    {"{'a': 1, 'b': 2}.all(k, k != 'c')", "true"},
    {"[0, 1].exists(i, 1 / i == 1)", "true"},
    {"[0, 2].all(i, 1 / i == 1)", "false"},
    {"[1, 2].all(x, x > 0) && x == 5", "true"},
    {"cel.bind(y, x + 1, y * y)", "36"},
    {"self.tags.map(t, t + '!').join(',')", "'a!,b!'"},
    {"'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo')", "true"},
    {"'hello'.matches('^h.*o$')", "true"},
    {"'a'.matches('(')", "error: invalid regular expression: missing ): ("},
    {"'aBc'.lowerAscii() + 'aBc'.upperAscii()", "'abcABC'"},
    {"'a,b,c'.split(',')", "['a', 'b', 'c']"},
    {"'a,b,c'.split(',', 2)", "['a', 'b,c']"},
    {"'aXbX'.replace('X', '-')", "'a-b-'"},
    {"'abc'.substring(1)", "'bc'"},
    {"'abc'.substring(1, 2)", "'b'"},
    {"'abc'.substring(2, 9)", "error: index out of range: 9"},
    {"'abcb'.indexOf('b')", "1"},
    {"'abcb'.lastIndexOf('b')", "3"},
    {"' a '.trim()", "'a'"},
    {"'abc'.charAt(1)", "'b'"},
    {"'a1b22'.findAll('[0-9]+')", "['1', '22']"},
    {"'abc'.find('b.')", "'bc'"},
    {"[3, 1, 2].max() + [3, 1, 2].min() + [3, 1, 2].sum()", "10"},
    {"[1, 2].isSorted()", "true"},
    {"math.greatest(1, 5, 3)", "5"},
    {"math.least([4, 2])", "2"},
    {"sets.contains([1, 2], [2])", "true"},
    {"sets.intersects([1], [2])", "false"},
    {"sets.equivalent([1, 2], [2, 1])", "true"},
    {"[1, 1, 2].distinct()", "[1, 2]"},
    {"int('42') + int(3.9) + int(2u)", "47"},
    {"string(42) + string(true) + string(1.5)", "'42true1.5'"},
    {"double('1.5')", "1.5"},
    {"type(1) == int", "true"},
    {"int('x')", "error: cannot convert to int: x"},
    {"size('abc') + size([1]) + {'a': 1}.size()", "5"},
    {"duration('1h') > duration('59m')", "true"},
    {"timestamp('2026-01-02T03:04:05Z').getFullYear()", "2026"},
    {"timestamp('2026-01-02T00:00:00Z') - timestamp('2026-01-01T00:00:00Z') == duration('24h')", "true"},
    {"quantity('1Gi').isGreaterThan(quantity('1G'))", "true"},
    {"quantity('500m').add(quantity('500m')) == quantity('1')", "true"},
    {"quantity('50k').sub(20) == quantity('49980')", "true"},
    {"isQuantity('x')", "false"},
    {"quantity('200M').compareTo(quantity('0.2G'))", "0"},
    {"quantity('5').asInteger()", "5"},
    {"quantity('1.5').isInteger()", "false"},
    {"semver('1.2.3').isLessThan(semver('1.10.0'))", "true"},
    {"semver('1.0.0-alpha').compareTo(semver('1.0.0'))", "-1"},
    {"isSemver('1.0')", "false"},
    {"semver('v1.0', true).major()", "1"},
    {"cidr('192.168.0.0/24').containsIP('192.168.0.7')", "true"},
    {"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", "true"},
    {"ip('::1').isLoopback()", "true"},
    {"isIP('1.2.3')", "false"},
    {"ip('127.0.0.1').family()", "4"},
    {"string(cidr('10.1.2.3/8').masked())", "'10.0.0.0/8'"},
    {"cidr('10.1.2.3/8').prefixLength()", "8"},
    {"device.attributes['gpu.example.com'].model.contains('A100')", "true"},
    {"device.attributes['other'].model", "error: no such key: model"},
    {"device.driver == 'gpu.example.com' && "
     "device.attributes['gpu.example.com'].version.isGreaterThan(semver('12.0.0'))",
     "true"},
    {"// a remark\n1", "1"},
    {"1 +", "error: compile: column 4: unexpected end"},
    {"y", "error: compile: column 2: undeclared reference to 'y'"},
    {"f(1)", "error: compile: column 5: undeclared reference to 'f'"},
    {"'a", "error: compile: column 3: a string is not closed"},
    {"1 2", "error: compile: column 3: unexpected ''"},
    {"has(1)", "error: compile: column 7: has() takes one field"},
    {"#", "error: compile: column 1: unexpected character '#'"},
};

TEST(Cel, evaluates) {
  for (const Case& one : kCases) {
    const Value actual = evaluate(one.text);
    const std::string_view expected = one.expected;
    if (expected.starts_with("error: ")) {
      ASSERT_TRUE(actual.is_error()) << one.text;
      EXPECT_EQ(actual.error()->message, expected.substr(7)) << one.text;
      continue;
    }
    std::uint64_t work = 0;
    EXPECT_TRUE(equal(actual, evaluate(expected), work))
        << one.text << (actual.is_error() ? " gave " + actual.error()->message : "");
    EXPECT_FALSE(actual.is_error()) << one.text << ": " << actual.error()->message;
  }
}

TEST(Cel, is_bounded) {
  EXPECT_EQ(evaluate("[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, "
                     "[1,2,3,4,5,6,7,8,9].all(d, true))))",
                     5000)
                .error()
                ->message,
            "operation cancelled: actual cost limit exceeded");
  std::string doubling = "'aaaaaaaaaaaaaaaa'";
  for (int i = 0; i < 40; ++i) doubling = "cel.bind(s, " + doubling + ", s + s)";
  EXPECT_TRUE(evaluate(doubling).is_error());
  std::string nested = "[1]";
  for (int i = 0; i < 40; ++i) nested = "cel.bind(s, " + nested + ", [s, s])";
  EXPECT_TRUE(evaluate(nested + " == " + nested).is_error());
  for (const char* opening : {"(", "[", "-(", "!", "{1:", "size("}) {
    std::string deep;
    for (int i = 0; i < 3000; ++i) deep += opening;
    EXPECT_TRUE(evaluate(deep + "1").is_error());
  }
  std::string chain = "1";
  for (int i = 0; i < 3000; ++i) chain += "+1";
  EXPECT_EQ(evaluate(chain).error()->message.substr(0, 8), "compile:");
  EXPECT_TRUE(evaluate(std::string(20'000, ' ')).is_error());
}

}  // namespace
}  // namespace api::cel
