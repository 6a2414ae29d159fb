#include <gtest/gtest.h>

#include "engine/cbor.hpp"
#include "engine/codec.hpp"
#include "schema/cbor_encode.hpp"
#include "schema_test_support.hpp"

namespace backplane {
namespace {

std::string from_hex(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    out.push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  return out;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    out.push_back(kDigits[static_cast<unsigned char>(byte) >> 4]);
    out.push_back(kDigits[static_cast<unsigned char>(byte) & 15]);
  }
  return out;
}

// JSON of the item, or the error.
std::string read(std::string_view hex) {
  const auto tree = parse_cbor(from_hex(hex), {});
  return tree.ok() ? to_json(*tree) : tree.status().message();
}

std::string written(std::string_view json, const Schema* schema = nullptr) {
  std::string out;
  EXPECT_TRUE(schema::encode_cbor(schema, json, out)) << json;
  return to_hex(out);
}

struct Case {
  const char* hex;
  const char* json;
};

// RFC 8949, appendix A.
TEST(Cbor, ReadsTheExamplesOfItsStandard) {
  constexpr Case kCases[] = {
      {"00", "0"},
      {"17", "23"},
      {"1818", "24"},
      {"1903e8", "1000"},
      {"1a000f4240", "1000000"},
      {"1b000000e8d4a51000", "1000000000000"},
      {"20", "-1"},
      {"3903e7", "-1000"},
      {"f90000", "0E0"},
      {"f98000", "-0E0"},
      {"f93e00", "1.5E0"},
      {"f97bff", "6.5504E4"},
      {"fa47c35000", "1E5"},
      {"f90001", "5.960464477539063E-8"},
      {"f90400", "6.103515625E-5"},
      {"fbc010666666666666", "-4.1E0"},
      {"f4", "false"},
      {"f5", "true"},
      {"f6", "null"},
      {"c074323031332d30332d32315432303a30343a30305a", "\"2013-03-21T20:04:00Z\""},
      {"c11a514b67b0", "\"2013-03-21T20:04:00Z\""},
      {"c1fb41d452d9ec200000", "\"2013-03-21T20:04:00.5Z\""},
      {"d74401020304", "\"01020304\""},
      {"d64401020304", "\"AQIDBA==\""},
      {"d544fffefdfc", "\"__79_A\""},
      {"d818456449455446", "\"dIETF\""},
      {"c66161", "\"a\""},
      {"4449455446", "\"IETF\""},
      {"6449455446", "\"IETF\""},
      {"62c3bc", "\"\xC3\xBC\""},
      {"42c328", "\"\xEF\xBF\xBD(\""},
      {"83010203", "[1,2,3]"},
      {"9f018202039f0405ffff", "[1,[2,3],[4,5]]"},
      {"a26161016162820203", "{\"a\":1,\"b\":[2,3]}"},
      {"bf61610161629f0203ffff", "{\"a\":1,\"b\":[2,3]}"},
      {"5f42010243030405ff", "\"\\u0001\\u0002\\u0003\\u0004\\u0005\""},
      {"7f657374726561646d696e67ff", "\"streaming\""},
      {"d9d9f7a0", "{}"},
  };
  for (const Case& each : kCases) {
    const auto wanted = parse_json(each.json, {}, nullptr);
    ASSERT_TRUE(wanted.ok()) << each.json;
    EXPECT_EQ(read(each.hex), to_json(*wanted)) << each.hex;
  }
}

TEST(Cbor, RefusesContentThatObjectsCannotHaveWithUpstreamsMessages) {
  constexpr Case kCases[] = {
      {"", "EOF"},
      {"1b", "unexpected EOF"},
      {"62c3", "unexpected EOF"},
      {"8201", "unexpected EOF"},
      {"d9d9f7", "unexpected EOF"},
      {"0000", "cbor: 1 bytes of extraneous data starting at index 1"},
      {"1c", "cbor: invalid additional information 28 for type positive integer"},
      {"1f", "cbor: invalid additional information 31 for type positive integer"},
      {"ff", "cbor: unexpected \"break\" code"},
      {"bf6161ff", "cbor: unexpected \"break\" code"},
      {"5f6161ff", "cbor: wrong element type UTF-8 text string for indefinite-length byte string"},
      {"5f5fffff", "cbor: indefinite-length byte string chunk is not definite-length"},
      {"f818", "cbor: invalid simple value 24 for type primitives"},
      {"f7", "cbor: data item of cbor type primitives is not accepted by protocol: simple value 23 is not recognized"},
      {"f0", "cbor: data item of cbor type primitives is not accepted by protocol: simple value 16 is not recognized"},
      {"f97e00", "cbor: data item of cbor type primitives is not accepted by protocol: floating-point NaN"},
      {"fa7f800000", "cbor: data item of cbor type primitives is not accepted by protocol: floating-point infinity"},
      {"c249010000000000000000", "cbor: data item of cbor type tag is not accepted by protocol: bignum"},
      {"1bffffffffffffffff",
       "cbor: cannot unmarshal positive integer into Go value of type int64 (18446744073709551615 overflows Go's int64)"},
      {"3bffffffffffffffff",
       "cbor: cannot unmarshal negative integer into Go value of type int64 (-18446744073709551616 overflows Go's int64)"},
      {"62c328", "cbor: invalid UTF-8 string"},
      {"a10102", "cbor: cannot unmarshal positive integer into Go value of type string"},
      {"a2416101616102", "cbor: found duplicate map key \"a\" at map element index 1"},
      {"c06161", "cbor: cannot set a for time.Time: parsing time \"a\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"a\" as \"2006\""},
      {"5b7fffffffffffffff", "unexpected EOF"},
      {"9b8000000000000000", "cbor: array length 9223372036854775808 is too large, it would cause integer overflow"},
      {"bb0000000000200001", "cbor: exceeded max number of key-value pairs 2097152 for CBOR map"},
  };
  for (const Case& each : kCases) EXPECT_EQ(read(each.hex), each.json) << each.hex;
  std::string nested;
  for (int i = 0; i < 5000; ++i) nested += "81";
  EXPECT_EQ(read(nested + "00"), "cbor: exceeded max nested level 1000");
  std::string tags;
  for (int i = 0; i < 100'000; ++i) tags += "c6";
  EXPECT_EQ(read(tags + "00"), "cbor: exceeded max nested level 1000");
  EXPECT_EQ(read(tags.substr(0, 2000) + "00"), "0");
}

TEST(Cbor, WritesTheShortestFormOfEachNumberAndTextsAsByteStrings) {
  constexpr Case kCases[] = {
      {"00", "0"},
      {"17", "23"},
      {"1818", "24"},
      {"18ff", "255"},
      {"190100", "256"},
      {"1a00010000", "65536"},
      {"1b7fffffffffffffff", "9223372036854775807"},
      {"3b7fffffffffffffff", "-9223372036854775808"},
      {"f93c00", "1.0"},
      {"f98000", "-0.0"},
      {"f90001", "5.960464477539063e-8"},
      {"f903ff", "0.00006097555160522461"},
      {"f97bff", "65504.0"},
      {"fa47c35000", "100000.0"},
      {"fb3ff199999999999a", "1.1"},
      {"fb7e37e43c8800759c", "1e300"},
      {"fa5f800000", "18446744073709551616"},
      {"f4", "false"},
      {"f6", "null"},
      {"40", "\"\""},
      {"42c3bc", "\"\\u00fc\""},
      {"42225c", "\"\\\"\\\\\""},
      {"a2416101416282f502", "{\"a\":1,\"b\":[true,2]}"},
  };
  for (const Case& each : kCases) EXPECT_EQ(written(each.json), each.hex) << each.json;
  std::string out = "kept";
  EXPECT_FALSE(schema::encode_cbor(nullptr, "{\"a\":", out));
  EXPECT_EQ(out, "kept");
}

// Regression, found by libFuzzer: the number lost its sign.
TEST(Cbor, NegativeZeroIsPreserved) {
  using namespace std::string_literals;
  const auto read = parse_cbor("\xfa\x80\x00\x00\x00"s, {});
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(to_json(*read), "-0");
  const auto stored = cbor_codec().to_stored(nullptr, to_json(*read));
  ASSERT_TRUE(stored.ok());
  const auto back = parse_cbor(*stored, {});
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(to_json(*back), "-0");
}

TEST(Cbor, TheTypeTellsBytesFromTextsAndRealsFromWholeNumbers) {
  const Schema& type = *widget().property("spec");
  EXPECT_EQ(written(R"({"count":1,"ratio":1})", &type), "a245636f756e740145726174696ff93c00");
  EXPECT_EQ(written(R"({"secret":"AAE="})", &type), "a146736563726574d6420001");
  EXPECT_EQ(written(R"({"blobs":{"a":"AAE="}})", &type), "a145626c6f6273a14161d6420001");
  EXPECT_EQ(written(R"({"extra":{"secret":"AAE="}})", &type), "a1456578747261a146736563726574444141453d") << "nothing is known of it";
  EXPECT_EQ(written(R"({"secret":"AAE="})"), "a146736563726574444141453d");
}

TEST(Cbor, BytesAreTheSameWithAndWithoutTheTagThatSaysTheyBecomeBase64) {
  for (const char* hex : {"a146736563726574d6420001", "a146736563726574444141453d", "a146736563726574644141453d"}) {
    auto tree = parse_cbor(from_hex(hex), {});
    ASSERT_TRUE(tree.ok()) << tree.status().message();
    ASSERT_TRUE(widget().property("spec")->normalize(*tree, nullptr).ok()) << hex;
    EXPECT_EQ(get_string(tree->get_object(), "secret"), "AAE=") << hex;
  }
}

}  // namespace
}  // namespace backplane
