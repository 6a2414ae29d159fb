// Tests of PATCH: the three types, retries and errors.
#include "endpoints/testing/harness.hpp"

namespace backplane::testing {
namespace {

const Headers kJsonPatch = {{"Content-Type", "application/json-patch+json"}};
const Headers kMergePatch = {{"Content-Type", "application/merge-patch+json"}};
const Headers kStrategicPatch = {{"Content-Type", "application/strategic-merge-patch+json"}};

class PatchTest : public Api {
 protected:
  Response patch(const Headers& headers, std::string body, std::string_view rest = "a") {
    return send("PATCH", std::string("namespaces/n/configmaps/").append(rest), std::move(body), headers);
  }
};

TEST_F(PatchTest, AMergePatchChangesWhatItNames) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response got = patch(kMergePatch, R"({"data":{"k":null,"n":"2"}})");
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(
      got.body(),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"8","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"x":"y"}},"data":{"n":"2"}})"
      "\n");
}

// Regression: the members of an object were sorted again for each operation in it, which took a minute for such a patch.
TEST_F(PatchTest, ARefusedJsonPatchShowsItsObjectsInOrder) {
  use_config_maps();
  constexpr int kMembers = 50'000, kOperations = 9'999;
  std::string data, operations;
  for (int i = kMembers; i-- > 0;) data += "\"k" + std::to_string(i) + "\":\"\"" + (i > 0 ? "," : "");
  for (int i = 0; i < kOperations; ++i) operations += R"({"op":"add","path":"/data/a)" + std::to_string(i) + R"(","value":""},)";
  store_->put(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"5"},"data":{)" + data +
              "}}");
  const Response got = patch(kJsonPatch, "[" + operations + R"({"op":"add","path":"/kind","value":7}])");
  EXPECT_EQ(got.code(), 422);
  const std::string body = got.body();
  EXPECT_LT(body.find("a1000"), body.find("a9998"));
  EXPECT_LT(body.find("a9998"), body.find("k1000"));
}

constexpr std::string_view kOwned =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","resourceVersion":"5","ownerReferences":[)"
    R"({"kind":"Pod","apiVersion":"v1","name":"p","uid":"u"},{"kind":"Pod","apiVersion":"v1","name":"q","uid":"v"}]}})";

// Objects in lists are sorted like objects in objects if the patch has changed them. Others keep their order.
TEST_F(PatchTest, ARefusedJsonPatchShowsWhatItHasOpenedInOrder) {
  use_config_maps();
  store_->put(kOwned);
  const auto shown = [this](std::string_view operations) { return message_of(patch(kJsonPatch, std::string(operations))); };
  const std::string sorted = R"({\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":7,\"uid\":\"u\"})";
  const std::string other = R"({\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":\"q\",\"uid\":\"v\"})";
  const std::string replaced = shown(R"([{"op":"replace","path":"/metadata/ownerReferences/0/name","value":7}])");
  EXPECT_NE(replaced.find("[" + sorted + "," + other + "]"), std::string::npos) << replaced;
  const std::string compared =
      shown(R"([{"op":"test","path":"/metadata/ownerReferences/0","value":{"kind":"Pod","apiVersion":"v1","name":"p","uid":"u"}},)"
            R"({"op":"add","path":"/kind","value":7}])");
  EXPECT_NE(compared.find(R"([{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u\"},)" + other), std::string::npos)
      << compared;
  const std::string copied = shown(R"([{"op":"copy","from":"/metadata/ownerReferences/1","path":"/metadata/ownerReferences/1/name"}])");
  EXPECT_NE(copied.find(R"(\"name\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"q\")"), std::string::npos) << copied;
}

TEST_F(PatchTest, ARefusedMergePatchShowsWhatItPutsInAPlaceInOrder) {
  use_config_maps();
  store_->put(kOwned);
  const std::string shown = message_of(patch(kMergePatch, R"({"metadata":{"ownerReferences":[{"uid":7,"name":"p","kind":"Pod"}]}})"));
  EXPECT_NE(shown.find(R"([{\"kind\":\"Pod\",\"name\":\"p\",\"uid\":7}])"), std::string::npos) << shown;
}

