#include <gtest/gtest.h>

#include "kind_under_test.hpp"
#include "kinds/kinds.hpp"
#include "services/allocator.hpp"
#include "services/reservation.hpp"
#include "services/spec.hpp"

namespace backplane::core {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

ServiceAllocator make_allocator() { return ServiceAllocator(AddressRange::parse("10.0.0.0/28").value(), PortRange{30000, 30003}); }

const testing::KindUnderTest& services() {
  static const testing::KindUnderTest kind(service_row(), *core_schemas(), "");
  return kind;
}

Object prepared(std::string_view spec) { return services().created("{\"metadata\":{\"name\":\"s\"},\"spec\":" + std::string(spec) + "}"); }

std::string problems_of(std::string_view spec) { return services().problems(prepared(spec)); }

TEST(PortRange, IsOnePortOrTwoOrOneAndMore) {
  EXPECT_EQ(PortRange::parse("80")->last, 80);
  EXPECT_EQ(PortRange::parse("30000-32767")->last, 32767);
  EXPECT_EQ(PortRange::parse("30000+10")->last, 30010);
  EXPECT_FALSE(PortRange::parse("60000+6000").ok());
}

TEST(AddressRange, KnowsItsAddresses) {
  const auto range = AddressRange::parse("10.0.0.0/24");
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->address(1), "10.0.0.1");
  EXPECT_EQ(range->size(), 254u);
  EXPECT_EQ(range->index_of("10.0.0.7"), 7u);
  EXPECT_EQ(range->index_of("10.0.0.0"), std::nullopt);
  EXPECT_EQ(range->index_of("10.0.0.255"), std::nullopt);
  EXPECT_EQ(range->index_of("10.0.1.7"), std::nullopt);
  EXPECT_EQ(range->index_of("9.255.255.255"), std::nullopt);
  const auto wide = AddressRange::parse("10.0.0.0/16");
  EXPECT_EQ(wide->address(256), "10.0.1.0");
  EXPECT_EQ(wide->index_of("10.0.1.0"), 256u);
  EXPECT_EQ(AddressRange::parse("fd00::/112")->address(10), "fd00::a");
  EXPECT_EQ(AddressRange::parse("fd00::/112")->index_of("fd00::a"), 10u);
  EXPECT_FALSE(AddressRange::parse("10.0.0.0").ok());
  EXPECT_FALSE(AddressRange::parse("10.0.0.0/32").ok());
}

TEST(ServiceAllocator, GivesEachAddressOnce) {
  ServiceAllocator allocator = make_allocator();
  EXPECT_EQ(allocator.take_address("10.0.0.1"), "");
  EXPECT_EQ(allocator.take_address("10.0.0.1"), "failed to allocate IP 10.0.0.1: provided IP is already allocated");
  EXPECT_NE(allocator.take_address("10.9.0.1"), "");
  std::set<std::string> seen;
  while (auto any = allocator.take_any_address()) EXPECT_TRUE(seen.insert(*any).second);
  EXPECT_EQ(seen.size(), 13u);
  allocator.release_address("10.0.0.1");
  EXPECT_EQ(allocator.take_any_address(), "10.0.0.1");
}

TEST(ServiceAllocator, PortsHaveARange) {
  ServiceAllocator allocator = make_allocator();
  EXPECT_EQ(allocator.take_port(30001), "");
  EXPECT_EQ(allocator.take_port(30001), "provided port is already allocated");
  EXPECT_EQ(allocator.take_port(80), "provided port is not in the valid range. The range of valid ports is 30000-30003");
}

TEST(Reservation, IsGivenBackUnlessKept) {
  ServiceAllocator allocator = make_allocator();
  Object service = prepared(R"({"type":"NodePort","clusterIP":"10.0.0.3","ports":[{"port":80}]})");
  Object& spec = service.at("spec").get_object();
  {
    Reservation reservation(allocator);
    FieldErrors errors;
    reservation.reserve(spec, {}, errors);
    EXPECT_TRUE(errors.empty());
    EXPECT_NE(allocator.take_address("10.0.0.3"), "");
  }
  EXPECT_EQ(allocator.take_address("10.0.0.3"), "");
  EXPECT_GE(get_int(spec.at("ports").get_array()[0].get_object(), "nodePort").value_or(0), 30000);
}

