// POST, PUT and DELETE: decoding, options, codes and the texts of refusals.
#include "backplane/kit/forwarding_storage.hpp"
#include "backplane/points/admission.hpp"
#include "backplane/rest/connect.hpp"
#include "base/offload_pool.hpp"
#include "endpoints/testing/harness.hpp"

namespace backplane::testing {
namespace {

using WriteTest = Api;

constexpr std::string_view kMaps = "namespaces/n/configmaps";
std::string maps(std::string_view rest = "") { return std::string(kMaps).append(rest); }

TEST_F(WriteTest, CreateAnswersWith201AndTheStoredObject) {
  use_config_maps();
  const Response got = send("POST", maps(), R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"b":"2","a":"1"}})");
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(
      got.body(),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"8"},"data":{"a":"1","b":"2"}})"
      "\n");
}

// A body of a million items held a connection's loop for seconds.
// The storage may be a plugin's: it is called on the connection's executor all the same.
TEST_F(WriteTest, LargeBodiesAreDecodedOffTheLoopOfTheConnection) {
  OffloadPool offload_pool(1);
  offload_pool.start();
  set_offload_pool(&offload_pool);
  use_config_maps();
  const auto of = [](std::size_t bytes) { return R"({"metadata":{"name":"a"},"data":{"k":")" + std::string(bytes, 'v') + R"("}})"; };
  const Headers merge = {{"Content-Type", "application/merge-patch+json"}};
  for (const bool large : {false, true}) {
    const std::string body = of(large ? 200 << 10 : 10);
    store_->objects.clear();
    for (const auto& [method, path, headers] :
         {std::tuple{"POST", maps(), Headers()}, {"PUT", maps("/a"), Headers()}, {"PATCH", maps("/a"), merge}}) {
      store_->asked_on = nullptr;
      const std::size_t offloaded = offload_pool.turns();
      const Response got = send(method, path, body, headers);
      EXPECT_LT(got.code(), 300) << method;
      EXPECT_EQ(store_->asked_on, &loop_) << method;
      EXPECT_EQ(offload_pool.turns(), offloaded + (large ? 1 : 0)) << method;
      EXPECT_EQ(got.exchange->strangers, 0) << method;
    }
    EXPECT_EQ(send("POST", maps(), body).code(), 409);
    EXPECT_EQ(send("POST", maps(), body + "x").code(), 400);
  }
  set_offload_pool(nullptr);
  offload_pool.stop();
}

TEST_F(WriteTest, CreateTakesYaml) {
  use_config_maps();
  const Response got = send("POST", maps(), "metadata:\n  name: a\ndata:\n  k: v\n", {{"Content-Type", "application/yaml"}});
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(json::parse(got.body()).at("data").at("k").get_string(), "v");
}

// What becomes of managers that a client names is the store's to say.
TEST_F(WriteTest, SystemFieldsOfTheClientAreDropped) {
  use_config_maps();
  const Response got =
      send("POST", maps(),
           R"({"metadata":{"name":"a","uid":"mine","creationTimestamp":"2001-01-01T00:00:00Z","generation":5,"selfLink":"/x",)"
           R"("managedFields":[]}})");
  EXPECT_EQ(
      got.body(),
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"8","generation":5,"managedFields":[{}]}})"
      "\n");
}

TEST_F(WriteTest, KindAndVersionComeFromThePathWhenTheBodyHasNone) {
  use_config_maps();
  EXPECT_EQ(send("POST", maps(), R"({"metadata":{"name":"bare"}})").code(), 201);
  EXPECT_EQ(send("POST", maps(), R"({"kind":"ConfigMap","metadata":{"name":"kindonly"}})").code(), 201);
}

// Rules that were ended by the deadline were the answer, since the timer had waited for the same thread.
TEST_F(WriteTest, WhatIsRefusedPastTheDeadlineHasTimedOut) {
  use_config_maps();
  deadline_ = std::chrono::steady_clock::now() - std::chrono::milliseconds(1);
  const Response late = send("POST", maps(), "{bad");
  EXPECT_EQ(late.code(), 504);
  EXPECT_NE(late.body().find("request did not complete within the allotted timeout"), std::string::npos) << late.body();
  deadline_ = std::chrono::steady_clock::now() + std::chrono::hours(1);
  EXPECT_EQ(send("POST", maps(), "{bad").code(), 400);
}

// The fields of managers are passed over at first.
TEST_F(WriteTest, APutIsReadToItsEndBeforeAnythingElseIsSaidOfIt) {
  use_config_maps();
  ASSERT_EQ(send("POST", maps(), R"({"metadata":{"name":"a"}})").code(), 201);
  const auto body = [](std::string_view fields, std::string_view name = "a") {
    return R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":")" + std::string(name) +
           R"(","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":)" +
           std::string(fields) + "}]}}";
  };
  for (const char* path : {"/a", "/missing"}) {
    const Response got = send("PUT", maps(path), body(R"({"f:data":tru})", path + 1));
    EXPECT_EQ(got.code(), 400) << path;
    EXPECT_NE(got.body().find("invalid character '}' in literal true (expecting 'e')"), std::string::npos) << got.body();
  }
  EXPECT_NE(send("PUT", maps("/other"), body(R"({"f:data":tru})")).body().find("in literal true"), std::string::npos);
  EXPECT_NE(send("PUT", maps("/other"), body(R"({"f:data":{}})")).body().find("does not match the name on the URL"), std::string::npos);
  EXPECT_EQ(send("PUT", maps("/missing"), body(R"({"f:data":{}})", "missing")).code(), 201);
  const Response got = send("PUT", maps("/a"), body(R"({"f:data":{}})"));
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(json::parse(got.body()).at("metadata").at("managedFields").at(0).at("fieldsV1"), json::parse(R"({"f:data":{}})"));
}

