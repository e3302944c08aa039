// The meaning of expressions: a table of texts and values.
#include <gtest/gtest.h>

#include <span>

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
    {"'a'.matches('(')", "error: compile: column 17: invalid matches argument"},
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
    {"['a', 'b'].sum()", "error: no such overload: sum"},
    {"[[1], [2]].sum()", "error: no such overload: sum"},
    {"[duration('1s'), duration('2s')].sum() == duration('3s') && [1.5, 1.5].sum() == 3.0 && [].sum() == 0", "true"},
    {"['a', 'b'].join() + ['a'].join('-') + [].join('-')", "'aba'"},
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

// Kubernetes has optional values since 1.28.
const Case kOptionals[] = {
    {"optional.of(1).hasValue()", "true"},
    {"optional.none().hasValue()", "false"},
    {"optional.of(1).value()", "1"},
    {"optional.none().value()", "error: optional.none() dereference"},
    {"optional.ofNonZeroValue(0) == optional.none()", "true"},
    {"optional.ofNonZeroValue([]).hasValue() || optional.ofNonZeroValue('').hasValue()", "false"},
    {"optional.ofNonZeroValue('a') == optional.of('a')", "true"},
    {"optional.of(1) == optional.of(1.0)", "true"},
    {"optional.of(1) == optional.none()", "false"},
    {"optional.of(1) == 1", "false"},
    {"type(optional.none()) == optional_type", "true"},
    {"self.?name.orValue('x')", "'web'"},
    {"self.?nope.orValue('x')", "'x'"},
    {"self.?nope.hasValue()", "false"},
    {"self.?limits.cpu == optional.of('2')", "true"},
    {"self.?limits.?cpu.value()", "'2'"},
    {"self.?nope.deep.deeper.orValue(7)", "7"},
    {"self.?limits['cpu'].value() + self.?nope['cpu'].orValue('-')", "'2-'"},
    {"has(self.?limits.cpu) && !has(self.?limits.gpu) && !has(self.?nope.cpu)", "true"},
    {"self.limits[?'cpu'].orValue('0')", "'2'"},
    {"self.limits[?'gpu'].orValue('0')", "'0'"},
    {"self.tags[?1].value()", "'b'"},
    {"self.tags[?2].hasValue() || self.tags[?-1].hasValue()", "false"},
    {"self.name.?x", "error: no such overload: select x"},
    {"self.name[?0]", "error: no such overload: _[_]"},
    {"device.attributes['gpu.example.com'][?'nope'].orValue('z')", "'z'"},
    {"device.attributes[?'zz'].?nope.orValue('z')", "'z'"},
    {"device.attributes[?'gpu.example.com'].?model.orValue('z')", "'A100-80G'"},
    {"self.?nope.or(self.?name).value()", "'web'"},
    {"self.?name.or(optional.of(1 / 0)).value()", "'web'"},
    {"self.?name.orValue(1 / 0)", "'web'"},
    {"self.?nope.orValue(1 / 0)", "error: division by zero"},
    {"1.orValue(2)", "error: no such overload: orValue"},
    {"x.orValue(2)", "error: no such overload: orValue"},
    {"self.?replicas.optMap(n, n + 1).value()", "4"},
    {"self.?nope.optMap(n, n + 1).hasValue()", "false"},
    {"self.?limits.optFlatMap(l, l.?gpu).hasValue()", "false"},
    {"self.?limits.optFlatMap(l, l.?cpu).value()", "'2'"},
    {"x.optMap(n, n)", "error: no such overload: optMap"},
    {"[1, ?optional.none(), ?optional.of(2), 3]", "[1, 2, 3]"},
    {"[?self.?name, ?self.?nope]", "['web']"},
    {"{'a': 1, ?'b': self.?nope, ?'c': optional.of(2)}", "{'a': 1, 'c': 2}"},
    {"[?1]", "error: cannot initialize optional list element from non-optional value 1"},
    {"{?'hi': 'world'}", "error: cannot initialize optional entry 'hi' from non-optional value world"},
    {"[1, 2].first().value() + [1, 2].last().value()", "3"},
    {"[].first().hasValue()", "false"},
    {"optional.unwrap([optional.of(1), optional.none()])", "[1]"},
    {"[optional.of(1), optional.none()].unwrapOpt()", "[1]"},
    {"true ? [1][?0].value() : 2", "1"},
    {"has(self.?name)", "error: compile: column 16: has() takes one field"},
    {"optional.some(1)", "error: compile: column 17: undeclared reference to 'optional.some'"},
    {"optional", "error: compile: column 9: undeclared reference to 'optional'"},
};

