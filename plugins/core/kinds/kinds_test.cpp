#include <gtest/gtest.h>

#include "backplane/types/names.hpp"
#include "kind_under_test.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

using testing::KindUnderTest;

using kit::KindRow;

KindUnderTest kind(KindRow row) { return KindUnderTest(std::move(row), *core_schemas(), ""); }

std::string problems_of(KindRow row, std::string_view object) {
  const KindUnderTest one = kind(std::move(row));
  return one.problems(one.normalized(object));
}
std::string change_problems(KindRow row, std::string_view now, std::string_view old) {
  const KindUnderTest one = kind(std::move(row));
  return one.change_problems(one.normalized(now), one.normalized(old));
}

TEST(ConfigMaps, KeysAreChecked) {
  EXPECT_EQ(problems_of(core_group()->kind("ConfigMap"), R"({"data":{"a":"1"},"binaryData":{"a":"AA=="}})"),
            "data[a]: Invalid value: \"a\": duplicate of key present in binaryData");
  EXPECT_TRUE(problems_of(core_group()->kind("ConfigMap"), R"({"data":{"t~":"1"}})")
                  .starts_with("data[t~]: Invalid value: \"t~\": a valid config key"));
}

TEST(ConfigMaps, ImmutableOnesStay) {
  EXPECT_EQ(
      change_problems(core_group()->kind("ConfigMap"), R"({"immutable":true,"data":{"a":"2"}})", R"({"immutable":true,"data":{"a":"1"}})"),
      "data: Forbidden: field is immutable when `immutable` is set");
  EXPECT_EQ(change_problems(core_group()->kind("ConfigMap"), R"({"data":{"a":"1"}})", R"({"immutable":true,"data":{"a":"1"}})"),
            "immutable: Forbidden: field is immutable when `immutable` is set");
}

TEST(ConfigMaps, AreSmall) {
  const std::string half(600 * 1024, 'a');
  EXPECT_EQ(problems_of(core_group()->kind("ConfigMap"), R"({"data":{"a":")" + half + R"(","b":")" + half + R"("}})"),
            "[]: Too long: may not be more than 1048576 bytes");
  EXPECT_EQ(problems_of(core_group()->kind("ConfigMap"), R"({"data":{"a":")" + half + R"("}})"), "");
}

TEST(Secrets, StringDataBecomesData) {
  const Object secret = kind(core_group()->kind("Secret")).defaulted(R"({"stringData":{"k":"hello"}})");
  EXPECT_EQ(to_json(secret), R"({"metadata":{},"data":{"k":"aGVsbG8="},"type":"Opaque"})");
}

