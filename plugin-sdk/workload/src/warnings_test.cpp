#include "backplane/workload/warnings.hpp"

#include <gtest/gtest.h>

#include "backplane/types/ip_addresses.hpp"

namespace backplane::workload {
namespace {

using namespace kit;
using Texts = std::vector<std::string>;

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

Texts warnings_of(std::string_view pod_spec, const std::string& path = "", std::string_view annotations = "{}") {
  return pod_warnings(path,
                      parse("{\"metadata\":{\"annotations\":" + std::string(annotations) + "},\"spec\":" + std::string(pod_spec) + "}"));
}

TEST(Addresses, OfOldFieldsAreRefusedIfTheyAreAmbiguous) {
  EXPECT_EQ(legacy_ip_problems("10.0.0.1"), Texts{});
  EXPECT_EQ(legacy_ip_problems("FE80:0:0:0:0:0:0:1"), Texts{});
  EXPECT_EQ(legacy_ip_problems("x"), Texts{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"});
  EXPECT_EQ(legacy_ip_problems("10.0.0.256").size(), 1u);
  EXPECT_EQ(legacy_ip_problems("10.0.0").size(), 1u);
  EXPECT_EQ(legacy_ip_problems("010.0.0.1"), Texts{"must not have leading 0s"});
  EXPECT_EQ(legacy_ip_problems("::ffff:1.2.3.4"), Texts{"must not be an IPv4-mapped IPv6 address"});
  EXPECT_EQ(legacy_cidr_problems("10.0.0.0/8"), Texts{});
  EXPECT_EQ(legacy_cidr_problems("10.0.0.0/08"), Texts{"must not have leading 0s in IP or prefix length"});
  EXPECT_EQ(legacy_cidr_problems("10.0.0.1/8"), Texts{"must not have bits set beyond the prefix length"});
  EXPECT_EQ(legacy_cidr_problems("10.0.0.0/33").size(), 1u);
}

TEST(Addresses, AreWarnedOfWhenNotCanonical) {
  EXPECT_EQ(ip_warnings("p", "2001:db8::1"), Texts{});
  EXPECT_EQ(ip_warnings("p", "2001:DB8:0:0:0:0:0:1"),
            Texts{"p: IPv6 address \"2001:DB8:0:0:0:0:0:1\" should be in RFC 5952 canonical format (\"2001:db8::1\")"});
  EXPECT_EQ(ip_warnings("p", "0:0:0:0:0:0:0:0"),
            Texts{"p: IPv6 address \"0:0:0:0:0:0:0:0\" should be in RFC 5952 canonical format (\"::\")"});
  EXPECT_EQ(ip_warnings("p", "1:0:0:2:0:0:0:3"),
            Texts{"p: IPv6 address \"1:0:0:2:0:0:0:3\" should be in RFC 5952 canonical format (\"1:0:0:2::3\")"});
  EXPECT_EQ(ip_warnings("p", "1::2:0"), Texts{});
  EXPECT_EQ(ip_warnings("p", "010.002.003.004"), Texts{"p: non-standard IP address \"010.002.003.004\" is invalid: use \"10.2.3.4\""});
  EXPECT_EQ(ip_warnings("p", "::ffff:1.2.3.4"), Texts{"p: non-standard IP address \"::ffff:1.2.3.4\" is invalid: use \"1.2.3.4\""});
  EXPECT_EQ(cidr_warnings("p", "10.1.2.3/16"),
            Texts{"p: CIDR value \"10.1.2.3/16\" is ambiguous in this context (should be \"10.1.0.0/16\" or \"10.1.2.3/32\"?)"});
  EXPECT_EQ(cidr_warnings("p", "2001:DB8::/64"),
            Texts{"p: IPv6 CIDR value \"2001:DB8::/64\" should be in RFC 5952 canonical format (\"2001:db8::/64\")"});
  EXPECT_EQ(cidr_warnings("p", "::ffff:1.2.3.0/120"),
            Texts{"p: non-standard CIDR value \"::ffff:1.2.3.0/120\" is invalid: use \"1.2.3.0/24\""});
}

TEST(Addresses, DualStackIsOneOfEachFamily) {
  std::string why;
  EXPECT_TRUE(is_dual_stack({"10.0.0.1", "::1"}, why));
  EXPECT_FALSE(is_dual_stack({"10.0.0.1", "10.0.0.2"}, why));
  EXPECT_EQ(why, "");
  EXPECT_FALSE(is_dual_stack({"10.0.0.1", "x"}, why));
  EXPECT_EQ(why, "invalid IP[1]: x");
}

TEST(PodWarnings, AnOrdinaryPodHasNone) {
  EXPECT_EQ(warnings_of(R"({"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"protocol":"TCP"}]}]})"), Texts{});
}