// Macros with two variables: since 1.32.
const Case kTwoVariables[] = {
    {"[1, 2].all(i, v, v == i + 1)", "true"},
    {"{'a': 1, 'b': 2}.all(k, v, k == 'a' || v == 2)", "true"},
    {"[1, 2].exists(i, v, i == 1 && v == 2)", "true"},
    {"{'a': 1}.exists(k, v, v == 2)", "false"},
    {"[1, 2].existsOne(i, v, v == 1)", "true"},
    {"[1, 1].exists_one(i, v, v == 1)", "false"},
    {"[3, 1, 2].sort()", "[1, 2, 3]"},
    {"['b', 1].sort()", "error: no such overload: sort"},
    {"[0.0 / 0.0, 1.0].sort()", "error: no such overload: sort"},
    {"['ccc', 'a', 'bb'].sortBy(x, size(x))", "['a', 'bb', 'ccc']"},
    {"[].sortBy(x, x)", "[]"},
    {"lists.range(3)", "[0, 1, 2]"},
    {"lists.range(-1)", "[]"},
    {"lists.range(100000000)", "error: operation cancelled: actual cost limit exceeded"},
    {"[0, 1].exists(i, v, 1 / v == 1)", "true"},
    {"[0, 1].all(i, v, 1 / v == 1)", "error: division by zero"},
    {"[[1, 2], [3]].all(i, v, v.all(j, w, w > i + j))", "true"},
    {"[true].all(x, x)", "true"},
    {"{'a': 1}.transformList(k, v, v)", "[1]"},
    {"[1, 2, 3].transformList(i, v, i * v + v)", "[1, 4, 9]"},
    {"[1, 2, 3].transformList(i, v, i % 2 == 0, i * v + v)", "[1, 9]"},
    {"[1, 2, 3].transformMap(i, v, i * v + v)", "{0: 1, 1: 4, 2: 9}"},
    {"{'a': 'b', 'c': 'd'}.transformMap(k, v, k != 'c', v + '!')", "{'a': 'b!'}"},
    {"{'greeting': 'hello'}.transformMapEntry(k, v, {v: k})", "{'hello': 'greeting'}"},
    {"['a', 'b'].transformMapEntry(i, v, v != 'b', {v: i})", "{'a': 0}"},
    {"{'a': 'x', 'b': 'x'}.transformMapEntry(k, v, {v: k})", "error: insert failed: key already exists"},
    {"[1].transformMapEntry(i, v, v)", "error: no such overload: transformMapEntry"},
    {"[1].transformList(i, v, 1 / i)", "error: division by zero"},
    {"[1].transformList(i, v, 1, v)", "error: no such overload: predicate"},
    {"[1].transformList(v, v)", "error: compile: column 23: expected ','"},
    {"[1].all(v, v, true)", "error: compile: column 15: the two variables have one name"},
    {"[1].all(i, v, w, true)", "error: compile: column 16: undeclared reference to 'w'"},
    {"[7].all(i, x, x == 7) && x == 5", "true"},
};