TEST(Secrets, TypesDemandTheirKeys) {
  EXPECT_EQ(problems_of(core_group()->kind("Secret"), R"({"type":"kubernetes.io/tls"})"),
            "[data[tls.crt]: Required value, data[tls.key]: Required value]");
  EXPECT_EQ(problems_of(core_group()->kind("Secret"), R"({"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":""}})"),
            "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": unexpected end of JSON input");
  EXPECT_EQ(problems_of(core_group()->kind("Secret"), R"({"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":"e30="}})"),
            "");
  EXPECT_EQ(
      problems_of(
          core_group()->kind("Secret"),
          R"({"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":"eyJhIjpbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbW1tbXV1dXV1dXV1dXV1dXV1dXV1dXV1dXV1dXV1dXV1dXV1dXV1dXV1dXX0="}})"),
      "")
      << "40 levels";
  EXPECT_EQ(problems_of(core_group()->kind("Secret"), R"({"type":"kubernetes.io/basic-auth","data":{}})"),
            "[data[username]: Required value, data[password]: Required value]");
  EXPECT_EQ(change_problems(core_group()->kind("Secret"), R"({"type":"b"})", R"({"type":"a"})"),
            "type: Invalid value: \"b\": field is immutable");
}

TEST(Events, AreAboutThingsInTheirNamespace) {
  EXPECT_EQ(problems_of(core_group()->kind("Event"), R"({"metadata":{"namespace":"n"},"involvedObject":{}})"),
            "involvedObject.namespace: Invalid value: \"\": does not match event.namespace");
}

TEST(ReplicationControllers, TakeTheirSelectorFromTheTemplate) {
  const Object rc =
      kind(core_group()->kind("ReplicationController"))
          .defaulted(R"({"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  EXPECT_EQ(to_json(rc.at("spec").get_object().at("selector")), R"({"a":"b"})");
  EXPECT_EQ(get_int_path(rc, "spec.replicas"), 1);
}

TEST(Nodes, AllocatableIsTheCapacity) {
  const auto allocatable = [](std::string_view status) {
    return to_json(
        *find_path(kind(core_group()->kind("Node")).defaulted("{\"status\":" + std::string(status) + "}"), "status.allocatable"));
  };
  EXPECT_EQ(allocatable(R"({"capacity":{"cpu":"4"}})"), R"({"cpu":"4"})");
  EXPECT_EQ(allocatable(R"({"capacity":{"cpu":"4"},"allocatable":{"cpu":"3"}})"), R"({"cpu":"3"})");
}

TEST(Nodes, AreNoLongerConfigured) {
  const auto configured = [](std::string_view member, std::string_view value) {
    return "{\"metadata\":{\"name\":\"n\"},\"status\":{\"" + std::string(member) + "\":{\"" + std::string(value) + "\":\"x\"}}}";
  };
  const KindUnderTest nodes = kind(core_group()->kind("Node"));
  EXPECT_EQ(find_path(nodes.created(configured("config", "error")), "status.config"), nullptr);
  EXPECT_NE(find_path(nodes.created(configured("nodeInfo", "machineID")), "status.nodeInfo"), nullptr);
}

TEST(Nodes, TaintsAreReportedTwiceOnUpdate) {
  const std::string_view twice = R"({"spec":{"taints":[{"key":"a","effect":"NoExecute"},{"key":"a","effect":"NoExecute"}]}})";
  const std::string expected =
      "metadata.taints[1]: Duplicate value: {\"Key\":\"a\",\"Value\":\"\",\"Effect\":\"NoExecute\",\"TimeAdded\":null}: taints must be "
      "unique by "
      "key and effect pair";
  EXPECT_EQ(problems_of(core_group()->kind("Node"), twice), expected);
  EXPECT_EQ(problems_of(core_group()->kind("Node"), R"({"spec":{"taints":[{"key":"a","effect":"x"}]}})"),
            "metadata.taints[0].effect: Unsupported value: \"x\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"");
  const KindUnderTest one = kind(core_group()->kind("Node"));
  const Object now = one.normalized(twice), old = one.normalized("{}");
  FieldErrors errors;
  core_schemas()->find("io.k8s.api.core.v1.Node")->check(now, &old, ObjectPart::kWithoutStatus, "", errors);
  EXPECT_EQ(errors.size(), 2u);
}

TEST(Nodes, NameTheirFirstNetworkTwice) {
  const auto spec = [](std::string_view text) {
    return to_json(kind(core_group()->kind("Node")).defaulted("{\"spec\":" + std::string(text) + "}").at("spec"));
  };
  EXPECT_EQ(spec(R"({"podCIDR":"10.0.0.0/24"})"), R"({"podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24"]})");
  EXPECT_EQ(spec(R"({"podCIDRs":["10.0.0.0/24","fd00::/64"]})"), R"({"podCIDR":"10.0.0.0/24","podCIDRs":["10.0.0.0/24","fd00::/64"]})");
  EXPECT_EQ(spec(R"({"podCIDR":"10.1.0.0/24","podCIDRs":["10.0.0.0/24"]})"), R"({"podCIDR":"10.1.0.0/24","podCIDRs":["10.1.0.0/24"]})");
  const auto of_ranges = [](const char* ranges) {
    return problems_of(core_group()->kind("Node"), R"({"spec":{"podCIDRs":)" + std::string(ranges) + "}}");
  };
  EXPECT_NE(of_ranges(R"(["10.0.0.0/24","x"])")
                .find("spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with "
                      "error:invalid CIDR[1]: <nil> (invalid CIDR address: x)"),
            std::string::npos);
  EXPECT_EQ(of_ranges(R"(["x"])").find("Internal"), std::string::npos);
  EXPECT_EQ(problems_of(core_group()->kind("Node"), R"({"spec":{"podCIDRs":["10.0.0.0/24","10.1.0.0/24"]}})"),
            "spec.podCIDRs: Invalid value: [\"10.0.0.0/24\",\"10.1.0.0/24\"]: may specify no more than one CIDR for each IP family");
}

TEST(ResourceQuotas, ReportEachUnknownScope) {
  const KindUnderTest one = kind(core_group()->kind("ResourceQuota"));
  FieldErrors errors;
  core_schemas()
      ->find("io.k8s.api.core.v1.ResourceQuota")
      ->check(one.normalized(R"({"spec":{"scopes":["x","BestEffort","y"]}})"), nullptr, ObjectPart::kWithoutStatus, "", errors);
  ASSERT_EQ(errors.size(), 2u);
  for (const FieldError& error : errors.list()) {
    EXPECT_EQ(error.field + ": " + error.text, R"(spec.scopes: Invalid value: ["x","BestEffort","y"]: unsupported scope)");
  }
  EXPECT_EQ(problems_of(core_group()->kind("ResourceQuota"), R"({"spec":{"scopes":["BestEffort"],"hard":{"pods":"1"}}})"), "");
  EXPECT_EQ(problems_of(core_group()->kind("ResourceQuota"), R"({"spec":{"hard":{"storage":"1"}}})"),
            "spec.hard[storage]: Invalid value: \"storage\": must be a standard resource for quota");
}

// Regression: loopback addresses were accepted.
TEST(Endpoints, HaveAddressesThatOthersReach) {
  const auto of = [](const std::string& ip) {
    return problems_of(core_group()->kind("Endpoints"),
                       R"({"subsets":[{"addresses":[{"ip":")" + ip + R"("}],"ports":[{"port":1,"protocol":"TCP"}]}]})");
  };
  const auto expected = [](const std::string& ip, const std::string& why) {
    return "subsets[0].addresses[0].ip: Invalid value: \"" + ip + "\": " + why;
  };
  EXPECT_EQ(of("10.0.0.1"), "");
  EXPECT_EQ(of("0.0.0.0"), expected("0.0.0.0", "may not be unspecified (0.0.0.0)"));
  EXPECT_EQ(of("::1"), expected("::1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"));
  EXPECT_EQ(of("fe80::1"), expected("fe80::1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"));
  EXPECT_EQ(of("224.0.0.7"), expected("224.0.0.7", "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"));
  EXPECT_EQ(of("x"), "[" + expected("x", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)") + ", " +
                         expected("x", "must be a valid IP address") + "]");
}

TEST(ServiceAccounts, WarnWhenTheirAnnotationIsNew) {
  const auto strategy = core_group()->kind("ServiceAccount").strategy();
  const Object without = parse("{}"), with = parse(R"({"metadata":{"annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}}})");
  EXPECT_EQ(strategy->warnings(with, nullptr).size(), 1u);
  EXPECT_EQ(strategy->warnings(with, &without),
            std::vector<std::string>{"metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate "
                                     "namespaces to isolate access to mounted secrets"});
  EXPECT_EQ(strategy->warnings(with, &with).size(), 0u);
}