// Refuses without a look at what is sent.
class RefusingStore final : public kit::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  Task<Result<UpdateResult>> update(RequestContext&, std::string name, UpdatedObjectInfo&, WriteOptions, bool) override {
    co_return conflict("", "configmaps", name, "it is being deleted");
  }
};
TEST_F(WriteTest, ARefusalThatHasNotSeenTheObjectOfAPutIsSaidBehindWhatIsWrongInside) {
  use_config_maps();
  scope_.storage = std::make_shared<RefusingStore>(store_);
  handler_ = make_resource_handler(scope_);
  const auto put = [this](std::string_view fields) {
    return send("PUT", maps("/a"),
                R"({"metadata":{"name":"a","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",)"
                R"("fieldsV1":)" +
                    std::string(fields) + "}]}}");
  };
  EXPECT_EQ(put(R"({"f:data":{}})").code(), 409);
  const Response wrong = put(R"({"f:data":tru})");
  EXPECT_EQ(wrong.code(), 400);
  EXPECT_NE(message_of(wrong).find("in literal true"), std::string::npos) << wrong.body();
}

struct Refusal {
  std::string body;
  std::string message;
};
TEST_F(WriteTest, BodiesThatCannotBeReadAreRefusedInUpstreamsWords) {
  use_config_maps();
  const std::string unrecognized = "the object provided is unrecognized (must be of type ConfigMap): ";
  const std::vector<Refusal> refusals = {
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}})",
       "Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion"},
      {R"({"apiVersion":"v1","kind":"Other"})",
       "Other in version \"v1\" cannot be handled as a ConfigMap: no kind \"Other\" is registered for version \"v1\" in scheme "
       "\"pkg/runtime/scheme.go:111\""},
      {R"({"apiVersion":"v2","kind":"ConfigMap"})",
       "ConfigMap in version \"v2\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is registered for version \"v2\" in scheme "
       "\"pkg/runtime/scheme.go:111\""},
      {R"({"apiVersion":"apps/v1","kind":"ConfigMap"})",
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: no kind \"ConfigMap\" is registered for version \"apps/v1\" in "
       "scheme "
       "\"pkg/runtime/scheme.go:111\""},
      {R"({"data":{"k":5},"metadata":{"name":"a"}})",
       "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of "
       "type "
       "string"},
      {"{bad", unrecognized +
                   "couldn't get version/kind; json parse error: invalid character 'b' looking for beginning of object key string ({bad)"},
      {"", unrecognized + "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"},
      {R"({"kind":7})",
       unrecognized +
           "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string "
           "({\"kind\":7})"},
      {R"({"apiVersion":"a/b/c"})", unrecognized + "unexpected GroupVersion string: a/b/c ({\"apiVersion\":\"a/b/c\"})"},
      {"[]",
       unrecognized +
           "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "
           "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" } (5b5d)"},
  };
  for (const Refusal& refusal : refusals) {
    const Response got = send("POST", maps(), refusal.body);
    EXPECT_EQ(got.code(), 400) << refusal.body;
    EXPECT_EQ(message_of(got), refusal.message) << refusal.body;
  }
}

TEST_F(WriteTest, AnotherVersionOfTheKindIsRefusedForItsVersion) {
  use_config_maps();
  const Schema* schema = schemas_->find({"", "v1", "ConfigMap"});
  ASSERT_TRUE(scheme_->add_known_type({"", "v2", "ConfigMap"}, schema, schemas_, "test").ok());
  const Response got = send("POST", maps(), R"({"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"}})");
  EXPECT_EQ(got.code(), 400);
  EXPECT_EQ(message_of(got), "the API version in the data (v2) does not match the expected API version (v1)");
}

TEST_F(WriteTest, MetaKindsAndOldVersionsAreKnownKinds) {
  use_config_maps();
  const auto refusal = [](const std::string& kind, const std::string& version, const std::string& type) {
    return kind + " in version \"" + version + "\" cannot be handled as a ConfigMap: converting (" + type +
           ") to (core.ConfigMap): unknown conversion";
  };
  const auto posted = [this](const std::string& version, const std::string& kind) {
    return message_of(send("POST", maps(), R"({"apiVersion":")" + version + R"(","kind":")" + kind + R"(","metadata":{}})"));
  };
  for (const char* kind : {"Status", "APIGroup", "DeleteOptions", "ListOptions", "CreateOptions", "WatchEvent"}) {
    EXPECT_EQ(posted("v1", kind), refusal(kind, "v1", std::string("v1.") + kind));
  }
  EXPECT_EQ(posted("apps/v1beta2", "DeleteOptions"), refusal("DeleteOptions", "v1beta2", "v1.DeleteOptions"));
  EXPECT_EQ(posted("apps/v1beta2", "Deployment"), refusal("Deployment", "v1beta2", "v1beta2.Deployment"));
  EXPECT_EQ(posted("admission.k8s.io/v1", "AdmissionReview"), refusal("AdmissionReview", "v1", "v1.AdmissionReview"));
  EXPECT_EQ(posted("admission.k8s.io/v1beta1", "AdmissionReview"), refusal("AdmissionReview", "v1beta1", "v1beta1.AdmissionReview"));
  EXPECT_EQ(posted("imagepolicy.k8s.io/v1alpha1", "ImageReview"), refusal("ImageReview", "v1alpha1", "v1alpha1.ImageReview"));
  EXPECT_NE(posted("admission.k8s.io/v1", "ImageReview").find("no kind \"ImageReview\" is registered"), std::string::npos);
  EXPECT_NE(posted("apps/v1beta2", "ConfigMap").find("no kind \"ConfigMap\" is registered"), std::string::npos);
  EXPECT_NE(posted("none.io/v1", "ListOptions").find("no kind \"ListOptions\" is registered"), std::string::npos);
}

