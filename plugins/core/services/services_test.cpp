#include <gtest/gtest.h>

#include "backplane/types/base64.hpp"
#include "kind_under_test.hpp"
#include "kinds/kinds.hpp"
#include "services/node_ports.hpp"
#include "services/port_operation.hpp"
#include "services/ranges.hpp"
#include "services/spec.hpp"

namespace backplane::core {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

const testing::KindUnderTest& services() {
  static const testing::KindUnderTest kind(core_group()->kind("Service"), *core_schemas(), "");
  return kind;
}

Object prepared(std::string_view spec) {
  Object service = services().created("{\"metadata\":{\"name\":\"s\"},\"spec\":" + std::string(spec) + "}");
  normalize_cluster_ips(service.at("spec").get_object(), nullptr);
  return service;
}

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
  EXPECT_EQ(range->band(), 16u);
  EXPECT_TRUE(range->holds("10.0.0.7"));
  for (const char* other : {"10.0.0.0", "10.0.0.255", "10.0.1.7", "9.255.255.255", "fd00::7", "x"})
    EXPECT_FALSE(range->holds(other)) << other;
  EXPECT_EQ(AddressRange::parse("10.0.0.0/16")->address(256), "10.0.1.0");
  EXPECT_EQ(AddressRange::parse("10.0.0.0/16")->band(), 256u);
  const auto six = AddressRange::parse("fd00::/64");
  EXPECT_EQ(six->address(10), "fd00::a");
  EXPECT_TRUE(six->holds("fd00::ffff:ffff:ffff:ffff"));
  EXPECT_FALSE(six->holds("fd00::"));
  EXPECT_FALSE(six->holds("fd00:0:0:1::1"));
  EXPECT_FALSE(AddressRange::parse("10.0.0.0").ok());
  EXPECT_FALSE(AddressRange::parse("10.0.0.0/32").ok());
  EXPECT_EQ(AddressRange::parse("fd00::/63").status().message(), "shortest allowed prefix length for service CIDR is 64, got 63");
}

TEST(Addresses, HaveOneText) {
  EXPECT_EQ(canonical_address("010.0.0.07"), "10.0.0.7");
  EXPECT_EQ(canonical_address("FD00:0::A"), "fd00::a");
  EXPECT_EQ(canonical_address("10.0.0"), std::nullopt);
  EXPECT_EQ(canonical_address("10.0.0.256"), std::nullopt);
  EXPECT_EQ(canonical_address("None"), std::nullopt);
}

// Three node ports, as kube-apiserver 1.36 has stored them.
TEST(PortMap, IsUpstreamsBitmap) {
  const std::string stored =
      R"({"kind":"RangeAllocation","apiVersion":"v1","metadata":{},"range":"30000-32767","data":")"
      "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAAAAAA"
      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAA==\"}";
  const auto map = PortMap::read(parse(stored));
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->all(), (std::vector<std::int64_t>{30080, 30443, 31056}));
  EXPECT_EQ(to_json(map->object({})), stored);
  EXPECT_EQ(get_string(PortMap().object({}), "data"), "");
  EXPECT_FALSE(PortMap::read(parse(R"({"range":"30000-32767","data":"?"})")).ok());
}

TEST(PortMap, PicksPortsOutsideTheStaticBandFirst) {
  PortMap map;
  const PortRange range{30000, 30031};
  for (int i = 0; i < 16; ++i) {
    const auto port = map.pick(range);
    EXPECT_GE(port, 30016);
    map.set(port);
  }
  EXPECT_LT(map.pick(range), 30016);
  for (int port = 30000; port <= 30015; ++port) map.set(port);
  EXPECT_EQ(map.pick(range), 0);
}

struct Allocated {
  std::string problem;
  std::string ports;
  std::vector<std::int64_t> taken;
};
Allocated allocate(std::string_view spec, const PortMap& map = {}, bool trial = false, PortRange range = {30000, 30003}) {
  Object service = prepared(spec);
  PortOperation operation(range, map, trial);
  const Status status = operation.allocate(service, nullptr);
  return {status.message(), to_json(service.at("spec")), operation.taken()};
}

TEST(PortOperation, OneNodePortServesTwoProtocols) {
  const auto both = allocate(R"({"type":"NodePort","ports":[{"name":"a","port":53},{"name":"b","port":53,"protocol":"UDP"}]})");
  EXPECT_EQ(both.problem, "");
  EXPECT_EQ(both.taken.size(), 1u);
  const auto asked =
      allocate(R"({"type":"NodePort","ports":[{"name":"a","port":53},{"name":"b","port":53,"protocol":"UDP","nodePort":30002}]})");
  EXPECT_EQ(asked.taken, (std::vector<std::int64_t>{30002}));
}