TEST(Namespaces, AreLabelledWithNamesThatWereMadeUp) {
  const auto strategy = core_group()->kind("Namespace").strategy();
  Object made = parse(R"({"metadata":{"name":"made-abcde","generateName":"made-"}})");
  strategy->canonicalize(made);
  EXPECT_EQ(to_json(made.at("metadata").at("labels")), R"({"kubernetes.io/metadata.name":"made-abcde"})");
}

TEST(ServiceAccounts, KeepNothingButNamesOfTheirSecrets) {
  const auto strategy = core_group()->kind("ServiceAccount").strategy();
  Object account = parse(R"({"secrets":[{"kind":"Secret","name":"s","uid":"u"},{"namespace":"n"}]})");
  RequestContext context;
  strategy->prepare_for_create(context, account);
  EXPECT_EQ(to_json(account), R"({"secrets":[{"name":"s"},{}]})");
}

TEST(LimitRanges, KeepRatiosThatTheirBoundsAllow) {
  const auto with = [](const std::string& rest) {
    return problems_of(core_group()->kind("LimitRange"), R"({"spec":{"limits":[{"type":"Pod",)" + rest + "}]}}");
  };
  EXPECT_EQ(with(R"("max":{"cpu":"2"},"min":{"cpu":"1"},"maxLimitRequestRatio":{"cpu":"2"})"), "");
  EXPECT_EQ(with(R"("max":{"cpu":"2"},"min":{"cpu":"100m"},"maxLimitRequestRatio":{"cpu":"30"})"),
            "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"30\": ratio 30 is greater than max/min = 20.000000");
  EXPECT_EQ(with(R"("maxLimitRequestRatio":{"cpu":"500m"})"),
            "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"500m\": ratio 500m is less than 1");
}

