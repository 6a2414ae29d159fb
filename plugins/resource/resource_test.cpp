#include <gtest/gtest.h>

#include "backplane/core/json_access.hpp"
#include "claims.hpp"
#include "conversion.hpp"
#include "kind_under_test.hpp"
#include "kinds.hpp"
#include "names.hpp"
#include "policies.hpp"

namespace backplane::resource {
namespace {

using Problems = std::vector<std::string>;

testing::KindUnderTest kind(std::string_view name) {
  return testing::KindUnderTest(resource_group()->kind(name), *stored_schemas(), "resource.k8s.io");
}

std::string problems(std::string_view name, const std::string& spec) {
  const auto tested = kind(name);
  return tested.problems(tested.defaulted(R"({"metadata":{"name":"a"},"spec":)" + spec + "}"));
}

std::string claim_problems(const std::string& devices) { return problems("ResourceClaim", R"({"devices":)" + devices + "}"); }

constexpr std::string_view kRequests = R"("requests":[{"name":"r","exactly":{"deviceClassName":"c"}},
    {"name":"s","firstAvailable":[{"name":"a","deviceClassName":"c"},{"name":"b","deviceClassName":"c"}]}])";

TEST(ClaimConstraints, WithoutTheGateOnlyMatchAttributeIsRequired) {
  const Object spec = json::parse(R"({"devices":{"constraints":[{}]}})").as_object();
  FieldErrors errors;
  check_claim_spec(spec, false, kit::Path("spec"), errors);
  EXPECT_EQ(errors.aggregate_message(), "spec.devices.constraints[0].matchAttribute: Required value");
}

TEST(Claims, HaveTheirDefaults) {
  const Object claim = kind("ResourceClaim").defaulted(R"({"spec":{"devices":{)" + std::string(kRequests) + "}}}");
  const Value* request = find_path(claim, "spec.devices.requests");
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(to_json(request->get_array()[0]), R"({"name":"r","exactly":{"deviceClassName":"c","allocationMode":"ExactCount","count":1}})");
  EXPECT_EQ(get_int(request->get_array()[1].at("firstAvailable").at(1).get_object(), "count"), 1);
}

TEST(Claims, RequestsAreExactOrAlternatives) {
  EXPECT_EQ(claim_problems("{" + std::string(kRequests) + "}"), "");
  EXPECT_EQ(claim_problems(R"({"requests":[{"name":"r"}]})"),
            "spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required");
  EXPECT_EQ(
      claim_problems(R"({"requests":[{"name":"r","exactly":{"deviceClassName":"c"}},{"name":"r","exactly":{"deviceClassName":"c"}}]})"),
      R"(spec.devices.requests[1]: Duplicate value: "r")");
  EXPECT_EQ(claim_problems(R"({"requests":[{"name":"r","exactly":{"deviceClassName":"c","allocationMode":"All","count":2}}]})"),
            "spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'");
}

TEST(Claims, ConstraintsNameRequests) {
  const auto constrained = [](const std::string& names) {
    return claim_problems("{" + std::string(kRequests) + R"(,"constraints":[{"requests":[)" + names + R"(],"matchAttribute":"d/model"}]})");
  };
  EXPECT_EQ(constrained(R"("r","s","s/b")"), "");
  EXPECT_EQ(constrained(R"("s/c")"),
            "spec.devices.constraints[0].requests[0]: Invalid value: \"s/c\": must be the name of a request in the claim or the name of a "
            "request and a subrequest separated by '/'");
  EXPECT_EQ(constrained(R"("r","r")"), R"(spec.devices.constraints[0].requests[1]: Duplicate value: "r")");
}

TEST(Classes, SelectDevicesByExpressions) {
  const auto selected = [](const std::string& expression) {
    return problems("DeviceClass", R"({"selectors":[{"cel":{"expression":")" + expression + R"("}}]})");
  };
  EXPECT_EQ(selected("device.driver == 'd'"), "");
  const std::string start = "spec.selectors[0].cel.expression: Invalid value: ";
  EXPECT_EQ(selected("other"),
            start + "\"other\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'other' (in container '')\n | other\n | ^");
  EXPECT_EQ(selected(""),
            start +
                "\"\": compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', "
                "'.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}");
}

TEST(Classes, ErrorsOfGenerateNameAreNotReported) {
  FieldErrors errors;
  errors.invalid("metadata.generateName", "A_", "of names");
  errors.invalid("metadata.name", "A_1", "of names");
  RequestContext context;
  kind("DeviceClass").strategy().validate(context, kind("DeviceClass").defaulted(R"({"metadata":{"name":"A_1"},"spec":{}})"), errors);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.list().front().field, "metadata.name");
}

TEST(Classes, SelectDevicesAtABoundedCost) {
  const auto selected = [](const std::string& expression) {
    return problems("DeviceClass", R"({"selectors":[{"cel":{"expression":")" + expression + R"("}}]})");
  };
  EXPECT_EQ(selected("device.attributes.all(a, device.attributes.all(b, a != b))"), "");
  EXPECT_EQ(selected("device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a != d))))"),
            "spec.selectors[0].cel.expression: Forbidden: too complex, exceeds cost limit");
}

