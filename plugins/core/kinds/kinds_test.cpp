#include <gtest/gtest.h>

#include "backplane/names.hpp"
#include "kinds/strategies.hpp"

namespace backplane::core {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

std::string problems_of(const Strategy& strategy, std::string_view object) {
  RequestContext context;
  FieldErrors errors;
  strategy.validate(context, parse(object), errors);
  return errors.empty() ? "" : errors.aggregate_message();
}
std::string change_problems(const Strategy& strategy, std::string_view now, std::string_view old) {
  RequestContext context;
  FieldErrors errors;
  // An update's metadata is checked once more by kinds whose update rules hold their create rules.
  Object changed = parse(now);
  Object& metadata = ensure_object(changed, "metadata");
  metadata["name"] = "a";
  if (strategy.namespaced()) metadata["namespace"] = "ns";
  strategy.validate_update(context, changed, parse(old), errors);
  return errors.empty() ? "" : errors.aggregate_message();
}

TEST(ConfigMaps, KeysAreChecked) {
  EXPECT_EQ(problems_of(*config_map_strategy(), R"({"data":{"a":"1"},"binaryData":{"a":"AA=="}})"),
            "data[a]: Invalid value: \"a\": duplicate of key present in binaryData");
  EXPECT_TRUE(
      problems_of(*config_map_strategy(), R"({"data":{"t~":"1"}})").starts_with("data[t~]: Invalid value: \"t~\": a valid config key"));
}

TEST(ConfigMaps, ImmutableOnesStay) {
  EXPECT_EQ(change_problems(*config_map_strategy(), R"({"immutable":true,"data":{"a":"2"}})", R"({"immutable":true,"data":{"a":"1"}})"),
            "data: Forbidden: field is immutable when `immutable` is set");
  EXPECT_EQ(change_problems(*config_map_strategy(), R"({"data":{"a":"1"}})", R"({"immutable":true,"data":{"a":"1"}})"),
            "immutable: Forbidden: field is immutable when `immutable` is set");
}

TEST(Secrets, StringDataBecomesData) {
  Object secret = parse(R"({"stringData":{"k":"hello"}})");
  secret_strategy()->apply_defaults(secret);
  EXPECT_EQ(to_json(secret), R"({"data":{"k":"aGVsbG8="},"type":"Opaque"})");
}

TEST(Secrets, TypesDemandTheirKeys) {
  EXPECT_EQ(problems_of(*secret_strategy(), R"({"type":"kubernetes.io/tls"})"),
            "[data[tls.crt]: Required value, data[tls.key]: Required value]");
  EXPECT_EQ(problems_of(*secret_strategy(), R"({"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":""}})"),
            "data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": unexpected end of JSON input");
  EXPECT_EQ(problems_of(*secret_strategy(), R"({"type":"kubernetes.io/dockerconfigjson","data":{".dockerconfigjson":"e30="}})"), "");
  EXPECT_EQ(problems_of(*secret_strategy(), R"({"type":"kubernetes.io/basic-auth","data":{}})"),
            "[data[username]: Required value, data[password]: Required value]");
  EXPECT_EQ(change_problems(*secret_strategy(), R"({"type":"b"})", R"({"type":"a"})"), "type: Invalid value: \"b\": field is immutable");
}

TEST(Events, AreAboutThingsInTheirNamespace) {
  EXPECT_EQ(problems_of(*event_strategy(), R"({"metadata":{"namespace":"n"},"involvedObject":{}})"),
            "involvedObject.namespace: Invalid value: \"\": does not match event.namespace");
}

TEST(ReplicationControllers, TakeTheirSelectorFromTheTemplate) {
  Object rc =
      parse(R"({"metadata":{},"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  replication_controller_strategy()->apply_defaults(rc);
  EXPECT_EQ(to_json(rc.at("spec").get_object().at("selector")), R"({"a":"b"})");
  EXPECT_EQ(get_int_path(rc, "spec.replicas"), 1);
}

TEST(Nodes, AllocatableIsTheCapacity) {
  Object node = parse(R"({"status":{"capacity":{"cpu":"4"}}})");
  node_strategy()->apply_defaults(node);
  EXPECT_EQ(to_json(node), R"({"status":{"capacity":{"cpu":"4"},"allocatable":{"cpu":"4"}}})");
}

TEST(LimitRanges, FillDefaultsFromBounds) {
  Object range = parse(R"({"spec":{"limits":[{"type":"Container","max":{"cpu":"2"},"min":{"memory":"1Mi"}}]}})");
  limit_range_strategy()->apply_defaults(range);
  const Object& item = range.at("spec").get_object().at("limits").get_array()[0].get_object();
  EXPECT_EQ(to_json(item.at("default")), R"({"cpu":"2"})");
  EXPECT_EQ(to_json(item.at("defaultRequest")), R"({"cpu":"2","memory":"1Mi"})");
}

// What the host hands to a kind's update rules: the problems of the metadata's change, twice over.
std::size_t problems_of_a_late_deletion(const Strategy& strategy) {
  const Object old = parse(R"({"metadata":{"name":"a","namespace":"ns"},"involvedObject":{"namespace":"ns"}})");
  Object now = old;
  now.at("metadata").get_object()["deletionTimestamp"] = "2020-01-01T00:00:00Z";
  FieldErrors errors;
  validate_object_meta_update(now, old, errors);
  validate_object_meta_update(now, old, errors);
  RequestContext context;
  strategy.validate_update(context, now, old, errors);
  std::size_t count = 0;
  for (const FieldError& error : errors.list()) count += error.field == "metadata.deletionTimestamp";
  return count;
}

TEST(Kinds, BlameChangesOfMetadataTwiceButForThree) {
  EXPECT_EQ(problems_of_a_late_deletion(*config_map_strategy()), 2u);
  for (const auto& strategy : {event_strategy(), limit_range_strategy(), persistent_volume_strategy()}) {
    EXPECT_EQ(problems_of_a_late_deletion(*strategy), 1u);
  }
}

TEST(Kinds, WriteNothingAsTheirStoreWould) {
  Object range = parse(R"({"spec":{"limits":[]}})");
  limit_range_strategy()->canonicalize(range);
  EXPECT_EQ(to_json(range), R"({"spec":{"limits":null}})");
  Object map = parse(R"({"binaryData":{"a":null}})");
  config_map_strategy()->canonicalize(map);
  EXPECT_EQ(to_json(map), R"({"binaryData":{"a":""}})");
}

TEST(Kinds, ThatUpdatesMayCreate) {
  for (const auto& strategy : {event_strategy(), endpoints_strategy(), limit_range_strategy()})
    EXPECT_TRUE(strategy->allow_create_on_update());
  EXPECT_FALSE(config_map_strategy()->allow_create_on_update());
}

TEST(ReplicationControllers, HaveNamesOfSoManyBytes) {
  Object rc = parse(
      R"({"spec":{"selector":{"a":"b"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})");
  const std::string name(254, 'a');
  rc["metadata"] = Object{{"name", name}, {"namespace", "ns"}};
  replication_controller_strategy()->apply_defaults(rc);
  FieldErrors errors;
  validate_object_meta(rc, true, NameRule::kDnsSubdomain, errors);
  RequestContext context;
  replication_controller_strategy()->validate(context, rc, errors);
  ASSERT_EQ(errors.size(), 1u) << errors.aggregate_message();
  EXPECT_TRUE(errors.list()[0].text.ends_with(": must be no more than 253 bytes"));
}

TEST(Kinds, Warnings) {
  using Texts = std::vector<std::string>;
  const auto of = [](const Strategy& strategy, std::string_view object) { return strategy.warnings(parse(object), nullptr); };
  EXPECT_EQ(of(*node_strategy(), R"({"spec":{"externalID":"x"}})"),
            Texts{"spec.externalID: this field is deprecated, and is unused by Kubernetes"});
  EXPECT_EQ(of(*persistent_volume_strategy(), R"({"spec":{"persistentVolumeReclaimPolicy":"Recycle"}})").size(), 1u);
  EXPECT_EQ(of(*persistent_volume_claim_strategy(), R"({"spec":{"resources":{"requests":{"storage":"1500m"}}}})"),
            Texts{"spec.resources.requests[storage]: fractional byte value \"1500m\" is invalid, must be an integer"});
  EXPECT_EQ(of(*endpoints_strategy(), R"({"subsets":[{"addresses":[{"ip":"0:0::1"}]}]})"),
            Texts{"subsets[0].addresses[0].ip: IPv6 address \"0:0::1\" should be in RFC 5952 canonical format (\"::1\")"});
  EXPECT_EQ(of(*resource_quota_strategy(), R"({"spec":{"hard":{"cpu":"2","limits.cpu":"1"}}})"),
            Texts{"ResourceQuota cpu (2) should be less than limits.cpu (1)"});
  EXPECT_EQ(of(*pod_template_strategy(), R"({"template":{"spec":{"terminationGracePeriodSeconds":-1}}})").size(), 1u);
}

TEST(Claims, KeepBothNamesOfTheirSource) {
  const std::string ref = R"("dataSourceRef":{"kind":"PersistentVolumeClaim","name":"x"})";
  const Object old = parse(R"({"spec":{"dataSource":{"kind":"PersistentVolumeClaim","name":"x"},)" + ref + "}}");
  Object now = parse("{\"spec\":{" + ref + "}}");
  RequestContext context;
  persistent_volume_claim_strategy()->prepare_for_update(context, now, old);
  EXPECT_EQ(get_string_path(now, "spec.dataSource.name"), "x");
}

TEST(Claims, AreImmutableButForTheirVolume) {
  EXPECT_EQ(change_problems(
                *persistent_volume_claim_strategy(),
                R"({"spec":{"accessModes":["ReadWriteOnce"],"volumeName":"pv","resources":{"requests":{"storage":"1Gi"}}},"status":{}})",
                R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}},"status":{}})"),
            "");
}