TEST_F(WriteTest, AnOldVersionOfTheKindIsRefusedForItsVersionUnlessItIsTaken) {
  use_config_maps();
  scope_.kind = {"apps", "v1", "Deployment"};
  handler_ = make_resource_handler(scope_);
  const Response old = send("POST", maps(), R"({"apiVersion":"apps/v1beta2","kind":"Deployment","metadata":{"name":"a"}})");
  EXPECT_EQ(message_of(old), "the API version in the data (apps/v1beta2) does not match the expected API version (apps/v1)");
  scope_.kind = {"policy", "v1", "Eviction"};
  handler_ = make_resource_handler(scope_);
  const Response taken = send("POST", maps(), R"({"apiVersion":"policy/v1beta1","kind":"Eviction","metadata":{"name":"a"}})");
  EXPECT_EQ(taken.code(), 201) << taken.body();
}

TEST_F(WriteTest, CustomResourcesMustSayWhatTheyAre) {
  use_foos();
  const Response other = send("POST", "namespaces/n/foos", R"({"apiVersion":"example.com/v1","kind":"Bar","metadata":{"name":"f"}})");
  EXPECT_EQ(other.code(), 422);
  EXPECT_EQ(message_of(other), "Bar.example.com \"f\" is invalid: kind: Invalid value: \"Bar\": must be Foo");
  const Response version = send("POST", "namespaces/n/foos", R"({"apiVersion":"example.com/v2","kind":"Foo","metadata":{"name":"f"}})");
  EXPECT_EQ(version.code(), 400);
  EXPECT_EQ(message_of(version), "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)");
  EXPECT_EQ(send("POST", "namespaces/n/foos", R"({"metadata":{"name":"f"}})").code(), 400);
}

// They were told of in other words, and a patch took them away.
TEST_F(WriteTest, WhatACustomResourceDoesNotSayOfItselfIsTold) {
  use_foos();
  const auto posted = [this](const std::string& body, const std::string& query = "") {
    return message_of(send("POST", "namespaces/n/foos" + query, body));
  };
  EXPECT_EQ(posted(R"({"apiVersion":"example.com/v1"})"),
            R"(the object provided is unrecognized (must be of type Foo): Object 'Kind' is missing in '{"apiVersion":"example.com/v1"}' )"
            R"(({"apiVersion":"example.com/v1" ...))");
  EXPECT_EQ(posted(R"({"apiVersion":"example.com/v1"})", "?fieldValidation=Ignore"),
            R"(Foo in version "v1" cannot be handled as a Foo: Object 'Kind' is missing in '{"apiVersion":"example.com/v1"}')");
  EXPECT_EQ(posted(R"({"apiVersion":null,"kind":"Foo"})"),
            R"(Foo in version "" cannot be handled as a Foo: .apiVersion accessor error: <nil> is of the type <nil>, expected string)");
  EXPECT_EQ(posted(R"({"apiVersion":"/x","kind":"Foo"})"),
            "the API version in the data (x) does not match the expected API version (example.com/v1)");
  EXPECT_EQ(
      posted(R"({"apiVersion":"x","kind":"Bar","metadata":{"annotations":{"a":1}}})"),
      R"(Bar in version "x" cannot be handled as a Foo: json: cannot unmarshal number into Go struct field ObjectMeta.annotations of type string)");
  // What is something else is not held to the schema.
  EXPECT_EQ(posted(R"({"apiVersion":"x","kind":"Foo","metadata":{"name":"f"},"more":1})", "?fieldValidation=Strict"),
            "the API version in the data (x) does not match the expected API version (example.com/v1)");
  EXPECT_EQ(posted(R"({"apiVersion":"example.com/v1","kind":"Bar","metadata":{"name":"f"},"more":1})", "?fieldValidation=Strict"),
            R"(Bar.example.com "f" is invalid: kind: Invalid value: "Bar": must be Foo)");
  EXPECT_EQ(posted(R"({"apiVersion":"x","kind":"Foo","metadata":{"name":"f","more":1}})", "?fieldValidation=Strict"),
            R"(Foo in version "x" cannot be handled as a Foo: strict decoding error: unknown field "metadata.more")");
}

TEST_F(WriteTest, APatchDoesNotMakeAnotherKindOfACustomResource) {
  use_foos();
  ASSERT_EQ(send("POST", "namespaces/n/foos", R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"f"}})").code(), 201);
  const auto patched = [this](const std::string& patch) {
    return send("PATCH", "namespaces/n/foos/f", patch, {{"Content-Type", "application/merge-patch+json"}});
  };
  EXPECT_EQ(patched(R"({"kind":null})").code(), 422);
  EXPECT_NE(message_of(patched(R"({"kind":""})")).find("Object 'Kind' is missing in '"), std::string::npos);
  EXPECT_EQ(patched(R"({"apiVersion":null})").code(), 500);
  EXPECT_EQ(message_of(patched(R"({"apiVersion":""})")),
            "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'");
  EXPECT_EQ(message_of(patched(R"({"apiVersion":"x"})")), R"(Foo "f" is invalid: apiVersion: Invalid value: "x": must be example.com/v1)");
  EXPECT_EQ(message_of(patched(R"({"kind":"Bar"})")), R"(Bar.example.com "f" is invalid: kind: Invalid value: "Bar": must be Foo)");
}

