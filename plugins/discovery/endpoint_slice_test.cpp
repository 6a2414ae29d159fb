#include <gtest/gtest.h>

#include "kind_under_test.hpp"
#include "kinds.hpp"

namespace backplane::discovery {
namespace {

const testing::KindUnderTest& slices() {
  static const auto schemas = *discovery_schemas();
  static const testing::KindUnderTest kind(discovery_group()->kind("EndpointSlice"), *schemas.front(), "discovery.k8s.io");
  return kind;
}

std::string slice(const std::string& endpoints, const std::string& type = "IPv4", const std::string& ports = "[]") {
  return R"({"metadata":{"name":"s"},"addressType":")" + type + R"(","endpoints":)" + endpoints + R"(,"ports":)" + ports + "}";
}
std::string problems(const std::string& endpoints, const std::string& type = "IPv4", const std::string& ports = "[]") {
  return slices().problems(slices().created(slice(endpoints, type, ports)));
}

TEST(EndpointSlices, HaveAddressesOfTheirType) {
  const std::string where = "endpoints[0].addresses[0]: Invalid value: ";
  EXPECT_EQ(problems(R"([{"addresses":["10.1.2.3"]}])"), "");
  EXPECT_EQ(problems(R"([{"addresses":[]}])"), "endpoints[0].addresses: Required value: must contain at least 1 address");
  EXPECT_EQ(problems(R"([{"addresses":["x"]}])"), where + "\"x\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  EXPECT_EQ(problems(R"([{"addresses":["fd00::1"]}])"), "endpoints[0].addresses: Invalid value: \"fd00::1\": must be an IPv4 address");
  EXPECT_EQ(problems(R"([{"addresses":["127.0.0.1"]}])"), where + "\"127.0.0.1\": may not be in the loopback range (127.0.0.0/8, ::1/128)");
  EXPECT_EQ(problems(R"([{"addresses":["fd00::1"]}])", "IPv6"), "");
  EXPECT_EQ(problems(R"([{"addresses":["FD00::1"]}])", "IPv6"), where + "\"FD00::1\": must be in canonical form (\"fd00::1\")");
  EXPECT_EQ(problems(R"([{"addresses":["10.1.2.3"]}])", "IPv6"),
            "endpoints[0].addresses: Invalid value: \"10.1.2.3\": must be an IPv6 address");
  EXPECT_EQ(problems(R"([{"addresses":["a.example.com."]}])", "FQDN"), "");
  EXPECT_EQ(problems(R"([{"addresses":["a"]}])", "FQDN"), where + "\"a\": should be a domain with at least two segments separated by dots");
}

TEST(EndpointSlices, FillInAndCheckTheirPorts) {
  EXPECT_EQ(to_json(*find_path(slices().defaulted(slice("[]", "IPv4", R"([{"port":80}])")), "ports")),
            R"([{"name":"","protocol":"TCP","port":80}])");
  EXPECT_EQ(problems("[]", "IPv4", R"([{"port":80},{"port":81}])"), "ports[1].name: Duplicate value: \"\"");
  EXPECT_EQ(problems("[]", "IPv4", R"([{"name":"a"},{"name":"a"}])"), "ports[1].name: Duplicate value: \"a\"");
}

TEST(EndpointSlices, HintsAreFewAndDifferent) {
  std::string nine = "{\"name\":\"z0\"}";
  for (int i = 1; i < 9; ++i) nine += ",{\"name\":\"z" + std::to_string(i) + "\"}";
  EXPECT_EQ(problems(R"([{"addresses":["10.1.2.3"],"hints":{"forZones":[)" + nine + "]}}]"),
            "endpoints[0].hints.forZones: Too many: 9: must have at most 8 items");
  EXPECT_EQ(problems(R"([{"addresses":["10.1.2.3"],"hints":{"forNodes":[{"name":"a"},{"name":"a"}]}}])"),
            "endpoints[0].hints.forNodes[1].name: Duplicate value: \"a\"");
}

// Older versions accepted values that are refused today.
TEST(EndpointSlices, EndpointsThatStayAreNotLookedAt) {
  const Object old = slices().normalized(slice(R"([{"addresses":["127.0.0.1"],"nodeName":"B!"}])"));
  EXPECT_EQ(slices().change_problems(old, old), "");
  Object now = old;
  now["addressType"] = "IPv6";
  EXPECT_EQ(slices().change_problems(now, old), "addressType: Invalid value: \"IPv6\": field is immutable");
}

TEST(EndpointSlices, DeprecatedTopologyIsDroppedAndItsHostnameBecomesTheNodeName) {
  const Object old = slices().normalized(slice(R"([{"addresses":["10.1.2.3"],"deprecatedTopology":{"kubernetes.io/hostname":"n"}}])"));
  const std::string sent = R"([{"addresses":["10.1.2.4"],"deprecatedTopology":{"kubernetes.io/hostname":"n","a":"b"}}])";
  Object now = slices().defaulted(slice(sent));
  RequestContext context;
  slices().strategy().prepare_for_update(context, now, old);
  EXPECT_EQ(to_json(now.at("endpoints")), R"([{"addresses":["10.1.2.4"],"conditions":{},"nodeName":"n"}])");
  EXPECT_EQ(to_json(slices().created(slice(sent)).at("endpoints")), R"([{"addresses":["10.1.2.4"],"conditions":{}}])")
      << "of new ones it is not";
  Object same = old;
  slices().strategy().prepare_for_update(context, same, old);
  EXPECT_EQ(same.at("endpoints"), old.at("endpoints"));
}

TEST(EndpointSlices, CountTheirChangesAndThoseOfLabels) {
  const Object old = slices().created(slice("[]"));
  EXPECT_EQ(get_int_path(old, "metadata.generation"), 1);
  const auto generation = [&](Object now) {
    RequestContext context;
    slices().strategy().prepare_for_update(context, now, old);
    return get_int_path(now, "metadata.generation");
  };
  EXPECT_EQ(generation(old), 1);
  Object labelled = old;
  labelled.at("metadata").get_object()["labels"] = json::parse(R"({"a":"b"})");
  EXPECT_EQ(generation(labelled), 2);
  Object annotated = old;
  annotated.at("metadata").get_object()["annotations"] = json::parse(R"({"a":"b"})");
  EXPECT_EQ(generation(annotated), 1);
  Object changed = old;
  changed["ports"] = json::parse(R"([{"name":"a"}])");
  EXPECT_EQ(generation(changed), 2);
  // Regression: an empty list differed from an absent one, although it is stored as absent.
  Object none = old;
  none["ports"] = nullptr;
  EXPECT_EQ(get_array(old, "ports")->size(), 0u);
  EXPECT_EQ(generation(none), 1);
}

TEST(EndpointSlices, WarnOfOldFormsUnlessAControllerWroteThem) {
  const auto warnings = [](const std::string& labels, const std::string& type) {
    Object object = slices().normalized(slice(R"([{"addresses":["010.1.2.3"]}])", type));
    object.at("metadata").get_object()["labels"] = json::parse(labels);
    return slices().strategy().warnings(object, nullptr);
  };
  EXPECT_EQ(warnings("{}", "IPv4"),
            std::vector<std::string>{"endpoints[0].addresses[0]: non-standard IP address \"010.1.2.3\" is invalid: use \"10.1.2.3\""});
  EXPECT_TRUE(warnings(R"({"endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io"})", "IPv4").empty());
  EXPECT_EQ(warnings(R"({"endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io"})", "FQDN"),
            std::vector<std::string>{"spec.addressType: FQDN endpoints are deprecated"});
}

TEST(EndpointSlices, ShowAFewOfWhatTheyHave) {
  const auto cells = [](const std::string& text) {
    return json::serialize(slices().strategy().table_convertor().cells(slices().normalized(text), 0, {}));
  };
  EXPECT_EQ(cells(slice("[]")), R"(["s","IPv4","<unset>","<unset>","<unknown>"])");
  EXPECT_EQ(cells(slice(R"([{"addresses":["1.1.1.1","1.1.1.2"]},{"addresses":["1.1.1.3","1.1.1.4"]}])", "IPv4",
                        R"([{"name":"a","port":80},{"name":"b"},{}])")),
            R"(["s","IPv4","80,b,*","1.1.1.1,1.1.1.2,1.1.1.3 + 1 more...","<unknown>"])");
}

}  // namespace
}  // namespace backplane::discovery
