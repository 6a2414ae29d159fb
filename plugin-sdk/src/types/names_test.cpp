#include "backplane/types/names.hpp"

#include <gtest/gtest.h>

#include "backplane/types/ip_text.hpp"
#include "backplane/types/resource_names.hpp"
#include "cost.hpp"
#include "text/quantity.hpp"

namespace backplane {
namespace {

std::string problems_of(std::string_view metadata, bool namespaced = true) {
  const Value tree = json::parse("{\"metadata\":" + std::string(metadata) + "}");
  FieldErrors errors;
  validate_object_meta(tree.get_object(), namespaced, NameRule::kDnsSubdomain, errors);
  return errors.aggregate_message();
}

TEST(Names, LabelsAndSubdomains) {
  EXPECT_TRUE(is_dns1123_label("a-1").empty());
  EXPECT_EQ(is_dns1123_label("a.b"), Problems{"must not contain dots"});
  EXPECT_EQ(is_dns1123_label(std::string(64, 'a')), Problems{"must be no more than 63 characters"});
  EXPECT_FALSE(is_dns1123_label("").empty());
  EXPECT_TRUE(is_dns1123_subdomain("a.b-c.d").empty());
  EXPECT_FALSE(is_dns1123_subdomain("a..b").empty());
  EXPECT_FALSE(is_dns1035_label("1a").empty());
  EXPECT_TRUE(is_dns1035_label("a1").empty());
}

TEST(Names, QualifiedNames) {
  EXPECT_TRUE(is_qualified_name("example.com/Name_1").empty());
  EXPECT_EQ(is_qualified_name("/a"), Problems{"prefix part must be non-empty"});
  EXPECT_EQ(is_qualified_name("").at(0), "name part must be non-empty");
  EXPECT_EQ(is_qualified_name(std::string(64, 'k')), Problems{"name part must be no more than 63 bytes"});
  EXPECT_TRUE(is_qualified_name("a/b/c").at(0).starts_with("a valid label key must consist"));
}

TEST(Names, PortsAddressesAndKeys) {
  EXPECT_TRUE(is_valid_port_num(80).empty());
  EXPECT_FALSE(is_valid_port_num(0).empty());
  EXPECT_TRUE(is_valid_port_name("http-1").empty());
  EXPECT_EQ(is_valid_port_name("80"), Problems{"must contain at least one letter (a-z)"});
  EXPECT_TRUE(is_valid_ip("10.0.0.1").empty());
  EXPECT_TRUE(is_valid_ip("2001:db8::1").empty());
  EXPECT_FALSE(is_valid_ip("10.0.0").empty());
  EXPECT_EQ(is_config_map_key("..x"), Problems{"must not start with '..'"});
  EXPECT_EQ(is_path_segment_name(".."), Problems{"may not be '..'"});
  EXPECT_EQ(is_path_segment_name("a/b"), Problems{"may not contain '/'"});
}

TEST(Names, GenerateNameMayEndInADash) {
  EXPECT_TRUE(check_name(NameRule::kDnsSubdomain, "web-", true).empty());
  EXPECT_FALSE(check_name(NameRule::kDnsSubdomain, "web-", false).empty());
  EXPECT_FALSE(check_name(NameRule::kDnsSubdomain, "Web-", true).empty());
}

TEST(ObjectMetaRules, NameAndNamespace) {
  EXPECT_EQ(problems_of(R"({"namespace":"n"})"), "metadata.name: Required value: name or generateName is required");
  EXPECT_EQ(problems_of(R"({"name":"a"})"), "metadata.namespace: Required value");
  EXPECT_EQ(problems_of(R"({"name":"a","namespace":"n"})", false), "metadata.namespace: Forbidden: not allowed on this type");
  EXPECT_EQ(problems_of(R"({"name":"a","namespace":"n","generation":-5})"),
            "metadata.generation: Invalid value: -5: must be greater than or equal to 0");
}

TEST(ObjectMetaRules, Owners) {
  EXPECT_EQ(problems_of(R"({"name":"a","namespace":"n","ownerReferences":[{"apiVersion":"v1","kind":"Event","name":"x","uid":"u"}]})"),
            R"(metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"x","uid":"u"}: /v1, Kind=Event is )"
            "disallowed from being an owner");
  EXPECT_EQ(problems_of(R"({"name":"a","namespace":"n","ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":""}]})"),
            R"(metadata.ownerReferences.uid: Invalid value: "": must not be empty)");
}

TEST(ObjectMetaRules, NoFinalizersAreAddedToWhatIsBeingDeleted) {
  const Value old = json::parse(R"({"metadata":{"name":"a","deletionTimestamp":"2024-01-01T00:00:00Z","finalizers":["e.com/x"]}})");
  const Value now =
      json::parse(R"({"metadata":{"name":"a","deletionTimestamp":"2024-01-01T00:00:00Z","finalizers":["e.com/x","e.com/y"]}})");
  FieldErrors errors;
  validate_object_meta_update(now.get_object(), old.get_object(), errors);
  EXPECT_EQ(errors.aggregate_message(),
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers "
            "[]string{\"e.com/y\"}");
}

// Each error prints the whole list, so only a few errors are reported.
TEST(ObjectMetaRules, OfManySurplusControllersAFewAreNamed) {
  std::string owners;
  for (int i = 0; i < 100; ++i) {
    owners.append(i == 0 ? "" : ",").append(R"({"apiVersion":"v1","kind":"P","name":"p","uid":"u","controller":true})");
  }
  const Value tree = json::parse(R"({"metadata":{"name":"a","ownerReferences":[)" + owners + "]}}");
  FieldErrors errors;
  validate_object_meta(tree.get_object(), false, NameRule::kDnsSubdomain, errors);
  EXPECT_EQ(errors.size(), 4u);
  ASSERT_FALSE(errors.list().empty());
  EXPECT_NE(errors.list()[0].text.find("Only one reference can have Controller set to true"), std::string::npos);
}

// Regression: each finalizer was searched linearly among all old ones.
TEST(ObjectMetaRules, TheCostOfManyFinalizersIsLinear) {
  const auto cost = [](int count) {
    std::string finalizers;
    for (int i = 0; i < count; ++i) finalizers.append(i == 0 ? "\"" : ",\"").append("e.com/f").append(std::to_string(i)).append("\"");
    const std::string text = R"({"metadata":{"name":"a","deletionTimestamp":"2024-01-01T00:00:00Z","finalizers":[)" + finalizers;
    const Value old = json::parse(text + "]}}"), now = json::parse(text + ",\"e.com/new\"]}}");
    return backplane::test_support::least_cpu_seconds([&] {
      FieldErrors errors;
      validate_object_meta_update(now.get_object(), old.get_object(), errors);
      EXPECT_TRUE(errors.aggregate_message().ends_with("found new finalizers []string{\"e.com/new\"}"));
    });
  };
  EXPECT_LT(backplane::test_support::growth_of(cost, 3000), backplane::test_support::kMostGrowthOfLinear);
}

TEST(ObjectMetaRules, SystemMembersAreImmutable) {
  const Value old = json::parse(R"({"metadata":{"name":"a","uid":"u"}})");
  const Value now = json::parse(R"({"metadata":{"name":"a","uid":"v","deletionTimestamp":"2020-01-01T00:00:00Z"}})");
  FieldErrors errors;
  validate_object_meta_update(now.get_object(), old.get_object(), errors);
  EXPECT_EQ(errors.aggregate_message(),
            "[metadata.uid: Invalid value: \"v\": field is immutable, metadata.deletionTimestamp: Invalid value: "
            "\"2020-01-01T00:00:00Z\": field is immutable]");
}

TEST(LabelSelectorRules, OperatorsAndValues) {
  const Value selector = json::parse(
      R"({"matchExpressions":[{"key":"a","operator":"In"},{"key":"a","operator":"Exists","values":["x"]},{"key":"a","operator":"Nope"}]})");
  FieldErrors errors;
  validate_label_selector(selector.get_object(), "spec.selector", errors);
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors.list()[0].text, "Required value: must be specified when `operator` is 'In' or 'NotIn'");
  EXPECT_EQ(errors.list()[1].text, "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  EXPECT_EQ(errors.list()[2].text, "Invalid value: \"Nope\": not a valid selector operator");
}

struct QuantityCase {
  const char* text;
  const char* canonical;  // null: the quantity is invalid
};
// GoogleTest prints the parameter of a test with it. Without it, the printed addresses differ from build to build.
void PrintTo(const QuantityCase& quantity, std::ostream* out) { *out << '"' << quantity.text << '"'; }
class Quantities : public testing::TestWithParam<QuantityCase> {};
TEST_P(Quantities, HaveTheTextThatUpstreamPrints) {
  const auto canonical = canonical_quantity(GetParam().text);
  if (GetParam().canonical == nullptr) {
    EXPECT_EQ(canonical, std::nullopt);
  } else {
    EXPECT_EQ(canonical, GetParam().canonical);
  }
}
INSTANTIATE_TEST_SUITE_P(All, Quantities,
                         testing::Values(QuantityCase{"0.5", "500m"}, QuantityCase{"1024Ki", "1Mi"}, QuantityCase{"0", "0"},
                                         QuantityCase{"0Ki", "0"}, QuantityCase{"-0", "0"}, QuantityCase{"100m", "100m"},
                                         QuantityCase{"1000m", "1"}, QuantityCase{"1000", "1k"}, QuantityCase{"1500", "1500"},
                                         QuantityCase{"12e6", "12e6"}, QuantityCase{"1e3", "1e3"}, QuantityCase{"1E3", "1E3"},
                                         QuantityCase{"1E", "1E"}, QuantityCase{"0.0000000001", "1n"}, QuantityCase{"1.5Gi", "1536Mi"},
                                         QuantityCase{"0.5Ki", "512"}, QuantityCase{"1.25Ki", "1280"}, QuantityCase{"0.1Ki", "102400m"},
                                         QuantityCase{"9223372036854775808Ki", "9223372036854775807"}, QuantityCase{"-1.5", "-1500m"},
                                         QuantityCase{"+1", "+1"}, QuantityCase{".5", "500m"}, QuantityCase{"1.", "1."},
                                         QuantityCase{"64Gi", "64Gi"}, QuantityCase{"2048", "2048"}, QuantityCase{"1e-3", "1e-3"},
                                         QuantityCase{"0.001", "1m"}, QuantityCase{"", nullptr}, QuantityCase{"1i", nullptr},
                                         QuantityCase{"1 Gi", nullptr}, QuantityCase{"one", nullptr}, QuantityCase{"1e", nullptr},
                                         QuantityCase{"1Kii", nullptr}, QuantityCase{"1K", nullptr}));

// Expected values: Quantity.String() of k8s.io/apimachinery for the parsed quantity.
INSTANTIATE_TEST_SUITE_P(AsSent, Quantities,
                         testing::Values(QuantityCase{"12e+6", "12e+6"}, QuantityCase{"12E6", "12E6"}, QuantityCase{"12e007", "120e6"},
                                         QuantityCase{"007", "007"}, QuantityCase{"001m", "001m"}, QuantityCase{"000m", "0"},
                                         QuantityCase{"1.500", "1.500"}, QuantityCase{"1.5000", "1500m"}, QuantityCase{"1.000", "1"},
                                         QuantityCase{"0.100", "100m"}, QuantityCase{"1.5e1", "1.5e1"}, QuantityCase{"15e1", "150"},
                                         QuantityCase{"1e1", "10"}, QuantityCase{"1e4", "10e3"}, QuantityCase{"1e-1", "100e-3"},
                                         QuantityCase{"1e-10", "1e-9"}, QuantityCase{"+1.5Gi", "1536Mi"}, QuantityCase{"-1Ki", "-1Ki"},
                                         QuantityCase{"-1.5Ki", "-1536"}, QuantityCase{"1e-0", "1e-0"}, QuantityCase{"2000e3", "2e6"},
                                         QuantityCase{"123456789.123456789", "123456789.123456789"}, QuantityCase{".", "0"},
                                         QuantityCase{"-", "0"}, QuantityCase{"8Ki", "8Ki"}, QuantityCase{"1500E", "1500E"},
                                         QuantityCase{"1.5n", "2n"}, QuantityCase{"1234567890123456789e3", "1234567890123456789e3"},
                                         QuantityCase{"1E3Ki", nullptr}));

TEST(Quantities, AreRoundedUp) {
  constexpr int kMilli = -3;
  EXPECT_EQ(round_quantity_up("1e-9", kMilli), "1e-3");
  EXPECT_EQ(round_quantity_up("12e-6", kMilli), "1e-3");
  EXPECT_EQ(round_quantity_up("1n", kMilli), "1m");
  EXPECT_EQ(round_quantity_up("-1100n", kMilli), "-1m");
  EXPECT_EQ(round_quantity_up("123456789.123456789", kMilli), "123456789124m");
  EXPECT_EQ(round_quantity_up("1.500", kMilli), "1.500");
  EXPECT_EQ(round_quantity_up("1E3", kMilli), "1E3");
  EXPECT_EQ(round_quantity_up("100m", kMilli), "100m");
  EXPECT_EQ(round_quantity_up("1Ki", kMilli), "1Ki");
}

TEST(Quantities, AreWholeOrNotWhateverTheirNotation) {
  for (const char* whole : {"1", "1.5e1", "1Ki", "1.", "1e3", "0", "1E", "0.5Ki", "1000m"}) EXPECT_TRUE(is_whole_quantity(whole)) << whole;
  for (const char* part : {"1m", "1e-3", "1.500", "1E-3", "0.5", "1.2Gi", "15e-1"}) EXPECT_FALSE(is_whole_quantity(part)) << part;
  EXPECT_EQ(counted_quantity_problems("pods", "1e-3").size(), 1u);
  EXPECT_EQ(counted_quantity_problems("pods", "1.500").size(), 1u);
  EXPECT_TRUE(counted_quantity_problems("pods", "1.5e1").empty());
}

TEST(Quantities, AreOrdered) {
  EXPECT_EQ(compare_quantities("1", "1000m"), 0);
  EXPECT_LT(compare_quantities("1Ki", "1025"), 0);
  EXPECT_GT(compare_quantities("1", "-5"), 0);
  EXPECT_LT(compare_quantities("-5", "-1"), 0);
  EXPECT_GT(compare_quantities("1G", "900M"), 0);
  EXPECT_LT(compare_quantities("0", "1n"), 0);
}

TEST(Quantities, AreAdded) {
  EXPECT_EQ(sum_of_quantities("1", "500m"), "1500m");
  EXPECT_EQ(sum_of_quantities("500m", "500m"), "1");
  EXPECT_EQ(sum_of_quantities("0", "1Gi"), "1Gi");
  EXPECT_EQ(sum_of_quantities("512Mi", "0.5Gi"), "1Gi");
  EXPECT_EQ(sum_of_quantities("1Mi", "1M"), "2048576");
  EXPECT_EQ(sum_of_quantities("1M", "1Mi"), "2048576");
  EXPECT_EQ(sum_of_quantities("999", "1"), "1k");
  EXPECT_EQ(sum_of_quantities("9Ei", "1"), "9223372036854775807");
  EXPECT_EQ(sum_of_quantities("1e3", "1"), "1001");
  EXPECT_EQ(sum_of_quantities("5", "-5"), "0");
  EXPECT_EQ(sum_of_quantities("5", "-7"), "-2");
  EXPECT_EQ(sum_of_quantities("99999999999999999999", "1"), "100E");
}

// Regression: only the text before a NUL was checked, and the whole text was stored.
TEST(Names, AddressesHoldNoNul) {
  using namespace std::string_view_literals;
  EXPECT_FALSE(is_valid_ip("10.0.0.1\0x"sv).empty());
  EXPECT_FALSE(is_valid_ip("::1\0"sv).empty());
  unsigned char bytes[16];
  EXPECT_TRUE(read_ipv6("1111:2222:3333:4444:5555:6666:255.255.255.255", bytes));
  EXPECT_FALSE(read_ipv4(std::string(1000, '1'), bytes));
}

}  // namespace
}  // namespace backplane