// The additions of Kubernetes' libraries, and the extensions of the language that it switches on.
const Case kFormats[] = {
    {"'%s-%d'.format(['a', 1])", "'a-1'"},
    {"'no substitution'.format([])", "'no substitution'"},
    {"'%% and %s%%'.format(['x'])", "'% and x%'"},
    {"'%b %b %b'.format([5, -5, true])", "'101 -101 1'"},
    {"'%o %o'.format([11, uint(65535)])", "'13 177777'"},
    {"'%x %X %x %X'.format([30, 30, -30, uint(6000)])", "'1e 1E -1e 1770'"},
    {"'%x %X'.format(['Hello!', b'\\x00\\xfe'])", "'48656c6c6f21 00FE'"},
    {"'%.3f %f'.format([1.2345, 2.71828])", "'1.234 2.718280'"},
    {"'%.1f %.0f'.format([1234567.25, -1000.0])", "'1,234,567.2 -1,000'"},
    {"'%e'.format([1052.032911275])", "'1.052033\\u202f×\\u202f10⁰³'"},
    {"'%.1e'.format([0.00025])", "'2.5\\u202f×\\u202f10⁻⁰⁴'"},
    {"'%f %f %f'.format(['NaN', 'Infinity', double('-Inf')])", "'NaN ∞ -∞'"},
    {"'%s %s %s'.format([2.71, null, 999999999999])", "'2.71 null 999999999999'"},
    {"'%s %s'.format([b'xyz', type('')])", "'xyz string'"},
    {"'%s %s'.format([timestamp('2023-02-03T23:31:20+00:00'), duration('1h45m47s')])", "'2023-02-03T23:31:20Z 6347s'"},
    {"'%s'.format([duration('2ns')])", "'0.000000002s'"},
    {"'%s'.format([['abc', 3.14, null, [9, 8], timestamp('2023-02-03T23:31:20Z')]])",
     "'[\"abc\", 3.140000, null, [9, 8], timestamp(\"2023-02-03T23:31:20Z\")]'"},
    {"'%s'.format([{'k2': duration('2h'), 'k1': b'x', 'k3': true}])",
     "'{\"k1\":b\"x\", \"k2\":duration(\"7200s\"), \"k3\":true}'"},
    {"'%d %d %d'.format([0, 1])", "error: index 2 out of range"},
    {"'x %'.format([1])", "error: unexpected end of string"},
    {"'%a'.format([1])", "error: could not parse formatting clause: unrecognized formatting clause \"a\""},
    {"'%.34'.format([5.0])",
     "error: could not parse formatting clause: error while parsing precision: could not find end of precision "
     "specifier"},
    {"'%b'.format(['abc'])",
     "error: error during formatting: only integers and bools can be formatted as binary, was given string"},
    {"'%d'.format([duration('1s')])",
     "error: error during formatting: decimal clause can only be used on integers, was given google.protobuf.Duration"},
    {"'%e'.format([null])",
     "error: error during formatting: scientific clause can only be used on doubles, was given null_type"},
    {"'%s'.format([[quantity('1')]])",
     "error: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, "
     "lists, types, durations, and timestamps, was given kubernetes.Quantity"},
    {"strings.quote('a\"b\\n')", "'\"a\\\\\"b\\\\n\"'"},
    {"format.dns1123Label().validate('a').hasValue()", "false"},
    {"format.dns1123Label().validate('my name').value()",
     "[\"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end "
     "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')\"]"},
    {"format.dns1123Label().validate('a.b').value()", "['must not contain dots']"},
    {"format.dns1123LabelPrefix().validate('my-label-').hasValue()", "false"},
    {"format.dns1123Subdomain().validate('a..b').value()",
     "[r\"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
     "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
     "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')\"]"},
    {"format.dns1123SubdomainPrefix().validate('mysubdomain.prefix.-').hasValue()", "false"},
    {"format.dns1035Label().validate('1a').value().size()", "1"},
    {"format.dns1035LabelPrefix().validate('a-').hasValue()", "false"},
    {"format.qualifiedName().validate('apiextensions.k8s.io/v1beta1').hasValue()", "false"},
    {"format.qualifiedName().validate('/').value()",
     "['prefix part must be non-empty', 'name part must be non-empty', \"name part must consist of alphanumeric "
     "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
     "'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')\"]"},
    {"format.labelValue().validate('').hasValue()", "false"},
    {"format.labelValue().validate('a!').hasValue()", "true"},
    {"format.uri().validate('http://example.com').hasValue()", "false"},
    {"format.uri().validate('../x').value()", "['parse \"../x\": invalid URI for request']"},
    {"format.uuid().validate('123e4567-e89b-12d3-a456-426614174000').hasValue()", "false"},
    {"format.uuid().validate('123e4567').value()", "['does not match the UUID format']"},
    {"format.byte().validate('aGVsbG8=').hasValue()", "false"},
    {"format.byte().validate('aGVsbG8').value()", "['invalid base64']"},
    {"format.date().validate('2021-01-01').hasValue()", "false"},
    {"format.date().validate('2020-01-32').value()", "['invalid date']"},
    {"format.datetime().validate('2021-01-01T00:00:00Z').hasValue()", "false"},
    {"format.datetime().validate('2021-01-01T24:00:00Z').value()", "['invalid datetime']"},
    {"format.named('dns1123Label').value() == format.dns1123Label()", "true"},
    {"format.dns1123Label() == format.uri()", "false"},
    {"format.named('unknown').hasValue()", "false"},
};