TEST(PortOperation, TakenAndOutOfRangePortsAreErrors) {
  PortMap map;
  map.set(30002);
  EXPECT_EQ(allocate(R"({"type":"NodePort","ports":[{"port":80,"nodePort":30002}]})", map).problem,
            "Service \"s\" is invalid: spec.ports[0].nodePort: Invalid value: 30002: provided port is already allocated");
  EXPECT_EQ(allocate(R"({"type":"NodePort","ports":[{"port":80,"nodePort":80}]})", map).problem,
            "Service \"s\" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. "
            "The range of valid ports is 30000-30003");
  EXPECT_EQ(allocate(R"({"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":30002,"ports":[]})", map).problem,
            "Internal error occurred: failed to allocate requested HealthCheck NodePort 30002: provided port is already allocated");
}

TEST(PortOperation, DryRunsMayUsePortsOutOfRange) {
  const auto trial =
      allocate(R"({"type":"LoadBalancer","externalTrafficPolicy":"Local","ports":[{"port":80,"nodePort":70000}]})", {}, true);
  EXPECT_EQ(trial.problem, "") << "ports of a trial may be out of range";
  EXPECT_EQ(trial.taken, (std::vector<std::int64_t>{70000, 70001}));
}

TEST(Services, DefaultsAreThoseOfAClusterIp) {
  EXPECT_EQ(prepared(R"({"ports":[{"port":80}]})").at("spec"),
            json::parse(R"({"ports":[{"protocol":"TCP","port":80,"targetPort":80}],"type":"ClusterIP","sessionAffinity":"None",)"
                        R"("internalTrafficPolicy":"Cluster"})"));
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
  keep_allocated(now.at("spec").get_object(), old.at("spec").get_object());
  now.at("spec").get_object()["ipFamilies"] = Array{"IPv4"};
  core_group()->kind("Service").strategy()->prepare_for_update(context, now, old);
  EXPECT_EQ(get_string_path(now, "spec.clusterIP"), "10.0.0.3");
  FieldErrors errors;
  core_group()->kind("Service").strategy()->validate_update(context, now, old, errors);
  EXPECT_TRUE(errors.empty()) << errors.aggregate_message();
  now.at("spec").get_object()["clusterIP"] = "10.0.0.4";
  now.at("spec").get_object()["clusterIPs"] = Array{"10.0.0.4"};
  core_group()->kind("Service").strategy()->validate_update(context, now, old, errors);
  EXPECT_EQ(errors.aggregate_message(), "spec.clusterIPs[0]: Invalid value: [\"10.0.0.4\"]: may not change once set");
}

TEST(Services, AreMadeByUpdatesToo) { EXPECT_TRUE(core_group()->kind("Service").strategy()->facts().create_on_update); }

TEST(Services, RepeatedNodePortsAreFound) {
  EXPECT_EQ(repeated_node_port(parse(R"({"ports":[{"protocol":"TCP","nodePort":30443},{"protocol":"TCP","nodePort":30443}]})")),
            "{TCP 30443}");
  EXPECT_EQ(repeated_node_port(parse(R"({"ports":[{"protocol":"TCP","nodePort":30443},{"protocol":"UDP","nodePort":30443}]})")), "");
}

TEST(Services, ABadLoadBalancerClassIsReportedTwiceOnUpdate) {
  const Object old = prepared(R"({"ports":[{"port":80}]})");
  const Object now = prepared(R"({"ports":[{"port":80}],"loadBalancerClass":"a"})");
  const std::string expected = "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'";
  FieldErrors errors;
  core_schemas()->find("io.k8s.api.core.v1.Service")->check(now, &old, ObjectPart::kWithoutStatus, "", errors);
  ASSERT_EQ(errors.size(), 2u);
  for (const FieldError& error : errors.list()) EXPECT_EQ(error.field + ": " + error.text, expected);
}

TEST(Services, WarnOfWhatIsIgnoredOrOld) {
  const auto warnings = [](std::string_view spec) {
    return services().strategy().warnings(parse("{\"spec\":" + std::string(spec) + "}"), nullptr);
  };
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

TEST(Services, FillInWhatTheirTypeNeeds) {
  const auto spec = [](std::string_view text) { return to_json(services().defaulted("{\"spec\":" + std::string(text) + "}").at("spec")); };
  EXPECT_EQ(spec(R"({"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{}}})"),
            R"({"type":"ClusterIP","sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":10800}},)"
            R"("internalTrafficPolicy":"Cluster"})");
  EXPECT_EQ(spec(R"({"sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}}})"),
            R"({"type":"ClusterIP","sessionAffinity":"None","internalTrafficPolicy":"Cluster"})");
  EXPECT_EQ(spec(R"({"externalIPs":["1.1.1.1"]})"),
            R"({"type":"ClusterIP","externalIPs":["1.1.1.1"],"sessionAffinity":"None","externalTrafficPolicy":"Cluster",)"
            R"("internalTrafficPolicy":"Cluster"})");
  EXPECT_EQ(problems_of(R"({"externalIPs":["127.0.0.1"],"ports":[{"port":80}]})"),
            "spec.externalIPs[0]: Invalid value: \"127.0.0.1\": may not be in the loopback range (127.0.0.0/8, ::1/128)");
  EXPECT_EQ(problems_of(R"({"type":"LoadBalancer","loadBalancerSourceRanges":[" 10.0.0.0/8 ","x"],"ports":[{"port":80}]})"),
            "spec.LoadBalancerSourceRanges[1]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
}