TEST(Claims, KeepTheirSpec) {
  const auto claims = kind("ResourceClaim");
  const Object old = claims.defaulted(R"({"spec":{"devices":{)" + std::string(kRequests) + "}}}");
  const Object now = claims.defaulted(R"({"spec":{"devices":{"requests":[{"name":"r"}]}}})");
  EXPECT_EQ(
      claims.change_problems(now, old),
      R"(spec: Invalid value: {"Devices":{"Requests":[{"Name":"r","Exactly":null,"FirstAvailable":null}],"Constraints":null,"Config":null}}: field is immutable)");
  // Regression: an empty list differed from an absent one, although it is stored as absent: the same claim could not be written again.
  EXPECT_EQ(claims.change_problems(claims.normalized(R"({"spec":{"devices":{"requests":[]}}})"),
                                   claims.normalized(R"({"spec":{"devices":{"requests":null}}})")),
            "");
}

Object claim_with(const char* status) {
  return kind("ResourceClaim").normalized(R"({"spec":{"devices":{"requests":[{"name":"r"}]}},"status":)" + std::string(status) + "}");
}

std::string status_problems(const Object& now, const Object& old) {
  FieldErrors errors;
  check_claim_status(now, old, errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

constexpr const char* kAllocated =
    R"({"allocation":{"devices":{"results":[{"request":"r","driver":"d","pool":"p","device":"x"}]}},"devices":[{"driver":"d","pool":"p","device":"x"}]})";

TEST(Claims, ReportOfAllocatedDevicesOnly) {
  const Object none = claim_with("{}");
  EXPECT_EQ(status_problems(claim_with(kAllocated), none), "");
  EXPECT_EQ(
      status_problems(claim_with(R"({"devices":[{"driver":"d","pool":"p","device":"x"}]})"), none),
      R"(status.devices[0]: Invalid value: {"Driver":"d","Pool":"p","Device":"x","ShareID":""}: must be an allocated device in the claim)");
  EXPECT_EQ(status_problems(claim_with(R"({"reservedFor":[{"resource":"pods","name":"n","uid":"u"}]})"), none),
            "status.reservedFor: Forbidden: may not be specified when `allocated` is not set");
}

TEST(Claims, ForgetDevicesThatAreNoLongerAllocated) {
  const Object old = claim_with(kAllocated);
  Object now = claim_with(R"({"devices":[{"driver":"d","pool":"p","device":"x"}]})");
  drop_deallocated(now, old);
  EXPECT_FALSE(now.at("status").get_object().contains("devices"));
  Object same = old;
  drop_deallocated(same, old);
  EXPECT_EQ(same, old);
}

std::string slice_problems(const std::string& rest) {
  return problems("ResourceSlice", R"({"driver":"d","pool":{"name":"p","resourceSliceCount":1},)" + rest + "}");
}

TEST(Slices, AreReachableInOneWay) {
  EXPECT_EQ(slice_problems(R"("nodeName":"n")"), "");
  const std::string one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  EXPECT_EQ(slice_problems(R"("devices":[])"), "spec: Required value: " + one);
  EXPECT_EQ(slice_problems(R"("nodeName":"n","allNodes":true)"),
            "spec: Invalid value: \"{`nodeName`, `allNodes`}\": " + one + ", but multiple fields are set");
  EXPECT_EQ(slice_problems(R"("nodeName":"n","allNodes":false)"),
            "spec.allNodes: Invalid value: false: must be either unset or set to true");
}

TEST(Slices, AttributesHaveOneValue) {
  const auto attribute = [](const std::string& name, const std::string& value) {
    return slice_problems(R"("nodeName":"n","devices":[{"name":"x","attributes":{")" + name + R"(":)" + value + "}}]");
  };
  EXPECT_EQ(attribute("model", R"({"string":"s"})"), "");
  EXPECT_EQ(attribute("model", "{}"), R"(spec.devices[0].attributes[model]: Invalid value: "": exactly one value must be specified)");
  EXPECT_TRUE(attribute("model", R"({"string":"s","int":1})")
                  .starts_with(R"(spec.devices[0].attributes[model]: Invalid value: {"IntValue":1,"BoolValue":null,"StringValue":"s",)"));
  EXPECT_EQ(attribute("v", R"({"version":"1.2"})"),
            R"(spec.devices[0].attributes[v].version: Invalid value: "1.2": must be a string compatible with semver.org spec 2.0.0)");
  EXPECT_TRUE(attribute("a-b", R"({"int":1})").starts_with(R"(spec.devices[0].attributes: Invalid value: "a-b": a valid C identifier)"));
}

TEST(Slices, WarnOfDriversInUpperCase) {
  const auto slices = kind("ResourceSlice");
  const Object slice = slices.normalized(R"({"spec":{"driver":"D"}})");
  EXPECT_EQ(slices.strategy().warnings(slice, nullptr),
            Problems{"spec.driver: driver names should be lowercase; \"D\" contains uppercase characters"});
}

TEST(Policies, OfRangesAreWholeSteps) {
  const auto problem_of = [](const char* text) {
    FieldErrors errors;
    check_capacity(json::parse(text).get_object(), true, kit::Path("c"), errors);
    return errors.empty() ? "" : errors.aggregate_message();
  };
  EXPECT_EQ(problem_of(R"({"value":"8Gi","requestPolicy":{"default":"1Gi","validRange":{"min":"1Gi","max":"4Gi","step":"1Gi"}}})"), "");
  EXPECT_EQ(problem_of(R"({"value":"8Gi","requestPolicy":{"default":"1536Mi","validRange":{"min":"1Gi","step":"1Gi"}}})"),
            "c.requestPolicy.validRange.step: Invalid value: \"1536Mi\": value is not a multiple of a given step (1Gi) from (1Gi)");
  EXPECT_EQ(problem_of(R"({"value":"8","requestPolicy":{"default":"3","validValues":["1","9"]}})"),
            "[c.requestPolicy.validValues[1]: Invalid value: \"9\": option is larger than capacity value: 8, "
            "c.requestPolicy.validValues: Invalid value: \"3\": default value is not valid according to the requestPolicy]");
}

TEST(Names, OfQuantities) {
  EXPECT_EQ(whole_quantity("1500m"), 2);
  EXPECT_EQ(whole_quantity("40Gi"), std::int64_t(40) << 30);
  EXPECT_EQ(quantity_like(std::int64_t(2) << 30, "1Gi"), "2Gi");
}

TEST(Names, OfUidsAreHeldToTheirOneForm) {
  const auto problem = [](std::string_view uid) {
    FieldErrors errors;
    check_uid(uid, kit::Path("u"), errors);
    return errors.empty() ? std::string() : errors.to_status("g", "K", "n").message();
  };
  const std::string good = "11111111-2222-3333-4444-55555555555a";
  EXPECT_EQ(problem(good), "");
  EXPECT_TRUE(problem("10.0.0.1").ends_with("error validating uid: invalid UUID length: 8")) << problem("10.0.0.1");
  EXPECT_TRUE(problem("11111111+2222-3333-4444-55555555555a").ends_with("error validating uid: invalid UUID format"));
  EXPECT_TRUE(problem("(" + good + ")").ends_with("error validating uid: invalid bracketed UUID format"));
  EXPECT_TRUE(problem("urn:none:" + good).ends_with(R"(error validating uid: invalid urn prefix: "urn:none:")"));
  for (const std::string& other :
       {"{" + good + "}", "URN:UUID:" + good, std::string(32, 'a'), std::string("11111111-2222-3333-4444-55555555555A")}) {
    EXPECT_NE(problem(other).find("uid must be in RFC 4122 normalized form"), std::string::npos) << other;
  }
}

TEST(Versions, OfOldHaveTheirOwnForm) {
  Scheme scheme;
  ASSERT_TRUE(add_conversions(scheme).ok());
  const GroupVersionKind served{"resource.k8s.io", "v1beta1", "ResourceClaim"}, stored{"resource.k8s.io", "v1", "ResourceClaim"};
  const Object old = json::parse(R"({"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceClaim","spec":{"devices":{"requests":[
      {"name":"r","deviceClassName":"c","count":2},{"name":"s","firstAvailable":[{"name":"a"}]}]}}})")
                         .get_object();
  Object claim = old;
  ASSERT_TRUE(scheme.convert(served, stored, claim).ok());
  EXPECT_EQ(to_json(*find_path(claim, "spec.devices.requests")),
            R"([{"name":"r","exactly":{"deviceClassName":"c","count":2}},{"name":"s","firstAvailable":[{"name":"a"}]}])");
  ASSERT_TRUE(scheme.convert(stored, served, claim).ok());
  EXPECT_EQ(claim, old);

  const GroupVersionKind old_slice{"resource.k8s.io", "v1beta1", "ResourceSlice"}, slice{"resource.k8s.io", "v1", "ResourceSlice"};
  Object devices = json::parse(R"({"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceSlice","spec":{"nodeName":"","allNodes":true,
      "devices":[{"name":"x","basic":{"attributes":{"a":{"int":1}}}}]}})")
                       .get_object();
  ASSERT_TRUE(scheme.convert(old_slice, slice, devices).ok());
  EXPECT_EQ(to_json(devices.at("spec")), R"({"allNodes":true,"devices":[{"name":"x","attributes":{"a":{"int":1}}}]})");
  ASSERT_TRUE(scheme.convert(slice, old_slice, devices).ok());
  EXPECT_EQ(to_json(devices.at("spec").at("devices")), R"([{"name":"x","basic":{"attributes":{"a":{"int":1}}}}])");
}

}  // namespace
}  // namespace backplane::resource