TEST_F(WriteTest, CustomResourcesAreDefaultedAndSorted) {
  use_foos();
  const Response got =
      send("POST", "namespaces/n/foos", R"({"kind":"Foo","apiVersion":"example.com/v1","spec":{"size":5},"metadata":{"name":"f"}})");
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(
      got.body(),
      R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"f","namespace":"n","resourceVersion":"8","uid":"u-f"},"spec":{"color":"red","size":5}})"
      "\n");
}

TEST_F(WriteTest, ABodyOverTheLimitIsTooLarge) {
  use_config_maps();
  const Response got = send("POST", maps(), std::string(3 * 1024 * 1024 + 1, ' '));
  EXPECT_EQ(got.code(), 413);
  EXPECT_EQ(message_of(got), "Request entity too large: limit is 3145728");
  EXPECT_NE(got.body().find("\"reason\":\"RequestEntityTooLarge\",\"code\":413"), std::string::npos);
}

TEST_F(WriteTest, UnknownContentTypesAreUnsupported) {
  use_config_maps();
  EXPECT_EQ(send("POST", maps(), "{}", {{"Content-Type", "text/plain"}}).code(), 415);
  EXPECT_EQ(send("PUT", maps("/a"), "{}", {{"Content-Type", "text/plain"}}).code(), 415);
}

TEST_F(WriteTest, TheNamespaceOfTheBodyMustBeThatOfThePath) {
  use_config_maps();
  const Response got = send("POST", maps(), R"({"metadata":{"name":"a","namespace":"other"}})");
  EXPECT_EQ(got.code(), 400);
  EXPECT_EQ(message_of(got), "the namespace of the provided object does not match the namespace sent on the request");
}

constexpr std::string_view kOddBody = R"({"metadata":{"name":"a"},"zz":1,"data":{"k":"1","k":"2"}})";