// Regression: networks of the annotation were not validated, and those of the field only for types that may have them.
TEST(Services, NetworksOfALoadBalancerAreLookedAtWhereverTheyStand) {
  EXPECT_EQ(problems_of(R"({"loadBalancerSourceRanges":["x"],"ports":[{"port":80}]})"),
            "[spec.LoadBalancerSourceRanges: Forbidden: may only be used when `type` is 'LoadBalancer', "
            "spec.LoadBalancerSourceRanges[0]: Invalid value: \"x\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)]");
  const auto problems = [](const std::string& ranges, const std::string& type, const char* before) {
    const auto service = [&](const std::string& text) {
      return parse(R"({"metadata":{"annotations":{"service.beta.kubernetes.io/load-balancer-source-ranges":")" + text +
                   R"("}},"spec":{"type":")" + type + "\"}}");
    };
    const Object old = service(before != nullptr ? before : "");
    FieldErrors errors;
    validate_source_ranges(service(ranges), before != nullptr ? &old : nullptr, errors);
    return errors.empty() ? "" : errors.aggregate_message();
  };
  const std::string path = "metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]: ";
  const std::string expected = path + "Invalid value: \"z\": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
  EXPECT_EQ(problems(" ", "LoadBalancer", nullptr), "");
  EXPECT_EQ(problems("10.0.0.0/8, 10.1.0.0/16 ", "LoadBalancer", nullptr), "");
  EXPECT_EQ(problems("10.0.0.0/8, z", "LoadBalancer", nullptr), expected);
  EXPECT_EQ(problems("10.0.0.0/8, z", "LoadBalancer", "10.0.0.0/8, z"), "");
  EXPECT_EQ(problems("10.0.0.0/8, z", "LoadBalancer", "10.0.0.0/8"), expected);
  EXPECT_EQ(problems("10.0.0.0/8", "ClusterIP", nullptr), path + "Forbidden: may only be used when `type` is 'LoadBalancer'");
}

// Regression: the status was not validated, and was retained after a change to a type without a load balancer.
TEST(Services, OnlyALoadBalancerHasPointsOfOne) {
  const auto problems = [](const std::string& type, const std::string& points) {
    const Object service = parse(R"({"spec":{"type":")" + type + R"("},"status":{"loadBalancer":{"ingress":)" + points + "}}}");
    FieldErrors errors;
    core_schemas()->find(GroupVersionKind{"", "v1", "Service"})->check(service, &service, ObjectPart::kStatus, "", errors);
    return errors.empty() ? "" : errors.aggregate_message();
  };
  EXPECT_EQ(problems("LoadBalancer", R"([{"ip":"192.0.2.1","ipMode":"VIP"},{"hostname":"a.example.com"},{}])"), "");
  EXPECT_EQ(problems("NodePort", R"([{"ip":"x","ipMode":"VIP"}])"),
            "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'");
  EXPECT_EQ(problems("LoadBalancer", R"([{"ip":"x","ipMode":"Odd"},{"ipMode":"VIP"},{"hostname":"192.0.2.1"}])"),
            "[status.loadBalancer.ingress[0].ip: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff), "
            "status.loadBalancer.ingress[0].ipMode: Unsupported value: \"Odd\": supported values: \"Proxy\", \"VIP\", "
            "status.loadBalancer.ingress[1].ipMode: Forbidden: may not be specified when `ip` is not set, "
            "status.loadBalancer.ingress[2].hostname: Invalid value: \"192.0.2.1\": must be a DNS name, not an IP address]");
  const Object old = parse(R"({"spec":{"type":"LoadBalancer"},"status":{"loadBalancer":{"ingress":[{"hostname":"h"}]}}})");
  Object now = parse(R"({"spec":{"type":"ClusterIP"},"status":{"loadBalancer":{"ingress":[{"hostname":"h"}]}}})");
  RequestContext context;
  core_group()->kind("Service").strategy()->prepare_for_update(context, now, old);
  EXPECT_EQ(to_json(now.at("status")), R"({"loadBalancer":{}})");
}

TEST(Services, ExternalNameReleasesTheAddress) {
  const Object old = parse(R"({"spec":{"type":"ClusterIP","clusterIP":"10.0.0.3","clusterIPs":["10.0.0.3"],"ports":[]}})");
  Object now = parse(R"({"spec":{"type":"ExternalName","externalName":"e.com","clusterIP":"10.0.0.3","clusterIPs":["10.0.0.3"]}})");
  RequestContext context;
  core_group()->kind("Service").strategy()->apply_defaults(now);
  core_group()->kind("Service").strategy()->prepare_for_update(context, now, old);
  EXPECT_EQ(now.at("spec").get_object().if_contains("clusterIP"), nullptr);
}

}  // namespace
}  // namespace backplane::core