const Case kLibraries[] = {
    {"url('https://a.b/c').getHost()", "'a.b'"},
    {"isURL('https://a.b/c') && isURL('/absolute-path') && isURL('mailto:a@b')", "true"},
    {"isURL('../relative') || isURL('https://a:b:c/') || isURL('') || isURL('http://[::1') || isURL(':x')", "false"},
    {"isURL('http://a b/') || isURL('http://a/%zz') || isURL('http://a\\n') || isURL('http://u@ser\\x7f@a')", "false"},
    {"url('../x')", "error: URL parse error during conversion from string: parse \"../x\": invalid URI for request"},
    {"url('https://a:b:c/')",
     "error: URL parse error during conversion from string: parse \"https://a:b:c/\": invalid port \":c\" after host"},
    {"url('HTTPS://example.com/').getScheme() + url('/path').getScheme()", "'https'"},
    {"url('https://user:pw@example.com:80/').getHost() + url('https://[::1]:80/').getHost()",
     "'example.com:80[::1]:80'"},
    {"url('https://example.com:80/').getHostname() + url('https://[::1]/').getHostname()", "'example.com::1'"},
    {"url('https://example.com:80/').getPort() + url('https://example.com/').getPort()", "'80'"},
    {"url('https://example.com/path with spaces/').getEscapedPath()", "'/path%20with%20spaces/'"},
    {"url('https://example.com').getEscapedPath() + url('/a%2Fb').getEscapedPath()", "'/a%2Fb'"},
    {"url('https://example.com/path?k1=a&k2=b&k2=c#f').getQuery()", "{'k1': ['a'], 'k2': ['b', 'c']}"},
    {"url('https://example.com/?key with spaces=value+with%20spaces').getQuery()",
     "{'key with spaces': ['value with spaces']}"},
    {"url('https://example.com/path?').getQuery()", "{}"},
    {"url('http://a/#%zz')",
     "error: URL parse error during conversion from string: parse \"http://a/#%zz\": invalid URL escape \"%zz\""},
    {"url('/a') == url('/a') && url('/a') != url('/b') && type(url('/a')) == kubernetes.URL", "true"},
    {"'x'.getHost()", "error: no such overload: getHost"},
    {"type(ip('1.1.1.1')) == net.IP && type(cidr('1.0.0.0/8')) == net.CIDR", "true"},
    {"type(timestamp(0)) == google.protobuf.Timestamp && type(semver('1.0.0')) == kubernetes.Semver", "true"},
    {"net.IPX", "error: compile: column 8: undeclared reference to 'net.IPX'"},
    {"ip.isCanonical('2001:db8::abcd') && !ip.isCanonical('2001:DB8::ABCD')", "true"},
    {"isIP('::ffff:1.2.3.4') || isIP('fe80::1%eth0') || isIP('01.2.3.4')", "false"},
    {"cidr('192.168.0.1/24').ip() == ip('192.168.0.1')", "true"},
    {"isSemver('1.0', true) && semver('01.01.01', true) == semver('1.1.1')", "true"},
    {"isSemver('1-alpha', true)", "false"},
    {"[1, 2].includes(2) && !['a'].includes('b') && 'a'.includes('a')", "true"},
    {"matches('hello', 'l+') && 'abcb'.indexOf('b', 2) == 3 && 'abcb'.lastIndexOf('b', 2) == 1", "true"},
    {"'abc'.indexOf('b', 4)", "error: index out of range: 4"},
    {"'123 abc 456'.findAll('[0-9]+', 1)", "['123']"},
    {"'12 é'.findAll('[0-9]*')", "['12', '', '']"},
    {"'aé'.split('')", "['a', 'é']"},
    {"'aé'.replace('', '-') + 'ab'.replace('', '-', 1)", "'-a-é--ab'"},
    {"'\u2003 a\u00a0'.trim()", "'a'"},
    {"timestamp(1767323045) == timestamp('2026-01-02T03:04:05Z') && int(timestamp(7)) == 7", "true"},
    {"timestamp('2024-12-31T23:00:00Z').getDayOfYear()", "365"},
    {"timestamp('2023-03-01T00:00:00Z').getDayOfYear()", "59"},
    {"timestamp('2026-01-02T03:04:05.678Z').getMilliseconds()", "678"},
    {"timestamp('2026-01-04T00:00:00Z').getDayOfWeek() + timestamp('2026-01-04T00:00:00Z').getDayOfMonth()", "3"},
    {"timestamp('2026-01-01T00:30:00Z').getFullYear('-01:00')", "2025"},
    {"timestamp('2026-01-01T23:30:00Z').getDate('+01:00')", "2"},
    {"timestamp('1969-12-31T23:59:59Z').getSeconds()", "59"},
    {"timestamp('9999-12-31T23:59:59Z') > timestamp('2020-01-01T00:00:00Z')", "true"},
    {"timestamp('0001-01-01T00:00:00Z') < timestamp('1600-01-01T00:00:00Z')", "true"},
    {"timestamp('9999-12-31T23:59:59Z') + duration('1s')", "error: timestamp overflow"},
    {"timestamp('9999-12-31T23:59:59Z') - timestamp('2020-01-01T00:00:00Z')", "error: integer overflow"},
    {"(timestamp('2026-01-01T00:00:00Z') - duration('1ms')).getMilliseconds()", "999"},
    {"timestamp('2026-01-01T00:00:00.5Z') - timestamp('2025-12-31T23:59:59.75Z') == duration('750ms')", "true"},
    {"timestamp('2026-07-01T00:00:00Z').getHours('Europe/Berlin')", "2"},
    {"timestamp('9999-12-31T23:59:59Z').getFullYear()", "9999"},
    {"timestamp(0).getHours('Mars/Olympus')", "error: unknown time zone Mars/Olympus"},
    {"image('nginx').registry() + ' ' + image('nginx').repository() + ' ' + image('nginx').tag()",
     "'index.docker.io library/nginx latest'"},
    {"image('registry.k8s.io:443/a/b:v1').registry() + ' ' + image('registry.k8s.io:443/a/b:v1').identifier()",
     "'registry.k8s.io:443 v1'"},
    {"image('k.io/ab:t@sha256:6aefddb645ee6963afd681b1845c661d0ea4c3b20ab9db86d9e753b203d385f2').containsDigest()",
     "true"},
    {"isImage('registry.k8s.io//a') || isImage('a@sha256:12') || isImage('UPPER/x') || isImage('')", "false"},
};