TEST(Claims, AreShownWhatMayNotChange) {
  const std::string claim = R"("accessModes":["ReadWriteOnce"],"volumeName":"pv","resources":{"requests":{"storage":"1Gi"}}},"status":{}})";
  EXPECT_EQ(change_problems(*persistent_volume_claim_strategy(), R"({"spec":{"storageClassName":"b",)" + claim,
                            R"({"spec":{"storageClassName":"a",)" + claim),
            "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n"
            "@@ -10,7 +10,7 @@\n   }\n  },\n  \"VolumeName\": \"pv\",\n- \"StorageClassName\": \"a\",\n+ "
            "\"StorageClassName\": \"b\",\n  \"VolumeMode\": null,\n  \"DataSource\": null,\n  \"DataSourceRef\": null,\n");
}

TEST(Claims, NameTheirSourceInBothFormsAlike) {
  const auto of = [](std::string_view sources) {
    return problems_of(
        *persistent_volume_claim_strategy(),
        R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}},)" + std::string(sources) + "}}");
  };
  EXPECT_EQ(of(R"("dataSource":{"kind":"PersistentVolumeClaim","name":"x"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"x"})"),
            "");
  EXPECT_EQ(of(R"("dataSource":{"kind":"PersistentVolumeClaim","name":"x"},"dataSourceRef":{"kind":"PersistentVolumeClaim","name":"y"})"),
            "spec: Invalid value: {}: must match dataSourceRef");
  EXPECT_EQ(of(R"("dataSourceRef":{"kind":"VolumeSnapshot","name":"x"})"),
            "spec.dataSourceRef: Invalid value: \"VolumeSnapshot\": must be 'PersistentVolumeClaim' when referencing the default apiGroup");
}

}  // namespace
}  // namespace backplane::core