TEST(PodWarnings, OldNodeLabels) {
  EXPECT_EQ(
      warnings_of(
          R"({"nodeSelector":{"beta.kubernetes.io/os":"linux"},"topologySpreadConstraints":[{"topologyKey":"failure-domain.beta.kubernetes.io/zone"}]})"),
      (Texts{"spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" instead",
             "spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "
             "\"topology.kubernetes.io/zone\" instead",
             "spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod"}));
}

TEST(PodWarnings, TemplatesHaveTheirPath) {
  EXPECT_EQ(warnings_of(R"({"terminationGracePeriodSeconds":-1})", "spec.template"),
            Texts{"spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"});
}

TEST(PodWarnings, RepeatedListItems) {
  EXPECT_EQ(warnings_of(R"({"imagePullSecrets":[{"name":"a"},{"name":"a"},{}],"hostAliases":[{"ip":"1.1.1.1"},{"ip":"1.1.1.1"}]})"),
            (Texts{"spec.hostAliases[1].ip: duplicate ip \"1.1.1.1\"", "spec.imagePullSecrets[1].name: duplicate name \"a\"",
                   "spec.imagePullSecrets[2].name: invalid empty name \"\""}));
}

TEST(PodWarnings, VariablesThatHideOthers) {
  EXPECT_EQ(warnings_of(R"({"containers":[{"env":[{"name":"A","value":"1"},{"name":"A","value":"$(A)2"},{"name":"A","value":"3"}]}]})"),
            Texts{"spec.containers[0].env[2]: hides previous definition of \"A\", which may be dropped when using apply"});
}

TEST(PodWarnings, FractionsOfBytes) {
  EXPECT_EQ(warnings_of(R"({"containers":[{"resources":{"limits":{"memory":"1500m","cpu":"1500m"}}}]})"),
            Texts{"spec.containers[0].resources.limits[memory]: fractional byte value \"1500m\" is invalid, must be an integer"});
}

TEST(PodWarnings, PortsThatMeet) {
  EXPECT_EQ(
      warnings_of(R"({"containers":[{"ports":[{"name":"a","containerPort":80,"protocol":"TCP","hostIP":"1.1.1.1"},
                            {"name":"a","containerPort":80,"protocol":"TCP","hostPort":8080}]}]})"),
      (Texts{"spec.containers[0].ports[0]: hostIP set without hostPort: {Name:a HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.1.1.1}",
             "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
             "spec.containers[0].ports[1]: duplicate port name \"a\" with spec.containers[0].ports[0], services and probes that select "
             "ports by name will use spec.containers[0].ports[0]"}));
}

TEST(PodWarnings, PortsAreInTheWayInTheOrderInWhichTheyCame) {
  const auto port = [](const std::string& more) { return R"({"containerPort":80,"protocol":"TCP")" + more + "}"; };
  const std::string ports = port(R"(,"hostPort":1,"hostIP":"1.1.1.1")") + "," + port("") + "," + port(R"(,"hostPort":2)") + "," +
                            port(R"(,"hostPort":1,"hostIP":"2.2.2.2")") + "," + port(R"(,"hostPort":1)") + "," +
                            port(R"(,"hostPort":1,"hostIP":"1.1.1.1")");
  const auto pair = [](int a, std::string_view how, int b) {
    return "spec.containers[0].ports[" + std::to_string(a) + "]: " + std::string(how) + " port definition with spec.containers[0].ports[" +
           std::to_string(b) + "]";
  };
  EXPECT_EQ(warnings_of(R"({"containers":[{"ports":[)" + ports + "]}]}"),
            (Texts{pair(1, "overlapping", 0), pair(2, "overlapping", 1), pair(3, "overlapping", 1), pair(4, "dangerously ambiguous", 0),
                   pair(4, "overlapping", 1), pair(4, "dangerously ambiguous", 3), pair(5, "duplicate", 0), pair(5, "overlapping", 1),
                   pair(5, "dangerously ambiguous", 4)}));
}