// Regression: the whole list was reported for each scope and each resource, which took hours.
TEST(ResourceQuotas, ErrorsOfManyScopesAndResourcesAreLimited) {
  constexpr std::size_t kMany = 10'000;
  std::string hard, scopes;
  for (std::size_t i = 0; i < kMany; ++i) {
    hard += (i == 0 ? "\"" : ",\"") + std::string("hugepages-") + std::to_string(i) + "\":\"1\"";
    scopes += i == 0 ? "\"Terminating\"" : ",\"Terminating\"";
  }
  FieldErrors errors;
  const KindRow row = core_group()->kind("ResourceQuota");
  const Object quota = json::parse(R"({"metadata":{"name":"a"},"spec":{"hard":{)" + hard + "},\"scopes\":[" + scopes + "]}}").get_object();
  RequestContext context;
  row.strategy()->validate(context, quota, errors);
  EXPECT_GT(errors.size(), 1u);
  EXPECT_GT(errors.left_out(), 0u);
}

TEST(ResourceQuotas, HaveScopesThatFit) {
  const auto with = [](const std::string& spec) { return problems_of(core_group()->kind("ResourceQuota"), R"({"spec":{)" + spec + "}}"); };
  EXPECT_EQ(with(R"("hard":{"pods":"1"},"scopes":["BestEffort"])"), "");
  EXPECT_EQ(with(R"("hard":{"pods":"1500m"})"), "spec.hard[pods]: Invalid value: \"1500m\": must be an integer");
  EXPECT_EQ(with(R"("hard":{"cpu":"1"},"scopes":["BestEffort"])"),
            "spec.scopes: Invalid value: [\"BestEffort\"]: unsupported scope applied to resource");
  EXPECT_EQ(with(R"("scopes":["BestEffort","NotBestEffort"])"),
            "spec.scopes: Invalid value: [\"BestEffort\",\"NotBestEffort\"]: conflicting scopes");
  EXPECT_EQ(with(R"("scopeSelector":{"matchExpressions":[{"scopeName":"Terminating","operator":"In","values":["x"]}]})"),
            "spec.scopeSelector.matchExpressions.operator: Invalid value: \"In\": must be 'Exists' when scope is any of "
            "ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
            "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity");
}

TEST(LimitRanges, FillDefaultsFromBounds) {
  const Object range = kind(core_group()->kind("LimitRange"))
                           .defaulted(R"({"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},"min":{"memory":"1Mi"}}]}})");
  const Object& item = range.at("spec").get_object().at("limits").get_array()[0].get_object();
  EXPECT_EQ(to_json(item.at("default")), R"({"cpu":"2"})");
  EXPECT_EQ(to_json(item.at("defaultRequest")), R"({"cpu":"2","memory":"1Mi"})");
}

TEST(Kinds, ReportChangesOfMetadataTwiceExceptForThree) {
  EXPECT_TRUE(core_group()->kind("ConfigMap").facts.rechecks_metadata_change);
  for (const KindRow& row : {core_group()->kind("Event"), core_group()->kind("LimitRange"), core_group()->kind("PersistentVolume")}) {
    EXPECT_FALSE(row.facts.rechecks_metadata_change) << row.kind;
  }
}