TEST(Reservation, OneNodePortServesTwoProtocols) {
  ServiceAllocator allocator = make_allocator();
  Object service = prepared(R"({"type":"NodePort","ports":[{"name":"a","port":53},{"name":"b","port":53,"protocol":"UDP"}]})");
  Object& spec = service.at("spec").get_object();
  Reservation reservation(allocator);
  FieldErrors errors;
  reservation.reserve(spec, {}, errors);
  EXPECT_TRUE(errors.empty());
  const Array& ports = spec.at("ports").get_array();
  EXPECT_EQ(get_int(ports[0].get_object(), "nodePort"), get_int(ports[1].get_object(), "nodePort"));
}

TEST(Reservation, WhatIsTakenIsAnError) {
  ServiceAllocator allocator = make_allocator();
  allocator.adopt(std::int64_t{30002});
  Object service = prepared(R"({"type":"NodePort","ports":[{"port":80,"nodePort":30002}]})");
  Reservation reservation(allocator);
  FieldErrors errors;
  reservation.reserve(service.at("spec").get_object(), {}, errors);
  EXPECT_EQ(errors.aggregate_message(), "spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated");
}

TEST(Services, DefaultsAreThoseOfAClusterIp) {
  EXPECT_EQ(to_json(prepared(R"({"ports":[{"port":80}]})").at("spec")),
            R"({"ports":[{"protocol":"TCP","port":80,"targetPort":80}],"type":"ClusterIP","sessionAffinity":"None",)"
            R"("internalTrafficPolicy":"Cluster","ipFamilyPolicy":"SingleStack","ipFamilies":["IPv4"]})");
}

TEST(Services, RulesAreWordedAsUpstreams) {
  EXPECT_EQ(problems_of("{}"), "spec.ports: Required value");
  EXPECT_EQ(problems_of(R"({"type":"ExternalName"})"), "spec.externalName: Required value");
  EXPECT_EQ(problems_of(R"({"ports":[{"port":80,"nodePort":30000}]})"),
            "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'");
  EXPECT_EQ(problems_of(R"({"ports":[{"port":80}],"clusterIP":"x"})"),
            "spec.clusterIPs[0]: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  EXPECT_EQ(problems_of(R"({"ports":[{"port":80}],"sessionAffinity":"x"})"),
            "spec.sessionAffinity: Unsupported value: \"x\": supported values: \"ClientIP\", \"None\"");
}

TEST(Services, UpdatesKeepTheAddress) {
  const Object old = parse(R"({"spec":{"type":"ClusterIP","clusterIP":"10.0.0.3","clusterIPs":["10.0.0.3"],"ipFamilies":["IPv4"],)"
                           R"("ipFamilyPolicy":"SingleStack","ports":[{"port":80,"protocol":"TCP","targetPort":80}]}})");
  Object now = services().defaulted(R"({"metadata":{"name":"a","namespace":"ns"},"spec":{"ports":[{"port":81}]}})");
  RequestContext context;
  service_row().strategy()->prepare_for_update(context, now, old);
  EXPECT_EQ(get_string_path(now, "spec.clusterIP"), "10.0.0.3");
  FieldErrors errors;
  service_row().strategy()->validate_update(context, now, old, errors);
  EXPECT_TRUE(errors.empty()) << errors.aggregate_message();
  now.at("spec").get_object()["clusterIP"] = "10.0.0.4";
  now.at("spec").get_object()["clusterIPs"] = Array{"10.0.0.4"};
  service_row().strategy()->validate_update(context, now, old, errors);
  EXPECT_EQ(errors.aggregate_message(), "spec.clusterIPs[0]: Invalid value: [\"10.0.0.4\"]: may not change once set");
}