TEST_F(PatchTest, AJsonPatchIsAppliedInOrder) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response got = patch(kJsonPatch, R"([{"op":"test","path":"/data/k","value":"1"},{"op":"add","path":"/data/new","value":"v"}])");
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(json::parse(got.body()).at("data").at("new").get_string(), "v");
  EXPECT_EQ(patch(kJsonPatch, "[]").code(), 200);
}

// Regression: the error was "cannot convert string to int32".
TEST_F(PatchTest, AWronglyTypedStrategicPatchIsOfAnUnrecognizedType) {
  use_pods();
  store_->put(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","resourceVersion":"5"},"spec":{"containers":[{"name":"c"}]}})");
  const Response got =
      send("PATCH", "namespaces/n/pods/p", R"({"spec":{"containers":[{"name":"c","ports":[{"containerPort":"x"}]}]}})", kStrategicPatch);
  EXPECT_TRUE(message_of(got).ends_with("unrecognized type: int32")) << got.body();
  // Regression: the error contained lists that the merge has ordered.
  const Response ordered =
      send("PATCH", "namespaces/n/pods/p",
           R"({"metadata":{"labels":{"$setElementOrder/x":["y"]}},"spec":{"$setElementOrder/containers":[{"name":"c"}],)"
           R"("containers":[{"name":"c","image":"i"}],"priority":"x"}})",
           kStrategicPatch);
  EXPECT_NE(message_of(ordered).find("spec:map[priority:x]]"), std::string::npos) << ordered.body();
  EXPECT_NE(message_of(ordered).find("labels:map[$setElementOrder/x:[y]]"), std::string::npos) << ordered.body();
}

TEST_F(PatchTest, AStrategicPatchMergesListsByTheirKeys) {
  use_pods();
  store_->put(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","resourceVersion":"5"},"spec":{"containers":[{"name":"c","image":"one"}],"restartPolicy":"Always"}})");
  const Response got = send("PATCH", "namespaces/n/pods/p", R"({"spec":{"containers":[{"name":"c","image":"two"}]}})", kStrategicPatch);
  EXPECT_EQ(got.code(), 200);
  const Value pod = json::parse(got.body());
  ASSERT_EQ(pod.at("spec").at("containers").get_array().size(), 1u);
  EXPECT_EQ(pod.at("spec").at("containers").at(0).at("image").get_string(), "two");
}

TEST_F(PatchTest, APatchIsAppliedAgainToTheNewerObjectAfterALostRace) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->lost_races = 3;
  EXPECT_EQ(patch(kMergePatch, R"({"data":{"n":"2"}})").code(), 200);
  EXPECT_EQ(store_->attempts, 4);
  EXPECT_FALSE(store_->preconditions.uid.has_value());
}

TEST_F(PatchTest, AMissingObjectIsNotFoundWhateverThePatch) {
  use_config_maps();
  for (const std::string body : {"{}", "{bad"}) {
    const Response got = patch(kMergePatch, body, "missing");
    EXPECT_EQ(got.code(), 404);
    EXPECT_EQ(message_of(got), "configmaps \"missing\" not found");
  }
}