TEST(Kinds, WriteNothingAsTheirStoreWould) {
  const auto ranges = kind(core_group()->kind("LimitRange"));
  Object range = ranges.defaulted(R"({"spec":{"limits":[]}})");
  EXPECT_EQ(to_json(range), R"({"metadata":{},"spec":{"limits":[]}})") << "the client that sent the list manages it";
  ranges.strategy().canonicalize(range);
  EXPECT_EQ(to_json(range), R"({"metadata":{},"spec":{"limits":null}})");
  EXPECT_EQ(to_json(kind(core_group()->kind("ConfigMap")).normalized(R"({"binaryData":{"a":null}})")),
            R"({"metadata":{},"binaryData":{"a":""}})");
}

TEST(Kinds, ThatUpdatesMayCreate) {
  for (const KindRow& row : {core_group()->kind("Event"), core_group()->kind("Endpoints"), core_group()->kind("LimitRange")})
    EXPECT_TRUE(row.facts.create_on_update) << row.kind;
  EXPECT_FALSE(core_group()->kind("ConfigMap").facts.create_on_update);
}

TEST(Tables, OfKindsArePaths) {
  const auto cells = [](const KindRow& row, std::string_view object) {
    return to_json(Value(row.strategy()->table_convertor().cells(parse(object), 0, {})));
  };
  EXPECT_EQ(
      cells(core_group()->kind("Event"), R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p"},"firstTimestamp":null,)"
                                         R"("eventTime":"1969-12-31T23:59:00Z","reportingComponent":"c","message":"m\n"})"),
      R"(["60s","","","pod/p","","c","m","60s",1,"e"])");
  EXPECT_EQ(
      cells(core_group()->kind("Node"),
            R"({"metadata":{"name":"n"},"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],"nodeInfo":{"osImage":""}}})"),
      R"(["n","Unknown","\u003cnone\u003e","\u003cunknown\u003e","","10.0.0.1","\u003cnone\u003e","\u003cunknown\u003e",)"
      R"("\u003cunknown\u003e","\u003cunknown\u003e"])");
  EXPECT_EQ(cells(core_group()->kind("ConfigMap"), R"({"metadata":{"name":"a"},"data":{"x":"1"},"binaryData":{"y":"AA=="}})"),
            R"(["a",2,"\u003cunknown\u003e"])");
  EXPECT_EQ(cells(core_group()->kind("PersistentVolumeClaim"),
                  R"({"kind":"PersistentVolumeClaim","metadata":{"name":"a"},"spec":{"accessModes":["ReadWriteOnce"]}})"),
            R"(["a","","","","","","\u003cunset\u003e","\u003cunknown\u003e","\u003cunset\u003e"])");
  EXPECT_EQ(
      cells(
          core_group()->kind("ReplicationController"),
          R"({"metadata":{"name":"a"},"spec":{"replicas":3,"selector":{"a":"b"},"template":{"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]}}}})"),
      R"(["a",3,0,0,"\u003cunknown\u003e","c,d","i,j","a=b"])");
}