TEST_F(WriteTest, UnknownAndRepeatedFieldsAreWarnedAbout) {
  use_config_maps();
  const Response got = send("POST", maps(), std::string(kOddBody));
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(got.warnings(), (std::vector<std::string>{R"(299 - "unknown field \"zz\"")", R"(299 - "duplicate field \"data.k\"")"}));
}

TEST_F(WriteTest, StrictFieldValidationRefusesThem) {
  use_config_maps();
  const Response got = send("POST", maps("?fieldValidation=Strict"), std::string(kOddBody));
  EXPECT_EQ(got.code(), 400);
  EXPECT_EQ(message_of(got),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"zz\", duplicate field "
            "\"data.k\"");
}

TEST_F(WriteTest, IgnoringFieldValidationSaysNothing) {
  use_config_maps();
  const Response got = send("POST", maps("?fieldValidation=Ignore"), std::string(kOddBody));
  EXPECT_EQ(got.code(), 201);
  EXPECT_TRUE(got.warnings().empty());
}

struct OptionRule {
  std::string query;
  std::string message;
};
TEST_F(WriteTest, OptionsAreValidated) {
  use_config_maps();
  const std::string invalid = "CreateOptions.meta.k8s.io \"\" is invalid: ";
  const std::vector<OptionRule> rules = {
      {"dryRun=Some", invalid + "dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""},
      {"dryRun=All&dryRun=x", invalid + "dryRun: Unsupported value: [\"All\",\"x\"]: supported values: \"All\""},
      {"fieldValidation=x",
       invalid + "fieldValidation: Unsupported value: \"x\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""},
      {"fieldManager=" + std::string(129, 'a'), invalid + "fieldManager: Too long: may not be more than 128 bytes"},
      {"fieldManager=a%07", invalid + "fieldManager: Invalid value: \"a\\a\": invalid character U+0007 (at position 1)"},
  };
  for (const OptionRule& rule : rules) {
    const Response got = send("POST", maps("?" + rule.query), R"({"metadata":{"name":"a"}})");
    EXPECT_EQ(got.code(), 422) << rule.query;
    EXPECT_EQ(message_of(got), rule.message) << rule.query;
  }
}

TEST_F(WriteTest, DryRunReachesStoreAndContext) {
  use_config_maps();
  EXPECT_EQ(send("POST", maps("?dryRun=All&fieldManager=me"), R"({"metadata":{"name":"a"}})").code(), 201);
  EXPECT_TRUE(store_->write_options.dry_run);
  EXPECT_TRUE(store_->was_dry_run);
  EXPECT_EQ(store_->write_options.field_manager, "me");
  EXPECT_TRUE(store_->objects.empty());
}

TEST_F(WriteTest, ACreatedObjectCanBeATable) {
  use_config_maps();
  const Response got = send("POST", maps(), R"({"metadata":{"name":"a"}})", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(json::parse(got.body()).at("kind").get_string(), "Table");
}

// ---- storages that end elsewhere

TEST_F(WriteTest, AStorageThatEndsOnAnotherExecutorIsAnsweredForOnTheConnectionsOwn) {
  use_config_maps();
  IoLoop foreign("foreign");
  foreign.start();
  store_->put(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u-a"}})");
  store_->elsewhere = &foreign;
  struct Case {
    const char* method;
    std::string path;
    std::string body;
    int code;
  };
  const std::vector<Case> cases = {
      {"GET", maps("/a"), "", 200},
      {"GET", maps("/missing"), "", 404},
      {"GET", maps(""), "", 200},
      {"POST", maps(""), R"({"metadata":{"name":"b"}})", 201},
      {"PUT", maps("/a"), R"({"metadata":{"name":"a"},"data":{"k":"2"}})", 200},
      {"PATCH", maps("/a"), R"({"data":{"k":"3"}})", 200},
      {"DELETE", maps("/a"), "", 200},
      {"DELETE", maps(""), "", 200},
  };
  for (const Case& each : cases) {
    Headers headers;
    if (each.method == std::string_view("PATCH")) headers.emplace_back("Content-Type", "application/merge-patch+json");
    const Response got = send(each.method, each.path, each.body, headers);
    EXPECT_EQ(got.code(), each.code) << each.method << " " << each.path << " " << got.body();
    EXPECT_EQ(got.exchange->strangers, 0) << each.method << " " << each.path;
  }
  store_->on_get = [] { throw std::runtime_error("a bug, and far away"); };
  EXPECT_EQ(send("GET", maps("/a")).exchange->strangers, 0);
  store_->elsewhere = nullptr;
  foreign.stop();
}

// ---- PUT

TEST_F(WriteTest, UpdateAnswers200OrWhenItCreated201) {
  use_config_maps();
  store_->put(kStoredMap);
  EXPECT_EQ(send("PUT", maps("/a"), R"({"metadata":{"name":"a"},"data":{"k":"2"}})").code(), 200);
  EXPECT_EQ(send("PUT", maps("/new"), R"({"metadata":{"name":"new"}})").code(), 201);
}

TEST_F(WriteTest, UpdateSendsTheSameObjectAgainWhenItLostARace) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->lost_races = 2;
  const Response got = send("PUT", maps("/a"), R"({"metadata":{"name":"a","resourceVersion":"5","uid":"u-a"},"data":{"k":"2"}})");
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(store_->attempts, 3);
  EXPECT_EQ(json::parse(got.body()).at("data").at("k").get_string(), "2");
  EXPECT_EQ(store_->preconditions.uid, "u-a");
}

TEST_F(WriteTest, UpdateChecksNameAndNamespace) {
  use_config_maps();
  store_->put(kStoredMap);
  EXPECT_EQ(message_of(send("PUT", maps("/a"), R"({"metadata":{"name":"b"}})")),
            "the name of the object (b) does not match the name on the URL (a)");
  EXPECT_EQ(message_of(send("PUT", maps("/a"), "{}")), "the name of the object (a based on URL) was undeterminable: name must be provided");
  EXPECT_EQ(message_of(send("PUT", maps("/a"), R"({"metadata":{"name":"a","namespace":"other"}})")),
            "the namespace of the provided object does not match the namespace sent on the request");
  EXPECT_EQ(store_->attempts, 0);
}

// ---- DELETE

TEST_F(WriteTest, DeleteAnswersWithAStatusThatNamesWhatHasGone) {
  use_config_maps();
  store_->put(kStoredMap);
  const Response got = send("DELETE", maps("/a"));
  EXPECT_EQ(got.code(), 200);
  EXPECT_EQ(got.body(),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"details\":{\"name\":\"a\",\"kind\":"
            "\"configmaps\","
            "\"uid\":\"u-a\"}}\n");
}

TEST_F(WriteTest, ReadErrorsAreIgnoredOnlyUnderTheirGateAndByThoseWhoMay) {
  use_config_maps();
  const std::string asked = "?ignoreStoreReadErrorWithClusterBreakingPotential=true";
  store_->put(kStoredMap);
  EXPECT_EQ(send("DELETE", maps("/a" + asked)).code(), 200);
  EXPECT_FALSE(store_->delete_options.ignore_read_error) << "without the gate it is not there";

  scope_.unsafe_deletes = true;
  handler_ = make_resource_handler(scope_);
  store_->put(kStoredMap);
  authorizer_.asked.clear();
  EXPECT_EQ(send("DELETE", maps("/a" + asked)).code(), 200);
  EXPECT_TRUE(store_->delete_options.ignore_read_error);
  EXPECT_EQ(authorizer_.asked, std::vector<std::string>{" unsafe-delete-ignore-read-errors configmaps n/a"});
  authorizer_.answer = {Decision::kNoOpinion, "not today", {}};
  const Response refused = send("DELETE", maps("/a" + asked));
  EXPECT_EQ(refused.code(), 403);
  EXPECT_EQ(message_of(refused),
            "configmaps \"a\" is forbidden: not permitted to do \"unsafe-delete-ignore-read-errors\", reason: not today");
  EXPECT_EQ(
      message_of(send("DELETE", maps("/a" + asked + "&dryRun=All&gracePeriodSeconds=0"))),
      "DeleteOptions.meta.k8s.io \"\" is invalid: [ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set "
      "together with .dryRun, ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with "
      ".gracePeriodSeconds]");
  const Response collection = send("DELETE", maps(asked));
  EXPECT_EQ(collection.code(), 422);
  EXPECT_NE(message_of(collection).find("is not allowed with DELETECOLLECTION, try again after removing the option"), std::string::npos);
}

TEST_F(WriteTest, DeleteOfAGroupedResourceNamesTheGroup) {
  use_foos();
  store_->put(kStoredFoo);
  EXPECT_EQ(send("DELETE", "namespaces/n/foos/f").body(),
            "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"details\":{\"name\":\"f\",\"group\":"
            "\"example.com\","
            "\"kind\":\"foos\",\"uid\":\"u-f\"}}\n");
}

TEST_F(WriteTest, DeleteAnswersWithTheObjectWhenItStaysOrTheKindReturnsIt) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->stays_when_deleted = true;
  EXPECT_EQ(send("DELETE", maps("/a")).body(), std::string(kStoredMap) + "\n");
  store_->stays_when_deleted = false;
  store_->returns_deleted = true;
  EXPECT_EQ(send("DELETE", maps("/a")).body(), std::string(kStoredMap) + "\n");
}

TEST_F(WriteTest, DeleteIsOnlyAcceptedWhenDependentsAreToGoAndTheObjectStays) {
  use_config_maps();
  store_->put(kStoredMap);
  store_->stays_when_deleted = true;
  EXPECT_EQ(send("DELETE", maps("/a?orphanDependents=false")).code(), 202);
  EXPECT_EQ(send("DELETE", maps("/a?orphanDependents=true")).code(), 200);
  store_->stays_when_deleted = false;
  EXPECT_EQ(send("DELETE", maps("/a?orphanDependents=false")).code(), 200);
}

TEST_F(WriteTest, DeleteOptionsComeFromTheBodyOrTheQuery) {
  use_config_maps();
  store_->put(kStoredMap);
  EXPECT_EQ(send("DELETE", maps("/a?gracePeriodSeconds=5&propagationPolicy=Foreground&dryRun=All")).code(), 200);
  EXPECT_EQ(store_->delete_options.grace_period_seconds, 5);
  EXPECT_EQ(store_->delete_options.propagation_policy, "Foreground");
  EXPECT_TRUE(store_->was_dry_run);
  const std::string body =
      R"({"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":7,"preconditions":{"uid":"u","resourceVersion":"5"},"orphanDependents":true})";
  EXPECT_EQ(send("DELETE", maps("/a?gracePeriodSeconds=5&dryRun=All"), body).code(), 200);
  EXPECT_EQ(store_->delete_options.grace_period_seconds, 7);
  EXPECT_EQ(store_->delete_options.preconditions.uid, "u");
  EXPECT_EQ(store_->delete_options.preconditions.resource_version, "5");
  EXPECT_EQ(store_->delete_options.orphan_dependents, true);
  EXPECT_FALSE(store_->was_dry_run) << "a body hides the query";
}

TEST_F(WriteTest, DeleteOptionsThatCannotBeReadAreBadRequests) {
  use_config_maps();
  store_->put(kStoredMap);
  const std::vector<Refusal> refusals = {
      {R"({"apiVersion":"v1","kind":"Pod"})", "no kind \"Pod\" is registered for version \"v1\" in scheme \"pkg/runtime/scheme.go:111\""},
      {"{bad", "couldn't get version/kind; json parse error: invalid character 'b' looking for beginning of object key string"},
      {R"({"gracePeriodSeconds":"x"})",
       "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64"},
  };
  for (const Refusal& refusal : refusals) {
    const Response got = send("DELETE", maps("/a"), refusal.body);
    EXPECT_EQ(got.code(), 400) << refusal.body;
    EXPECT_EQ(message_of(got), refusal.message);
  }
}

TEST_F(WriteTest, DeleteOptionsThatMayNotStandTogetherAreInvalid) {
  use_config_maps();
  store_->put(kStoredMap);
  const std::string invalid = "DeleteOptions.meta.k8s.io \"\" is invalid: ";
  const std::vector<Refusal> refusals = {
      {R"({"dryRun":["Some"]})", invalid + "dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""},
      {R"({"propagationPolicy":"Orphan","orphanDependents":true})",
       invalid + "propagationPolicy: Invalid value: \"Orphan\": orphanDependents and deletionPropagation cannot be both set"},
      {R"({"propagationPolicy":"Odd"})",
       invalid + "propagationPolicy: Unsupported value: \"Odd\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""},
  };
  for (const Refusal& refusal : refusals) {
    const Response got = send("DELETE", maps("/a"), refusal.body);
    EXPECT_EQ(got.code(), 422) << refusal.body;
    EXPECT_EQ(message_of(got), refusal.message);
  }
}

TEST_F(WriteTest, DeletingACollectionAnswersWithTheListOfWhatHasGone) {
  use_config_maps();
  EXPECT_EQ(send("DELETE", maps("?labelSelector=a%3Db"), "{}").body(),
            "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[]}\n");
  EXPECT_EQ(store_->list_options.labels.to_string(), "a=b");
}

// ---- subresources

class Binding final : public RestStorage, public NamedCreater {
 public:
  explicit Binding(const Schema* schema) : schema_(schema) {}
  GroupVersionKind kind() const override { return {"", "v1", "ConfigMap"}; }
  const Schema* schema() const override { return schema_; }
  Task<Result<ObjectRef>> create_named(RequestContext&, std::string name, Object& object, WriteOptions) override {
    bound = name + "/" + std::string(meta_namespace(object));
    Object status;
    status["kind"] = "Status";
    status["apiVersion"] = "v1";
    status["metadata"] = Object();
    status["status"] = "Success";
    co_return make_object(status);
  }
  std::string bound;

 private:
  const Schema* schema_;
};

TEST_F(WriteTest, AnUpdateThatCreatesIsForThoseWhoMayCreate) {
  use_config_maps();
  authorizer_.answer = {Decision::kNoOpinion, "not today", {}};
  const Response refused = send("PUT", maps("/new"), R"({"metadata":{"name":"new"}})");
  EXPECT_EQ(refused.code(), 403);
  EXPECT_EQ(message_of(refused),
            "configmaps \"new\" is forbidden: User \"\" cannot create resource \"configmaps\" in API group \"\" in the namespace \"n\": "
            "not today");
  EXPECT_EQ(authorizer_.asked, std::vector<std::string>{" create configmaps n/new"});
  EXPECT_TRUE(store_->objects.empty());
  authorizer_.answer = {Decision::kNoOpinion, "", internal_error("lost")};
  EXPECT_EQ(send("PUT", maps("/new"), R"({"metadata":{"name":"new"}})").code(), 500);
  authorizer_.answer = {Decision::kAllow, "", internal_error("lost in part")};
  EXPECT_EQ(send("PUT", maps("/new"), R"({"metadata":{"name":"new"}})").code(), 201);
  authorizer_.asked.clear();
  EXPECT_EQ(send("PUT", maps("/new"), R"({"metadata":{"name":"new"},"data":{"a":"b"}})").code(), 200);
  EXPECT_TRUE(authorizer_.asked.empty()) << "it is there: nobody creates it";
}

// However the path is written, what has been authorized as a watch is one.
TEST_F(WriteTest, AWatchWithTheMethodOfADeletionDeletesNothing) {
  use_config_maps();
  ASSERT_EQ(send("POST", maps(), R"({"metadata":{"name":"a"}})").code(), 201);
  for (const char* path : {"/api/v1/watch/", "//api/v1/watch/"}) {
    auto exchange = std::make_shared<FakeExchange>("DELETE", path + maps("/a"), Headers{}, std::string());
    RequestContext context;
    context.info = info_of(*exchange, "watch/" + maps("/a"));
    context.info.path = path + maps("/a");
    run_on(loop_, run(*handler_, context, *exchange));
    EXPECT_EQ(store_->objects.count("a"), 1u) << path;
  }
}

class CountingAdmission final : public AdmissionRunner {
 public:
  Task<Status> admit(AdmissionAttributes& attributes) override {
    seen.push_back("admit " + attributes.name + " " + attributes.subresource);
    co_return refusal;
  }
  Task<Status> validate(const AdmissionAttributes& attributes) override {
    seen.push_back("validate " + attributes.name);
    co_return Status();
  }
  std::vector<std::string> seen;
  Status refusal;
};

TEST_F(WriteTest, NamedCreatersRunAdmissionAndTheirStatusGetsItsCode) {
  use_config_maps();
  auto binding = std::make_shared<Binding>(store_->schema());
  CountingAdmission admission;
  scope_.storage = binding;
  scope_.subresource = "binding";
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  const Response got = send("POST", maps("/a/binding"), R"({"metadata":{"name":"a"}})");
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(got.body(), "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Success\",\"code\":201}\n");
  EXPECT_EQ(binding->bound, "a/n");
  EXPECT_EQ(admission.seen, (std::vector<std::string>{"admit a binding", "validate a"}));
  EXPECT_EQ(discovery_verbs(*binding, true), std::vector<std::string>{"create"});
  EXPECT_EQ(send("GET", maps("/a/binding")).code(), 405);
}

class Review final : public RestStorage, public Creater {
 public:
  explicit Review(const Schema* schema) : schema_(schema) {}
  GroupVersionKind kind() const override { return {"", "v1", "ConfigMap"}; }
  const Schema* schema() const override { return schema_; }
  Task<Result<ObjectRef>> create(RequestContext&, Object& object, WriteOptions) override {
    ++answered;
    co_return make_object(object);
  }
  int answered = 0;

 private:
  const Schema* schema_;
};

TEST_F(WriteTest, WhatIsAskedAndNotStoredPassesAdmission) {
  use_config_maps();
  auto review = std::make_shared<Review>(store_->schema());
  CountingAdmission admission;
  scope_.storage = review;
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("POST", maps(), R"({"metadata":{"name":"a"}})").code(), 201);
  EXPECT_EQ(admission.seen, (std::vector<std::string>{"admit a ", "validate a"}));
  admission.refusal = forbidden("", "configmaps", "a", "no");
  EXPECT_EQ(send("POST", maps(), R"({"metadata":{"name":"a"}})").code(), 403);
  EXPECT_EQ(review->answered, 1);
}

TEST_F(WriteTest, EveryWriteToAStorageOfAPluginPassesAdmission) {
  use_config_maps();
  store_ = std::make_shared<FakeStore>(scope_.kind, "configmaps", store_->schema());
  CountingAdmission admission;
  scope_.storage = store_;
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  const std::vector<std::string> asked = {"admit a ", "validate a"};
  const auto seen = [&] { return std::exchange(admission.seen, {}); };
  EXPECT_EQ(send("POST", maps(), R"({"metadata":{"name":"a"}})").code(), 201);
  EXPECT_EQ(seen(), asked);
  EXPECT_EQ(send("PUT", maps("/a"), R"({"metadata":{"name":"a"},"data":{"x":"1"}})").code(), 200);
  EXPECT_EQ(seen(), asked);
  EXPECT_EQ(send("PATCH", maps("/a"), R"({"data":{"x":"2"}})", {{"Content-Type", "application/merge-patch+json"}}).code(), 200);
  EXPECT_EQ(seen(), asked);
  const Response applied = send("PATCH", maps("/a?fieldManager=tester&force=true"),
                                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"3"}})",
                                {{"Content-Type", "application/apply-patch+yaml"}});
  EXPECT_EQ(applied.code(), 200);
  EXPECT_NE(applied.body().find(R"("operation":"Apply")"), std::string::npos) << applied.body();
  EXPECT_EQ(seen(), asked);
  admission.refusal = forbidden("", "configmaps", "a", "no");
  EXPECT_EQ(send("PUT", maps("/a"), R"({"metadata":{"name":"a"}})").code(), 403);
  EXPECT_EQ(send("DELETE", maps("/a")).code(), 403);
  EXPECT_EQ(send("DELETE", maps()).code(), 403);
  EXPECT_EQ(store_->objects.count("a"), 1u);
  admission.refusal = Status();
  seen();
  EXPECT_EQ(send("DELETE", maps("/a")).code(), 200);
  EXPECT_EQ(seen(), asked);
}

class Proxy final : public RestStorage, public Connecter {
 public:
  GroupVersionKind kind() const override { return {"", "v1", "PodProxyOptions"}; }
  const Schema* schema() const override { return nullptr; }
  std::vector<std::string> connect_methods() const override { return {"GET", "POST", "HEAD"}; }
  Task<void> connect(RequestContext&, std::string name, Exchange& exchange) override {
    std::vector<SharedBytes> body;
    body.emplace_back("to " + name);
    auto responding = exchange.respond(200, "text/plain", std::move(body));
    co_await std::move(responding);
  }
};

TEST_F(WriteTest, ConnectersGetTheExchangeForTheirMethods) {
  use_config_maps();
  auto proxy = std::make_shared<Proxy>();
  CountingAdmission admission;
  scope_.storage = proxy;
  scope_.subresource = "proxy";
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("GET", maps("/a/proxy/x/y")).body(), "to a");
  EXPECT_EQ(send("HEAD", maps("/a/proxy")).code(), 200);
  EXPECT_EQ(send("PUT", maps("/a/proxy")).code(), 405);
  EXPECT_EQ(message_of(send("POST", maps("/a/proxy?dryRun=All"))), "dryRun is not supported");
  EXPECT_EQ(discovery_verbs(*proxy, true), (std::vector<std::string>{"create", "get"}));
  admission.refusal = forbidden("", "configmaps", "a", "no");
  EXPECT_EQ(send("GET", maps("/a/proxy")).code(), 403);
}

