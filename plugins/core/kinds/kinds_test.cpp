#include <gtest/gtest.h>

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

TEST(Claims, AreImmutableButForTheirVolume) {
  EXPECT_EQ(change_problems(
                *persistent_volume_claim_strategy(),
                R"({"spec":{"accessModes":["ReadWriteOnce"],"volumeName":"pv","resources":{"requests":{"storage":"1Gi"}}},"status":{}})",
                R"({"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}},"status":{}})"),
            "");
}

}  // namespace
}  // namespace backplane::core