TEST(ReplicationControllers, HaveNamesOfSoManyBytes) {
  Object rc =
      kind(core_group()->kind("ReplicationController"))
          .defaulted(
              R"({"spec":{"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  const std::string name(254, 'a');
  rc["metadata"] = Object{{"name", name}, {"namespace", "ns"}};
  FieldErrors errors;
  validate_object_meta(rc, true, NameRule::kDnsSubdomain, errors);
  core_schemas()->find("io.k8s.api.core.v1.ReplicationController")->check(rc, nullptr, ObjectPart::kWithoutStatus, "", errors);
  ASSERT_EQ(errors.size(), 1u) << errors.aggregate_message();
  EXPECT_TRUE(errors.list()[0].text.ends_with(": must be no more than 253 bytes"));
}

TEST(Kinds, Warnings) {
  using Texts = std::vector<std::string>;
  const auto of = [](const KindRow& row, std::string_view object) { return row.strategy()->warnings(parse(object), nullptr); };
  EXPECT_EQ(of(core_group()->kind("Node"), R"({"spec":{"externalID":"x"}})"),
            Texts{"spec.externalID: this field is deprecated, and is unused by Kubernetes"});
  EXPECT_EQ(of(core_group()->kind("PersistentVolume"), R"({"spec":{"persistentVolumeReclaimPolicy":"Recycle"}})").size(), 1u);
  EXPECT_EQ(of(core_group()->kind("PersistentVolumeClaim"), R"({"spec":{"resources":{"requests":{"storage":"1500m"}}}})"),
            Texts{"spec.resources.requests[storage]: fractional byte value \"1500m\" is invalid, must be an integer"});
  EXPECT_EQ(of(core_group()->kind("Endpoints"), R"({"subsets":[{"addresses":[{"ip":"0:0::1"}]}]})"),
            Texts{"subsets[0].addresses[0].ip: IPv6 address \"0:0::1\" should be in RFC 5952 canonical format (\"::1\")"});
  EXPECT_EQ(of(core_group()->kind("ResourceQuota"), R"({"spec":{"hard":{"cpu":"2","limits.cpu":"1"}}})"),
            Texts{"ResourceQuota cpu (2) should be less than limits.cpu (1)"});
  EXPECT_EQ(of(core_group()->kind("PodTemplate"), R"({"template":{"spec":{"terminationGracePeriodSeconds":-1}}})").size(), 1u);
}

TEST(Claims, KeepBothNamesOfTheirSource) {
  const std::string ref = R"("dataSourceRef":{"kind":"PersistentVolumeClaim","name":"x"})";
  const Object old = parse(R"({"spec":{"dataSource":{"kind":"PersistentVolumeClaim","name":"x"},)" + ref + "}}");
  Object now = parse("{\"spec\":{" + ref + "}}");
  RequestContext context;
  core_group()->kind("PersistentVolumeClaim").strategy()->prepare_for_update(context, now, old);
  EXPECT_EQ(get_string_path(now, "spec.dataSource.name"), "x");
}

TEST(Claims, AreImmutableButForTheirVolume) {
  EXPECT_EQ(change_problems(
                core_group()->kind("PersistentVolumeClaim"),
                R"({"spec":{"accessModes":["ReadWriteOnce"],"volumeName":"pv","resources":{"requests":{"storage":"1Gi"}}},"status":{}})",
                R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}},"status":{}})"),
            "");
}

// Upstream accepts any group of a claim's source if it is set.
TEST(Claims, GroupsOfTheirSourceAreAskedWhenTheyAreNew) {
  const auto claim = [](std::string_view group) {
    return R"({"kind":"PersistentVolumeClaim","spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},)"
           R"("dataSourceRef":{"apiGroup":")" +
           std::string(group) + R"(","kind":"K","name":"n"}}})";
  };
  const KindRow row = core_group()->kind("PersistentVolumeClaim");
  EXPECT_TRUE(problems_of(row, claim("A B")).starts_with("spec.dataSourceRef.apiGroup: Invalid value: \"A B\": a lowercase"));
  EXPECT_EQ(change_problems(row, claim("A B"), claim("e.io")).find("apiGroup: Invalid value"), std::string::npos);
}

TEST(Claims, TheErrorOfAChangedSpecHasADiff) {
  const std::string claim = R"("accessModes":["ReadWriteOnce"],"volumeName":"pv","resources":{"requests":{"storage":"1Gi"}}},"status":{}})";
  EXPECT_EQ(change_problems(core_group()->kind("PersistentVolumeClaim"), R"({"spec":{"storageClassName":"b",)" + claim,
                            R"({"spec":{"storageClassName":"a",)" + claim),
            "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"
            "@@ -10,7 +10,7 @@\n   }\n  },\n  \"VolumeName\": \"pv\",\n- \"StorageClassName\": \"a\",\n+ "
            "\"StorageClassName\": \"b\",\n  \"VolumeMode\": null,\n  \"DataSource\": null,\n  \"DataSourceRef\": null,\n");
}