struct PatchRule {
  Headers headers;
  std::string body;
  int code;
  std::string message;
};
TEST_F(PatchTest, PatchesThatCannotBeReadOrAppliedAreRefused) {
  use_config_maps();
  store_->put(kStoredMap);
  const std::string rejected = "the server rejected our request due to an error in our request";
  const std::vector<PatchRule> rules = {
      {kJsonPatch, R"([{"op":"test","path":"/data/k","value":"9"}])", 422, rejected},
      {kJsonPatch, R"([{"op":"remove","path":"/data/none"}])", 422, rejected},
      {kJsonPatch, R"([{"op":"bad","path":"/data"}])", 422, rejected},
      {kJsonPatch, R"([{"op":"add","value":"v"}])", 422, rejected},
      {kJsonPatch, R"({"op":"add"})", 400,
       "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"},
      {kJsonPatch, "[{]", 400, "error decoding patch: invalid character ']' looking for beginning of object key string"},
      {kMergePatch, "[]", 400, "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"},
      {kStrategicPatch, "x", 400, "invalid character 'x' looking for beginning of value"},
      {kStrategicPatch, "[]", 400, "json: cannot unmarshal array into Go value of type map[string]interface {}"},
      {kJsonPatch, R"([{"op":"replace","path":"/metadata/name","value":"other"}])", 400,
       "the name of the object (other) does not match the name on the URL (a)"},
      {kJsonPatch, R"([{"op":"replace","path":"","value":{}}])", 400,
       "the name of the object (a based on URL) was undeterminable: name must be provided"},
      {kMergePatch, R"({"metadata":{"namespace":"other"}})", 400,
       "the namespace of the provided object does not match the namespace sent on the request"},
  };
  for (const PatchRule& rule : rules) {
    const Response got = patch(rule.headers, rule.body);
    EXPECT_EQ(got.code(), rule.code) << rule.body;
    EXPECT_EQ(message_of(got), rule.message) << rule.body;
  }
  EXPECT_NE(patch(kJsonPatch, R"([{"op":"bad","path":"/data"}])").body().find(R"("reason":"Invalid","details":{},"code":422)"),
            std::string::npos);
}

TEST_F(PatchTest, WhatThePatchMadeIsShownWhenItCannotBeDecoded) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response got = patch(kJsonPatch, R"([{"op":"add","path":"/data/a","value":5}])");
  EXPECT_EQ(got.code(), 422);
  EXPECT_EQ(
      message_of(got),
      R"( "" is invalid: patch: Invalid value: "{\"apiVersion\":\"v1\",\"data\":{\"a\":5,\"k\":\"1\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"uid\":\"u-a\",\"resourceVersion\":\"5\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"labels\":{\"x\":\"y\"}}}": json: cannot unmarshal number into Go struct field ConfigMap.data of type string)");
}

TEST_F(PatchTest, StrictPatchesRefuseUnknownFieldsAndShowWhatWasPatched) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response merge = patch(kMergePatch, R"({"bar":2})", "a?fieldValidation=Strict");
  EXPECT_EQ(merge.code(), 422);
  const std::string shown = message_of(merge);
  EXPECT_TRUE(shown.starts_with(R"( "" is invalid: patch: Invalid value: "{\"apiVersion\":\"v1\",\"bar\":2,\"data\":)")) << shown;
  EXPECT_TRUE(shown.ends_with(R"(strict decoding error: unknown field "bar")")) << shown;
  EXPECT_EQ(message_of(patch(kStrategicPatch, R"({"bar":2})", "a?fieldValidation=Strict")),
            R"( "" is invalid: patch: Invalid value: "map[bar:2]": strict decoding error: unknown field "bar")");
}

TEST_F(PatchTest, UnknownFieldsOfAPatchAreWarnedAboutOnce) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->lost_races = 1;
  const Response got = patch(kMergePatch, R"({"bar":2})");
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(got.warnings(), std::vector<std::string>{R"(299 - "unknown field \"bar\"")"});
  EXPECT_TRUE(patch(kMergePatch, R"({"bar":2})", "a?fieldValidation=Ignore").warnings().empty());
}

