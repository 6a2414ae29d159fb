// Tests of bodies of POST and PUT: errors and their messages, unknown fields, custom resources.
#include "backplane/kit/forwarding_storage.hpp"
#include "endpoints/testing/write_cases.hpp"

namespace backplane::testing {
namespace {

using WriteBodyTest = Api;

// managedFields are not parsed at first.
TEST_F(WriteBodyTest, APutIsReadToItsEndBeforeAnythingElseIsSaidOfIt) {
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

// Returns an error without decoding the body.
class RefusingStore final : public kit::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  Task<Result<UpdateResult>> update(RequestContext&, std::string name, UpdatedObjectInfo&, WriteOptions, bool) override {
    co_return conflict("", "configmaps", name, "it is being deleted");
  }
};
TEST_F(WriteBodyTest, ErrorsInsideThePutObjectPrecedeARefusalWithoutIt) {
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

TEST_F(WriteBodyTest, BodiesThatCannotBeReadAreRefusedWithUpstreamsMessages) {
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

TEST_F(WriteBodyTest, AnotherVersionOfTheKindIsRefusedForItsVersion) {
  use_config_maps();
  const Schema* schema = schemas_->find({"", "v1", "ConfigMap"});
  ASSERT_TRUE(scheme_->add_known_type({"", "v2", "ConfigMap"}, schema, schemas_, "test").ok());
  const Response got = send("POST", maps(), R"({"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"}})");
  EXPECT_EQ(got.code(), 400);
  EXPECT_EQ(message_of(got), "the API version in the data (v2) does not match the expected API version (v1)");
}

TEST_F(WriteBodyTest, MetaKindsAndOldVersionsAreKnownKinds) {
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

TEST_F(WriteBodyTest, AnOldVersionOfTheKindIsRefusedForItsVersionUnlessItIsTaken) {
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

TEST_F(WriteBodyTest, CustomResourcesMustSayWhatTheyAre) {
  use_foos();
  const Response other = send("POST", "namespaces/n/foos", R"({"apiVersion":"example.com/v1","kind":"Bar","metadata":{"name":"f"}})");
  EXPECT_EQ(other.code(), 422);
  EXPECT_EQ(message_of(other), "Bar.example.com \"f\" is invalid: kind: Invalid value: \"Bar\": must be Foo");
  const Response version = send("POST", "namespaces/n/foos", R"({"apiVersion":"example.com/v2","kind":"Foo","metadata":{"name":"f"}})");
  EXPECT_EQ(version.code(), 400);
  EXPECT_EQ(message_of(version), "the API version in the data (example.com/v2) does not match the expected API version (example.com/v1)");
  EXPECT_EQ(send("POST", "namespaces/n/foos", R"({"metadata":{"name":"f"}})").code(), 400);
}

// Regression: the messages differed from upstream's, and a patch dropped the fields.
TEST_F(WriteBodyTest, AMissingKindOrVersionOfACustomResourceIsReported) {
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
  // A body of another kind is not validated against the schema.
  EXPECT_EQ(posted(R"({"apiVersion":"x","kind":"Foo","metadata":{"name":"f"},"more":1})", "?fieldValidation=Strict"),
            "the API version in the data (x) does not match the expected API version (example.com/v1)");
  EXPECT_EQ(posted(R"({"apiVersion":"example.com/v1","kind":"Bar","metadata":{"name":"f"},"more":1})", "?fieldValidation=Strict"),
            R"(Bar.example.com "f" is invalid: kind: Invalid value: "Bar": must be Foo)");
  EXPECT_EQ(posted(R"({"apiVersion":"x","kind":"Foo","metadata":{"name":"f","more":1}})", "?fieldValidation=Strict"),
            R"(Foo in version "x" cannot be handled as a Foo: strict decoding error: unknown field "metadata.more")");
}

TEST_F(WriteBodyTest, APatchDoesNotMakeAnotherKindOfACustomResource) {
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

TEST_F(WriteBodyTest, CustomResourcesAreDefaultedAndSorted) {
  use_foos();
  const Response got =
      send("POST", "namespaces/n/foos", R"({"kind":"Foo","apiVersion":"example.com/v1","spec":{"size":5},"metadata":{"name":"f"}})");
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(
      got.body(),
      R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"f","namespace":"n","resourceVersion":"8","uid":"u-f"},"spec":{"color":"red","size":5}})"
      "\n");
}

TEST_F(WriteBodyTest, ABodyOverTheLimitIsTooLarge) {
  use_config_maps();
  const Response got = send("POST", maps(), std::string(3 * 1024 * 1024 + 1, ' '));
  EXPECT_EQ(got.code(), 413);
  EXPECT_EQ(message_of(got), "Request entity too large: limit is 3145728");
  EXPECT_NE(got.body().find("\"reason\":\"RequestEntityTooLarge\",\"code\":413"), std::string::npos);
}

TEST_F(WriteBodyTest, UnknownContentTypesAreUnsupported) {
  use_config_maps();
  EXPECT_EQ(send("POST", maps(), "{}", {{"Content-Type", "text/plain"}}).code(), 415);
  EXPECT_EQ(send("PUT", maps("/a"), "{}", {{"Content-Type", "text/plain"}}).code(), 415);
}

TEST_F(WriteBodyTest, TheNamespaceOfTheBodyMustBeThatOfThePath) {
  use_config_maps();
  const Response got = send("POST", maps(), R"({"metadata":{"name":"a","namespace":"other"}})");
  EXPECT_EQ(got.code(), 400);
  EXPECT_EQ(message_of(got), "the namespace of the provided object does not match the namespace sent on the request");
}

constexpr std::string_view kBodyWithProblems = R"({"metadata":{"name":"a"},"zz":1,"data":{"k":"1","k":"2"}})";

TEST_F(WriteBodyTest, UnknownAndRepeatedFieldsAreWarnedAbout) {
  use_config_maps();
  const Response got = send("POST", maps(), std::string(kBodyWithProblems));
  EXPECT_EQ(got.code(), 201);
  EXPECT_EQ(got.warnings(), (std::vector<std::string>{R"(299 - "unknown field \"zz\"")", R"(299 - "duplicate field \"data.k\"")"}));
}

TEST_F(WriteBodyTest, StrictFieldValidationRefusesThem) {
  use_config_maps();
  const Response got = send("POST", maps("?fieldValidation=Strict"), std::string(kBodyWithProblems));
  EXPECT_EQ(got.code(), 400);
  EXPECT_EQ(message_of(got),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"zz\", duplicate field "
            "\"data.k\"");
}

TEST_F(WriteBodyTest, IgnoredFieldValidationHasNoWarnings) {
  use_config_maps();
  const Response got = send("POST", maps("?fieldValidation=Ignore"), std::string(kBodyWithProblems));
  EXPECT_EQ(got.code(), 201);
  EXPECT_TRUE(got.warnings().empty());
}

}  // namespace
}  // namespace backplane::testing