TEST(Claims, DataSourceAndDataSourceRefMustMatch) {
  const auto of = [](std::string_view sources) {
    return problems_of(
        core_group()->kind("PersistentVolumeClaim"),
        R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},)" + std::string(sources) + "}}");
  };
  EXPECT_EQ(of(R"("dataSource":{"kind":"PersistentVolumeClaim","name":"x"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"x"})"),
            "");
  EXPECT_EQ(of(R"("dataSource":{"kind":"PersistentVolumeClaim","name":"x"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"y"})"),
            "spec: Invalid value: {}: must match dataSourceRef");
  EXPECT_EQ(of(R"("dataSourceRef":{"kind":"VolumeSnapshot","name":"x"})"),
            "spec.dataSourceRef: Invalid value: \"VolumeSnapshot\": must be 'PersistentVolumeClaim' when referencing the default apiGroup");
}

// Regression: the change from a deprecated label to its successor was refused.
TEST(Volumes, MayFollowTheirNodesLabels) {
  const KindUnderTest volumes = kind(core_group()->kind("PersistentVolume"));
  const KindUnderTest open = kind(core_group({.mutable_node_affinity = true})->kind("PersistentVolume"));
  const auto volume = [&](const std::string& key) {
    return volumes.created(R"({"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],)"
                           R"("hostPath":{"path":"/x"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":)"
                           R"([{"key":")" +
                           key + R"(","operator":"In","values":["a"]}]}]}}}})");
  };
  const Object old = volume("failure-domain.beta.kubernetes.io/zone");
  EXPECT_EQ(volumes.change_problems(volume("topology.kubernetes.io/zone"), old), "");
  EXPECT_EQ(open.change_problems(volume("topology.kubernetes.io/region"), old), "");
  EXPECT_EQ(volumes.change_problems(volume("topology.kubernetes.io/region"), old),
            R"(nodeAffinity: Invalid value: {"Required":{"NodeSelectorTerms":[{"MatchExpressions":[{"Key":"topology.kubernetes.io/region",)"
            R"("Operator":"In","Values":["a"]}],"MatchFields":null}]}}: field is immutable, except for updating from beta label to GA)");
}

// From kube-apiserver's responses: the source that is reported if there are two, its name in messages, and the requirements of a local
// volume.
TEST(Volumes, AreOfOneSourceAndDisksOfANodeSayWhichNode) {
  const auto problems = [](const std::string& source) {
    return problems_of(core_group()->kind("PersistentVolume"),
                       R"({"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],)" + source + "}}");
  };
  EXPECT_EQ(problems(R"("cephfs":{"monitors":["m"]},"hostPath":{"path":"/x"})"),
            "spec.cephFS: Forbidden: may not specify more than 1 volume type");
  EXPECT_EQ(problems(R"("csi":{"driver":"d","volumeHandle":"h"},"nfs":{"server":"s","path":"/x"})"),
            "spec.csi: Forbidden: may not specify more than 1 volume type");
  EXPECT_EQ(problems(R"("local":{"path":"/y"})"), "spec.nodeAffinity: Required value: Local volume requires node affinity");
  EXPECT_EQ(problems(R"("hostPath":{"path":"/x"},"local":{"path":"/y"})"),
            "spec.local: Forbidden: may not specify more than 1 volume type");
  const std::string node = R"(,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}})";
  EXPECT_EQ(problems(R"("local":{"path":"/y"})" + node), "");
  EXPECT_EQ(problems(R"("local":{"path":"../y"})" + node), "spec.local.path: Invalid value: \"../y\": must not contain '..'");
  EXPECT_EQ(problems(R"("hostPath":{"path":"/a/.."},"persistentVolumeReclaimPolicy":"Recycle")"),
            "[spec.hostPath.path: Invalid value: \"/a/..\": must not contain '..', "
            "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/']");
}

// The rules for finalizers of upstream's groups apply only to their kinds.
TEST(Finalizers, WithoutADomainAreRefusedWhereUpstreamRefusesThem) {
  const std::string meta = R"({"metadata":{"name":"a","namespace":"b","finalizers":["plain"]})";
  EXPECT_EQ(problems_of(core_group()->kind("ConfigMap"), meta + "}"),
            "metadata.finalizers[0]: Invalid value: \"plain\": name is neither a standard finalizer name nor is it fully qualified");
  EXPECT_EQ(problems_of(core_group()->kind("Event"), meta + R"(,"involvedObject":{"namespace":"b"}})"), "");
}

}  // namespace
}  // namespace backplane::core