TEST_F(PatchTest, UnknownFieldsAreMetInTheOrderOfWhatThePatchHasMade) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response added = patch(kJsonPatch, R"([{"op":"add","path":"/metadata/x","value":1},{"op":"add","path":"/metadata/b","value":1}])");
  EXPECT_EQ(added.warnings(),
            (std::vector<std::string>{R"(299 - "unknown field \"metadata.b\"")", R"(299 - "unknown field \"metadata.x\"")"}));
  const Response whole = patch(kJsonPatch, R"([{"op":"replace","path":"/metadata","value":{"name":"a","x":1,"b":1}}])");
  EXPECT_EQ(whole.warnings(),
            (std::vector<std::string>{R"(299 - "unknown field \"metadata.x\"")", R"(299 - "unknown field \"metadata.b\"")"}));
}

TEST_F(PatchTest, AKindCannotBePatchedIntoAnother) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response other = patch(kMergePatch, R"({"kind":"Other"})");
  EXPECT_EQ(other.code(), 422);
  EXPECT_TRUE(message_of(other).ends_with("no kind \"Other\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\""));
  const Response pod = patch(kMergePatch, R"({"kind":"Pod"})");
  EXPECT_TRUE(message_of(pod).ends_with("converting (v1.Pod) to (core.ConfigMap): unknown conversion"));
  EXPECT_EQ(patch(kStrategicPatch, R"({"kind":"Other"})").code(), 200) << "a strategic merge works on the type itself";
}

// Upstream decodes such an object as its internal type, whose fields have other names.
TEST_F(PatchTest, AnObjectWithoutAVersionHasNoKnownMembers) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response merged = patch(kMergePatch, R"({"apiVersion":null,"data":{"x":"y"}})");
  EXPECT_EQ(merged.code(), 400);
  EXPECT_EQ(message_of(merged), "the name of the object (a based on URL) was undeterminable: name must be provided");
  EXPECT_EQ(merged.warnings(), (std::vector<std::string>{R"(299 - "unknown field \"data\"")", R"(299 - "unknown field \"metadata\"")"}));
  EXPECT_TRUE(patch(kMergePatch, R"({"apiVersion":""})", "a?fieldValidation=Ignore").warnings().empty());
  const Response strict = patch(kJsonPatch, R"([{"op":"remove","path":"/apiVersion"}])", "a?fieldValidation=Strict");
  EXPECT_EQ(strict.code(), 422);
  EXPECT_TRUE(message_of(strict).ends_with(R"(strict decoding error: unknown field "data", unknown field "metadata")"))
      << message_of(strict);
  EXPECT_EQ(patch(kStrategicPatch, R"({"apiVersion":null})").code(), 200);
}

TEST_F(PatchTest, TooManyOperationsAreTooLarge) {
  use_config_maps();
  store_->put(kStoredMap);
  std::string body = "[";
  for (int i = 0; i <= 10000; ++i) body.append(i > 0 ? "," : "").append(R"({"op":"test","path":"/data/k","value":"1"})");
  const Response got = patch(kJsonPatch, body.append("]"));
  EXPECT_EQ(got.code(), 413);
  EXPECT_EQ(message_of(got), "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001");
}

TEST_F(PatchTest, OtherContentTypesAreUnsupported) {
  use_config_maps();
  store_->put(kStoredMap);
  for (const char* type : {"application/none", "application/json", ""}) {
    const Response got = patch({{"Content-Type", type}}, "{}");
    EXPECT_EQ(got.code(), 415) << type;
    EXPECT_EQ(message_of(got), "415: Unsupported Media Type");
  }
  EXPECT_EQ(patch({{"Content-Type", "application/apply-patch+cbor"}}, "{}").code(), 415);
}

TEST_F(PatchTest, ApplyNeedsAFieldManager) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response got = patch({{"Content-Type", "application/apply-patch+yaml"}}, "{}");
  EXPECT_EQ(got.code(), 422);
  EXPECT_EQ(message_of(got), "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch");
}

TEST_F(PatchTest, CustomResourcesHaveNoStrategicMerge) {
  use_foos();
  store_->put(kStoredFoo);
  const Response got = send("PATCH", "namespaces/n/foos/f", R"({"spec":{"size":8}})", kStrategicPatch);
  EXPECT_EQ(got.code(), 415);
  EXPECT_EQ(message_of(got),
            "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
            "application/merge-patch+json, application/apply-patch+yaml");
  const Response merged = send("PATCH", "namespaces/n/foos/f", R"({"spec":{"size":8}})", kMergePatch);
  EXPECT_EQ(merged.code(), 200);
  EXPECT_EQ(json::parse(merged.body()).at("spec").at("size").as_int64(), 8);
}

TEST_F(PatchTest, ForceIsForApplyOnly) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response got = patch(kMergePatch, "{}", "a?force=true");
  EXPECT_EQ(got.code(), 422);
  EXPECT_EQ(message_of(got), "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch");
}

}  // namespace
}  // namespace backplane::testing