void check(std::span<const Case> cases) {
  for (const Case& one : cases) {
    const Value actual = evaluate(one.text);
    const std::string_view expected = one.expected;
    if (expected.starts_with("error: ")) {
      EXPECT_EQ(actual.is_error() ? actual.error()->message : "no error", expected.substr(7)) << one.text;
      continue;
    }
    std::uint64_t work = 0;
    const Value text = to_string(actual);
    EXPECT_TRUE(equal(actual, evaluate(expected), work))
        << one.text << " gave " << (text.is_error() ? text.error()->message : *text.get<std::string>());
    EXPECT_FALSE(actual.is_error()) << one.text << ": " << actual.error()->message;
  }
}

TEST(Cel, evaluates) { check(kCases); }
TEST(Cel, has_optional_values) { check(kOptionals); }
TEST(Cel, has_macros_with_two_variables) { check(kTwoVariables); }
TEST(Cel, formats_texts_and_knows_formats_by_name) { check(kFormats); }
TEST(Cel, has_the_libraries_of_kubernetes) { check(kLibraries); }

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
  std::string many = "['aaaaaaaaaaaaaaaa']";
  for (int i = 0; i < 40; ++i) many = "cel.bind(s, " + many + ", [s, s])";
  EXPECT_TRUE(evaluate("'%s'.format([" + many + "])").is_error());
  EXPECT_TRUE(evaluate("'%.999999999f'.format([1.0])").is_error());
  std::string chain = "1";
  for (int i = 0; i < 3000; ++i) chain += "+1";
  EXPECT_EQ(evaluate(chain).error()->message.substr(0, 8), "compile:");
  EXPECT_TRUE(evaluate(std::string(20'000, ' ')).is_error());
}

TEST(Cel, has_chains_of_any_length) {
  std::string ors = "x == 0", ands = "x == 5";
  for (int i = 1; i < 600; ++i) ors += " || x == " + std::to_string(i), ands += " && x != -" + std::to_string(i);
  EXPECT_TRUE(*evaluate(ors).get<bool>());
  EXPECT_TRUE(*evaluate(ands).get<bool>());
  EXPECT_EQ(evaluate("1 / 0 > 0 || " + ors + " || [1][9] == 0").get<bool>() != nullptr, true);
  EXPECT_EQ(evaluate("x > 9 || 1 / 0 > 0 || x > 8 || [1][9] == 0").error()->message, "division by zero");
}

}  // namespace
}  // namespace api::cel
