#include <gtest/gtest.h>

#include "kind_under_test.hpp"
#include "kinds.hpp"

namespace backplane::networking {
namespace {

testing::KindUnderTest kind(std::string_view name) {
  static const auto schemas = *networking_schemas();
  return testing::KindUnderTest(networking_group()->kind(name), *schemas.front(), "networking.k8s.io");
}

std::string problems(std::string_view kind_name, const std::string& spec, const std::string& metadata = R"("name":"a")") {
  const auto tested = kind(kind_name);
  return tested.problems(tested.created("{\"metadata\":{" + metadata + "},\"spec\":" + spec + "}"));
}

std::string change(std::string_view kind_name, const std::string& now, const std::string& old) {
  const auto tested = kind(kind_name);
  return tested.change_problems(tested.created("{\"metadata\":{\"name\":\"a\"},\"spec\":" + now + "}"),
                                tested.created("{\"metadata\":{\"name\":\"a\"},\"spec\":" + old + "}"));
}

std::string cells(std::string_view kind_name, const std::string& object) {
  const auto tested = kind(kind_name);
  return json::serialize(tested.strategy().table_convertor().cells(tested.normalized(object), 0, {}));
}

TEST(Ingresses, NeedABackendOrRules) {
  EXPECT_EQ(problems("Ingress", "{}"), "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified");
  EXPECT_EQ(problems("Ingress", R"({"defaultBackend":{}})"),
            "spec.defaultBackend: Invalid value: \"\": resource or service backend is required");
  EXPECT_EQ(problems("Ingress", R"({"defaultBackend":{"service":{"name":"B!"},"resource":{"kind":"a","name":"b"}}})"),
            "spec.defaultBackend: Invalid value: \"\": cannot set both resource and service backends");
  EXPECT_EQ(problems("Ingress", R"({"defaultBackend":{"service":{"name":"s","port":{"name":"a","number":1}}}})"),
            "spec.defaultBackend: Invalid value: \"\": cannot set both port name & port number");
  EXPECT_EQ(problems("Ingress", R"({"defaultBackend":{"service":{"name":"s","port":{}}}})"),
            "spec.defaultBackend: Required value: port name or number is required");
  EXPECT_EQ(problems("Ingress", R"({"defaultBackend":{"resource":{"kind":"","name":"b/c"}}})"),
            "[spec.defaultBackend.resource.name: Invalid value: \"b/c\": may not contain '/', "
            "spec.defaultBackend.resource.kind: Required value]");
}

TEST(Ingresses, PathsAreLookedAtByTheirType) {
  const auto path = [](const std::string& members) {
    return problems("Ingress",
                    R"({"rules":[{"http":{"paths":[{)" + members + R"("backend":{"service":{"name":"s","port":{"number":1}}}}]}}]})");
  };
  const std::string where = "spec.rules[0].http.paths[0].";
  EXPECT_EQ(path(""), where + "pathType: Required value: pathType must be specified");
  EXPECT_EQ(path(R"("pathType":"Prefix",)"), where + "path: Invalid value: \"\": must be an absolute path");
  EXPECT_EQ(path(R"("pathType":"Exact","path":"/a//b",)"), where + "path: Invalid value: \"/a//b\": must not contain '//'");
  EXPECT_EQ(path(R"("pathType":"Exact","path":"/a/..",)"), where + "path: Invalid value: \"/a/..\": cannot end with '/..'");
  EXPECT_EQ(path(R"("pathType":"ImplementationSpecific",)"), "");
  EXPECT_EQ(path(R"("pathType":"ImplementationSpecific","path":"/a//b",)"), "");
  EXPECT_EQ(path(R"("pathType":"x",)"),
            where + R"(pathType: Unsupported value: "x": supported values: "Exact", "ImplementationSpecific", "Prefix")");
}

TEST(Ingresses, HostsAreNamesOrPatterns) {
  const auto host = [](const std::string& name) { return problems("Ingress", R"({"rules":[{"host":")" + name + "\"}]}"); };
  EXPECT_EQ(host("a.example.com"), "");
  EXPECT_EQ(host("*.example.com"), "");
  EXPECT_EQ(host("10.0.0.1"), "spec.rules[0].host: Invalid value: \"10.0.0.1\": must be a DNS name, not an IP address");
  for (const char* bad : {"*", "*.", "a.*.com", "*.*.com", "*.-a.com"}) {
    EXPECT_NE(host(bad).find("a wildcard DNS-1123 subdomain must start with '*.'"), std::string::npos) << bad;
  }
}

TEST(Ingresses, SayTheirClassOnce) {
  const std::string spec = R"({"ingressClassName":"b","defaultBackend":{"service":{"name":"s","port":{"number":1}}}})";
  EXPECT_EQ(problems("Ingress", spec, R"("name":"a","annotations":{"kubernetes.io/ingress.class":"b"})"), "");
  EXPECT_EQ(problems("Ingress", spec, R"("name":"a","annotations":{"kubernetes.io/ingress.class":"c"})"),
            "annotations.kubernetes.io/ingress.class: Invalid value: \"c\": must match `ingressClassName` when both are specified");
  const auto ingress = kind("Ingress");
  const Object old_way = ingress.normalized(R"({"metadata":{"annotations":{"kubernetes.io/ingress.class":"c"}},"spec":{}})");
  EXPECT_EQ(ingress.strategy().warnings(old_way, nullptr).size(), 1u);
  EXPECT_TRUE(ingress.strategy().warnings(old_way, &old_way).empty());
}

TEST(IngressClasses, HaveAControllerForGood) {
  EXPECT_EQ(problems("IngressClass", "{}"), "spec.controller: Required value");
  EXPECT_EQ(problems("IngressClass", R"({"controller":"x"})"),
            "spec.controller: Invalid value: \"x\": must be a domain-prefixed path (such as \"acme.io/foo\")");
  EXPECT_EQ(problems("IngressClass", R"({"controller":"a.b/c d"})"),
            "spec.controller: Invalid value: \"c d\": Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')");
  EXPECT_EQ(change("IngressClass", "{}", R"({"controller":"a.b/c"})"),
            "[spec.controller: Invalid value: \"\": field is immutable, spec.controller: Required value]");
  const auto parameters = [](const std::string& members) {
    return problems("IngressClass", R"({"controller":"a.b/c","parameters":{"kind":"K","name":"n")" + members + "}}");
  };
  EXPECT_EQ(parameters(""), "") << "the scope is Cluster unless said";
  EXPECT_EQ(parameters(R"(,"namespace":"ns")"), "spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'");
  EXPECT_EQ(parameters(R"(,"scope":"Namespace")"), "spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'");
  EXPECT_EQ(parameters(R"(,"scope":"x")"), R"(spec.parameters.scope: Unsupported value: "x": supported values: "Cluster", "Namespace")");
}

TEST(NetworkPolicies, AreOfTypeEgressWhereTheyHaveSuchRules) {
  const auto policy = kind("NetworkPolicy");
  EXPECT_EQ(to_json(*find_path(policy.defaulted(R"({"spec":{}})"), "spec.policyTypes")), R"(["Ingress"])");
  EXPECT_EQ(to_json(*find_path(policy.defaulted(R"({"spec":{"egress":[{}]}})"), "spec.policyTypes")), R"(["Ingress","Egress"])");
  EXPECT_EQ(problems("NetworkPolicy", R"({"policyTypes":["Ingress","Egress","x"]})"),
            R"(spec.policyTypes: Invalid value: ["Ingress","Egress","x"]: may not specify more than two policyTypes)");
  EXPECT_EQ(problems("NetworkPolicy", R"({"policyTypes":["x"]})"),
            R"(spec.policyTypes[0]: Unsupported value: "x": supported values: "Ingress", "Egress")");
}

TEST(NetworkPolicies, HavePeersOfOneSort) {
  const auto peer = [](const std::string& text) { return problems("NetworkPolicy", R"({"ingress":[{"from":[)" + text + "]}]}"); };
  const std::string where = "spec.ingress[0].from[0]";
  EXPECT_EQ(peer("{}"), where + ": Required value: must specify a peer");
  EXPECT_EQ(peer(R"({"podSelector":{},"namespaceSelector":{}})"), "");
  EXPECT_EQ(peer(R"({"podSelector":{},"ipBlock":{"cidr":"10.0.0.0/8"}})"),
            where + ": Forbidden: may not specify both ipBlock and another peer");
  EXPECT_EQ(peer(R"({"ipBlock":{"cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}})"), "");
  for (const char* hole : {"10.0.0.0/8", "11.1.0.0/16", "fd00::/16"}) {
    EXPECT_EQ(peer(R"({"ipBlock":{"cidr":"10.0.0.0/8","except":[")" + std::string(hole) + "\"]}}"),
              where + ".ipBlock.except[0]: Invalid value: \"" + hole + "\": must be a strict subset of `cidr`");
  }
}

TEST(NetworkPolicies, KeepRangesThatTheyHad) {
  const auto block = [](const std::string& direction, const std::string& peers) {
    return "{\"" + direction + "\":[{\"" + peers + R"(":[{"ipBlock":{"cidr":"010.0.0.0/8"}}]}]})";
  };
  EXPECT_EQ(problems("NetworkPolicy", block("ingress", "from")),
            "spec.ingress[0].from[0].ipBlock.cidr: Invalid value: \"010.0.0.0/8\": must not have leading 0s in IP or prefix length");
  EXPECT_EQ(change("NetworkPolicy", block("egress", "to"), block("ingress", "from")), "") << "in another place";
}