TEST(Reservation, TrialsTakeNoPorts) {
  ServiceAllocator allocator = make_allocator();
  allocator.adopt(std::int64_t{30002});
  Object service = prepared(R"({"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"port":80,"nodePort":70000}]})");
  Object& spec = service.at("spec").get_object();
  Reservation reservation(allocator, true);
  FieldErrors errors;
  reservation.reserve(spec, {}, errors);
  EXPECT_TRUE(errors.empty()) << "ports of a trial may be out of range";
  EXPECT_EQ(get_int(spec, "healthCheckNodePort"), 70001);
  Object taken = prepared(R"({"type":"NodePort","ports":[{"port":80,"nodePort":30002}]})");
  Reservation(allocator, true).reserve(taken.at("spec").get_object(), {}, errors);
  EXPECT_EQ(errors.aggregate_message(), "spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated");
}

TEST(Services, AreMadeByUpdatesToo) { EXPECT_TRUE(service_row().strategy()->allow_create_on_update()); }

TEST(Services, RepeatedNodePortsAreFound) {
  EXPECT_EQ(repeated_node_port(parse(R"({"ports":[{"protocol":"TCP","nodePort":30443},{"protocol":"TCP","nodePort":30443}]})")),
            "{TCP 30443}");
  EXPECT_EQ(repeated_node_port(parse(R"({"ports":[{"protocol":"TCP","nodePort":30443},{"protocol":"UDP","nodePort":30443}]})")), "");
}

TEST(Services, ABadBalancerClassIsBlamedTwiceOnUpdate) {
  FieldErrors errors;
  const Object spec = parse(R"({"type":"ClusterIP","loadBalancerClass":"a"})");
  validate_service_change(spec, parse(R"({"type":"ClusterIP"})"), errors);
  EXPECT_EQ(errors.aggregate_message(), "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'");
}

TEST(Services, WarnOfWhatIsIgnoredOrOld) {
  const auto warnings = [](std::string_view spec) { return service_warnings(parse("{\"spec\":" + std::string(spec) + "}")); };
  EXPECT_EQ(warnings(R"({"type":"ClusterIP","clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1"]})"), std::vector<std::string>{});
  EXPECT_EQ(warnings(R"({"type":"ClusterIP","externalIPs":["1.1.1.1"]})"),
            std::vector<std::string>{"spec.externalIPs is deprecated and may no longer be implemented in some clusters"});
  EXPECT_EQ(
      warnings(
          R"({"type":"ClusterIP","clusterIP":"None","loadBalancerIP":"1.1.1.1","externalIPs":["1.1.1.1"],"sessionAffinity":"ClientIP"})"),
      (std::vector<std::string>{"spec.loadBalancerIP is ignored for headless services", "spec.externalIPs is ignored for headless services",
                                "spec.SessionAffinity is ignored for headless services"}));
  EXPECT_EQ(warnings(R"({"type":"ExternalName","externalIPs":["1.1.1.1"]})"),
            std::vector<std::string>{"spec.externalIPs is ignored when spec.type is \"ExternalName\""});
  EXPECT_EQ(warnings(R"({"type":"ClusterIP","externalName":"e","trafficDistribution":"PreferClose"})"),
            (std::vector<std::string>{"spec.externalName is ignored when spec.type is not \"ExternalName\"",
                                      "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\""}));
}

TEST(Services, ExternalNameLetsGoOfTheAddress) {
  const Object old = parse(R"({"spec":{"type":"ClusterIP","clusterIP":"10.0.0.3","clusterIPs":["10.0.0.3"],"ports":[]}})");
  Object now = parse(R"({"spec":{"type":"ExternalName","externalName":"e.com","clusterIP":"10.0.0.3","clusterIPs":["10.0.0.3"]}})");
  RequestContext context;
  service_row().strategy()->apply_defaults(now);
  service_row().strategy()->prepare_for_update(context, now, old);
  EXPECT_EQ(now.at("spec").get_object().if_contains("clusterIP"), nullptr);
}

}  // namespace
}  // namespace backplane::core