class Dialer final : public RestStorage, public OptionConnecter {
 public:
  GroupVersionKind kind() const override { return {"", "v1", "PodExecOptions"}; }
  const Schema* schema() const override { return nullptr; }
  std::vector<std::string> connect_methods() const override { return {"GET"}; }
  std::vector<ConnectParameter> parameters() const override { return {{"number"}}; }
  bool takes_path() const override { return true; }
  Result<Object> read_options(const RequestContext& context, const Query& query) const override {
    if (query_get(query, "number") == "none") return bad_request("that is no number");
    return Object{{"number", query_get(query, "number")}, {"path", path_behind_subresource(context.info)}};
  }
  Task<Status> connect_with(RequestContext&, std::string name, Object options, Exchange& exchange) override {
    if (get_string(options, "number") == "110") co_return service_unavailable("nobody answers at " + name);
    std::vector<SharedBytes> body;
    body.emplace_back(name + " " + to_json(options));
    auto responding = exchange.respond(200, "text/plain", std::move(body));
    co_await std::move(responding);
    co_return Status();
  }
};

// Sees the options, and changes one.
class NumberChanger final : public AdmissionRunner {
 public:
  std::string seen;
  Task<Status> admit(AdmissionAttributes& attributes) override {
    seen = to_json(*attributes.object);
    (*attributes.object)["number"] = "changed";
    co_return Status();
  }
  Task<Status> validate(const AdmissionAttributes&) override { co_return Status(); }
};