// Regression: each port was reported for every other port, and a pod of three megabytes exhausted the memory.
TEST(PodWarnings, WarningsAboutManyPortsAreLimited) {
  constexpr int kMany = 60'000;
  for (const bool alike : {true, false}) {
    std::string ports;
    for (int i = 0; i < kMany; ++i) {
      ports += std::string(i == 0 ? "" : ",") + R"({"containerPort":1,"protocol":"TCP")";
      if (!alike) ports += R"(,"hostPort":1,"hostIP":"10.0.)" + std::to_string(i / 256) + "." + std::to_string(i % 256) + "\"";
      ports += "}";
    }
    const auto warned = warnings_of(R"({"containers":[{"ports":[)" + ports + "]}]}");
    EXPECT_LT(warned.size(), 3'000u);
    EXPECT_EQ(warned.empty(), !alike);
  }
}

TEST(PodWarnings, FilesThatOverwriteOthers) {
  EXPECT_EQ(
      warnings_of(R"({"volumes":[{"name":"v","configMap":{"name":"m","items":[{"key":"a","path":"x"},{"key":"b","path":"x/y"}]}},
                            {"name":"p","projected":{"sources":[{},{"serviceAccountToken":{"path":"t"}},{"serviceAccountToken":{"path":"t/"}}]}}]})"),
      (Texts{"volume \"v\" (ConfigMap \"m\"): overlapping paths: \"x/y\" with \"x\"", "volume \"p\" (Projected) has no sources provided",
             "volume \"p\" (Projected): overlapping paths: \"t\" (ServiceAccountToken) with \"t\" (ServiceAccountToken)"}));
}

TEST(PodWarnings, FilesAreInTheWayInTheOrderInWhichTheyCame) {
  const auto warned = warnings_of(
      R"({"volumes":[{"name":"v","secret":{"secretName":"s","items":[{"path":"a/b/c"},{"path":"ab"},{"path":"a/b"},{"path":"a//"},{"path":"a/b"}]}}]})");
  const std::string head = "volume \"v\" (Secret \"s\"): overlapping paths: ";
  EXPECT_EQ(warned, (Texts{head + "\"a/b\" with \"a/b/c\"", head + "\"a\" with \"a/b/c\"", head + "\"a\" with \"a/b\"",
                           head + "\"a/b\" with \"a/b/c\"", head + "\"a/b\" with \"a/b\"", head + "\"a/b\" with \"a\""}));
}

TEST(PodWarnings, LegacyProfilesOfTemplates) {
  const std::string annotations = R"({"container.apparmor.security.beta.kubernetes.io/c":"unconfined"})";
  EXPECT_EQ(warnings_of(R"({"containers":[{"name":"c"}]})", "", annotations), Texts{});
  EXPECT_EQ(warnings_of(R"({"containers":[{"name":"c"}]})", "template", annotations),
            Texts{"template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "
                  "\"appArmorProfile\" field instead"});
  EXPECT_EQ(
      warnings_of(R"({"securityContext":{"appArmorProfile":{"type":"Unconfined"}},"containers":[{"name":"c"}]})", "template", annotations),
      Texts{});
}

TEST(PodWarnings, NamesThatAreNoHostNames) {
  Texts out;
  warn_of_host_name(parse(R"({"metadata":{"name":"a.b"}})"), "the Pod's hostname", out);
  EXPECT_EQ(out,
            Texts{"metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: "
                  "[must not contain dots]"});
}

TEST(WorkloadWarnings, ComeOnlyWithANewGeneration) {
  const Object old = parse(R"({"metadata":{"generation":1},"spec":{"template":{"spec":{"terminationGracePeriodSeconds":-1}}}})");
  EXPECT_EQ(workload_warnings(old, nullptr).size(), 1u);
  EXPECT_EQ(workload_warnings(old, &old).size(), 0u);
}

}  // namespace
}  // namespace backplane::workload