TEST(NetworkPolicies, PortsMayBeSeveralInARow) {
  const auto port = [](const std::string& members) { return problems("NetworkPolicy", R"({"egress":[{"ports":[{)" + members + "}]}]}"); };
  const std::string where = "spec.egress[0].ports[0].endPort: Invalid value: ";
  EXPECT_EQ(port(R"("port":80)"), "");
  EXPECT_EQ(port(R"("port":80,"endPort":90)"), "");
  EXPECT_EQ(port(R"("port":80,"endPort":70)"), where + "80: must be greater than or equal to `port`");
  EXPECT_EQ(port(R"("endPort":70)"), where + "70: may not be specified when `port` is not specified");
  EXPECT_EQ(port(R"("port":"http","endPort":70)"), where + "70: may not be specified when `port` is non-numeric");
}

TEST(IpAddresses, AreNamedInCanonicalForm) {
  const std::string spec = R"({"parentRef":{"resource":"services","name":"n"}})";
  EXPECT_EQ(problems("IPAddress", spec, R"("name":"10.0.0.1")"), "");
  EXPECT_EQ(problems("IPAddress", spec, R"("name":"fd00::1")"), "");
  EXPECT_EQ(problems("IPAddress", spec, R"("name":"FD00::1")"),
            "metadata.name: Invalid value: \"FD00::1\": must be in canonical form (\"fd00::1\")");
  EXPECT_EQ(problems("IPAddress", spec, R"("name":"x")"),
            "metadata.name: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
  EXPECT_EQ(problems("IPAddress", "{}", R"("name":"10.0.0.1")"), "spec.parentRef: Required value");
}

TEST(IpAddresses, AreNamedAsTheyAreToBeginWith) {
  EXPECT_EQ(get_string_path(kind("IPAddress").defaulted(R"({"metadata":{"generateName":"10.0.0.1"}})"), "metadata.name"), "10.0.0.1");
  EXPECT_EQ(get_string_path(kind("IPAddress").defaulted(R"({"metadata":{"generateName":"a","name":"b"}})"), "metadata.name"), "b");
}

TEST(IpAddresses, StayWithTheirParent) {
  const auto ip = kind("IPAddress");
  const auto object = [&](const std::string& parent) {
    return ip.created(R"({"metadata":{"name":"10.0.0.1"},"spec":{"parentRef":)" + parent + "}}");
  };
  EXPECT_EQ(ip.change_problems(object(R"({"resource":"a","name":"c"})"), object(R"({"resource":"a","name":"b"})")),
            R"(spec.parentRef: Invalid value: {"Group":"","Resource":"a","Namespace":"","Name":"c"}: field is immutable)");
}

TEST(ServiceCidrs, AreOneOfEachFamilyAndCanOnlyBeJoined) {
  EXPECT_EQ(problems("ServiceCIDR", "{}"), "spec.cidrs: Required value: at least one CIDR required");
  EXPECT_EQ(problems("ServiceCIDR", R"({"cidrs":["10.0.0.0/16","fd00::/112"]})"), "");
  EXPECT_EQ(problems("ServiceCIDR", R"({"cidrs":["10.0.0.0/16","10.1.0.0/16"]})"),
            R"(spec.cidrs: Invalid value: ["10.0.0.0/16","10.1.0.0/16"]: )"
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64");
  EXPECT_EQ(problems("ServiceCIDR", R"({"cidrs":["10.0.0.0/16","fd00::/112","fd01::/112"]})"),
            R"(spec.cidrs: Invalid value: {"CIDRs":["10.0.0.0/16","fd00::/112","fd01::/112"]}: may only hold up to 2 values)");
  EXPECT_EQ(problems("ServiceCIDR", R"({"cidrs":["10.0.0.1/16"]})"),
            "spec.cidrs[0]: Invalid value: \"10.0.0.1/16\": must not have bits set beyond the prefix length");
  const std::string one = R"({"cidrs":["10.0.0.0/16"]})", both = R"({"cidrs":["10.0.0.0/16","fd00::/112"]})";
  EXPECT_EQ(change("ServiceCIDR", both, one), "");
  EXPECT_EQ(change("ServiceCIDR", one, both), R"(spec.cidrs: Invalid value: ["10.0.0.0/16"]: field is immutable)");
  EXPECT_EQ(change("ServiceCIDR", R"({"cidrs":["x"]})", one), "spec.cidrs[0]: Invalid value: \"x\": field is immutable");
}

TEST(NetworkingTables, ShowWhatKubectlShows) {
  EXPECT_EQ(
      cells("Ingress", R"({"metadata":{"name":"i"},"spec":{"rules":[{"host":"a"},{},{"host":"b"},{"host":"c"},{"host":"d"}],"tls":[{}]},)"
                       R"("status":{"loadBalancer":{"ingress":[{"hostname":"h"},{"ip":"1.1.1.1"}]}}})"),
      R"(["i","<none>","a,b,c + 2 more...","1.1.1.1,h","80, 443","<unknown>"])");
  EXPECT_EQ(cells("Ingress", R"({"metadata":{"name":"i"},"spec":{"ingressClassName":"n"}})"), R"(["i","n","*","","80","<unknown>"])");
  EXPECT_EQ(cells("IngressClass", R"({"metadata":{"name":"c","annotations":{"ingressclass.kubernetes.io/is-default-class":"true"}},)"
                                  R"("spec":{"controller":"a/b","parameters":{"apiGroup":"g","kind":"K","name":"n"}}})"),
            R"x(["c (default)","a/b","K.g/n","<unknown>"])x");
  EXPECT_EQ(cells("NetworkPolicy", R"({"metadata":{"name":"p"},"spec":{"podSelector":{"matchLabels":{"a":"b"}}}})"),
            R"(["p","a=b","<unknown>"])");
  EXPECT_EQ(cells("ServiceCIDR", R"({"metadata":{"name":"s"},"spec":{"cidrs":["10.0.0.0/16","fd00::/112"]}})"),
            R"(["s","10.0.0.0/16,fd00::/112","<unknown>"])");
}

// Upstream prints three cells for two columns.
TEST(NetworkingTables, AddressesHaveAnAgeWithoutAColumn) {
  EXPECT_EQ(
      cells("IPAddress", R"({"metadata":{"name":"10.0.0.1"},"spec":{"parentRef":{"resource":"services","namespace":"d","name":"k"}}})"),
      R"(["10.0.0.1","services/d/k","<unknown>"])");
}

}  // namespace
}  // namespace backplane::networking