TEST_F(WriteTest, OptionsOfConnectionsAreReadAndPassAdmission) {
  use_config_maps();
  scope_.storage = std::make_shared<Dialer>();
  scope_.subresource = "dial";
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("GET", maps("/a/dial/x/y/?number=1")).body(), R"(a {"number":"1","path":"/x/y/"})");
  EXPECT_EQ(message_of(send("GET", maps("/a/dial?number=none"))), "that is no number");
  const Response refused = send("GET", maps("/a/dial?number=110"));
  EXPECT_EQ(refused.code(), 503);
  EXPECT_EQ(message_of(refused), "nobody answers at a");
  NumberChanger admission;
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("GET", maps("/a/dial?number=2")).body(), R"(a {"number":"changed","path":""})");
  EXPECT_EQ(admission.seen, R"({"number":"2","path":""})");
}

class Teller final : public RestStorage, public StreamGetter {
 public:
  explicit Teller(const Schema* schema) : schema_(schema) {}
  GroupVersionKind kind() const override { return {"", "v1", "ConfigMap"}; }
  const Schema* schema() const override { return schema_; }
  std::vector<std::string> media_types() const override { return {"text/plain"}; }
  std::vector<ConnectParameter> parameters() const override { return {}; }
  Task<Status> get_stream(RequestContext&, std::string name, Exchange& exchange) override {
    if (name == "silent") co_return bad_request("it says nothing");
    std::vector<SharedBytes> body;
    body.emplace_back(name + " says so");
    auto responding = exchange.respond(200, "text/plain", std::move(body));
    co_await std::move(responding);
    co_return Status();
  }

 private:
  const Schema* schema_;
};

TEST_F(WriteTest, StreamsAreReadAndPassNoAdmission) {
  use_config_maps();
  auto teller = std::make_shared<Teller>(store_->schema());
  CountingAdmission admission;
  scope_.storage = teller;
  scope_.subresource = "word";
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("GET", maps("/a/word")).body(), "a says so");
  EXPECT_EQ(message_of(send("GET", maps("/silent/word"))), "it says nothing");
  EXPECT_EQ(send("POST", maps("/a/word")).code(), 405);
  EXPECT_EQ(discovery_verbs(*teller, true), std::vector<std::string>{"get"});
  EXPECT_TRUE(admission.seen.empty());
}

}  // namespace
}  // namespace backplane::testing
