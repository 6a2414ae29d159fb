// Tests of Accept and Content-Type, and of the methods of a path.
#include "endpoints/negotiation.hpp"

#include <ctime>

#include "endpoints/testing/harness.hpp"

namespace backplane::testing {
namespace {

using endpoints::Shape;

Result<endpoints::MediaType> negotiated(const Exchange& exchange, const endpoints::Offers& offers, bool cbor = false) {
  RequestContext context;
  context.offers_cbor = cbor;
  return endpoints::negotiate(context, exchange, offers);
}
Result<endpoints::BodyFormat> input_format(const Exchange& exchange, bool cbor = false) {
  RequestContext context;
  context.offers_cbor = cbor;
  return endpoints::negotiate_input(context, exchange);
}
Result<endpoints::MediaType> accepted(std::string accept, bool cbor = false) {
  const FakeExchange exchange("GET", "/api/v1/pods", {{"Accept", std::move(accept)}}, "");
  return negotiated(exchange, {true, nullptr}, cbor);
}
// The media type of the response; nullopt if no type is acceptable.
std::string answered(std::string accept, bool cbor = false) {
  const auto media = accepted(std::move(accept), cbor);
  return media.ok() ? std::string(media->content_type()) : std::string();
}

TEST(Negotiation, WithoutAcceptTheAnswerIsJson) {
  const FakeExchange exchange("GET", "/x", {}, "");
  const auto media = negotiated(exchange, {true, nullptr});
  ASSERT_TRUE(media.ok());
  EXPECT_EQ(media->content_type(), "application/json");
  EXPECT_FALSE(media->pretty);
}

TEST(Negotiation, TheBestQualityWins) {
  EXPECT_EQ(answered("application/json;q=0.2, application/yaml;q=0.8"), "application/yaml");
  EXPECT_EQ(answered("text/html, application/json;q=0.1"), "application/json");
  EXPECT_EQ(answered("application/yaml, application/json"), "application/yaml");
}

TEST(Negotiation, WildcardsAreTheFirstEncoding) {
  EXPECT_EQ(answered("*/*"), "application/json");
  EXPECT_EQ(answered("*"), "application/json");
  EXPECT_EQ(answered("application/*"), "application/json");
  EXPECT_EQ(answered("text/html, */*;q=0.5"), "application/json");
}

TEST(Negotiation, ProtobufIsForObjectsThatHaveSuchAForm) {
  static const auto meta = meta_schemas();
  const Schema* status = meta->find("io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  const auto chosen = [&](std::string accept) {
    const FakeExchange exchange("GET", "/api/v1/pods", {{"Accept", std::move(accept)}}, "");
    const auto media = negotiated(exchange, {true, status});
    return media.ok() ? std::string(media->content_type()) : std::string();
  };
  EXPECT_EQ(chosen("application/vnd.kubernetes.protobuf,application/json"), "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(chosen("application/json,application/vnd.kubernetes.protobuf"), "application/json");
  EXPECT_EQ(chosen("application/vnd.kubernetes.protobuf;q=0.5,application/json;q=0.4"), "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(chosen("application/vnd.kubernetes.protobuf;stream=watch"), "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(chosen("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
            "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(chosen("application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1"), "");
  EXPECT_EQ(chosen("application/*"), "application/json");
}

TEST(Negotiation, ProtobufIsPassedOverWhereThereIsNoSuchForm) {
  EXPECT_EQ(answered("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
            "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(answered("application/vnd.kubernetes.protobuf,application/json"), "application/json");
  const auto refused = accepted("application/vnd.kubernetes.protobuf");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), 406);
  EXPECT_EQ(refused.status().message(),
            "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf")
      << "upstream lists what it serves, not what the object can be";
}

TEST(Negotiation, ShapesNeedKindGroupAndVersion) {
  EXPECT_EQ(accepted("application/json;as=Table;v=v1;g=meta.k8s.io")->shape, Shape::kTable);
  EXPECT_TRUE(accepted("application/json;as=Table;v=v1beta1;g=meta.k8s.io")->beta);
  EXPECT_EQ(accepted("application/yaml;as=Table;v=v1;g=meta.k8s.io")->shape, Shape::kTable);
  EXPECT_FALSE(accepted("application/json;as=Table;v=v9;g=meta.k8s.io").ok());
  EXPECT_FALSE(accepted("application/json;as=Table;v=v1").ok());
}

TEST(Negotiation, AnUnknownShapeFallsThroughToTheNextClause) {
  EXPECT_EQ(accepted("application/json;as=Nothing;v=v1;g=meta.k8s.io, application/json")->shape, Shape::kObject);
  EXPECT_EQ(
      accepted("application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json")->shape,
      Shape::kTable);
}

TEST(Negotiation, AStorageWithoutATableRefusesTables) {
  const FakeExchange exchange("GET", "/", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}}, "");
  endpoints::Offers offers{true, nullptr, false};
  EXPECT_FALSE(negotiated(exchange, offers).ok());
  offers.tables = true;
  EXPECT_TRUE(negotiated(exchange, offers).ok());
}

TEST(Negotiation, ShapesAreNotForErrors) {
  const FakeExchange exchange("GET", "/x", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}}, "");
  EXPECT_FALSE(negotiated(exchange, {}).ok());
}

TEST(Negotiation, StreamIsAParameterOfJsonOnly) {
  EXPECT_TRUE(accepted("application/json;stream=watch").ok());
  EXPECT_FALSE(accepted("application/yaml;stream=watch").ok());
  EXPECT_FALSE(accepted("application/json;stream=other").ok());
}

TEST(Negotiation, TheServersVersionIsV1OfMetaAndNoneForErrors) {
  EXPECT_TRUE(accepted("application/json;sv=v1").ok());
  EXPECT_TRUE(accepted("application/json;sv=").ok());
  EXPECT_FALSE(accepted("application/json;sv=v2").ok());
  const FakeExchange exchange("GET", "/x", {{"Accept", "application/json;sv=v1"}}, "");
  EXPECT_FALSE(negotiated(exchange, {}).ok());
}

TEST(Negotiation, MalformedClausesArePassedOver) {
  EXPECT_FALSE(accepted("json").ok());
  EXPECT_TRUE(accepted("a/b/c, application/json;q").ok());
}

TEST(Negotiation, ManyClausesCostNoMoreThanASort) {
  std::string header;
  for (int i = 0; i < 60000; ++i) header += "text/plain;q=0." + std::to_string(100 + i % 800) + ",";
  const auto begin = std::clock();
  EXPECT_TRUE(accepted(header + "application/yaml;q=0.9,application/json;q=0.95").ok());
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 2.0) << "an insertion sort takes ten times as long";
}

TEST(Negotiation, ContentTypeParametersAndCaseDoNotMatter) {
  const auto input = [](std::string type) {
    const FakeExchange exchange("POST", "/x", {{"Content-Type", std::move(type)}}, "");
    return input_format(exchange);
  };
  EXPECT_EQ(*input(""), endpoints::BodyFormat::kJson);
  EXPECT_EQ(*input("application/json; charset=utf-8"), endpoints::BodyFormat::kJson);
  EXPECT_EQ(*input("Application/JSON"), endpoints::BodyFormat::kJson);
  EXPECT_EQ(*input("application/yaml"), endpoints::BodyFormat::kYaml);
  EXPECT_EQ(*input("application/vnd.kubernetes.protobuf"), endpoints::BodyFormat::kProtobuf);
  for (const char* type : {"text/plain", "application/xml", "*/*"}) {
    const auto refused = input(type);
    ASSERT_FALSE(refused.ok()) << type;
    EXPECT_EQ(refused.status().code(), 415);
    EXPECT_EQ(refused.status().message(),
              "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, "
              "application/vnd.kubernetes.protobuf");
  }
}

using RouteTest = Api;

TEST_F(RouteTest, TheRouterRefusesTypesThatThePathDoesNotProduce) {
  use_config_maps();
  for (const char* accept : {"text/html", "application/*", "application/cbor"}) {
    const Response got = send("GET", "namespaces/n/configmaps", "", {{"Accept", accept}});
    EXPECT_EQ(got.code(), 406) << accept;
    EXPECT_EQ(message_of(got),
              "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, "
              "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch");
    EXPECT_TRUE(json::parse(got.body()).at("details").get_object().empty());
  }
  EXPECT_EQ(message_of(send("GET", "namespaces/n/configmaps/a", "", {{"Accept", "text/html"}})),
            "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

TEST_F(RouteTest, AnErrorThatFitsNoClauseIsIndentedJson) {
  use_config_maps();
  const Response got = send("GET", "namespaces/n/configmaps", "", {{"Accept", "text/html"}});
  EXPECT_EQ(got.type(), "application/json");
  EXPECT_TRUE(got.body().starts_with("{\n  \"kind\": \"Status\",\n"));
  EXPECT_TRUE(got.body().ends_with("\n}"));
}

TEST_F(RouteTest, ErrorsComeInTheEncodingThatIsAccepted) {
  use_config_maps();
  const Response got = send("GET", "namespaces/n/configmaps/none", "", {{"Accept", "application/yaml"}});
  EXPECT_EQ(got.type(), "application/yaml");
  EXPECT_TRUE(got.body().starts_with("apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n"));
}

TEST_F(RouteTest, MethodsWithoutARouteAreNotAllowed) {
  use_config_maps();
  const std::vector<std::pair<std::string, std::string>> wrong = {{"PUT", "namespaces/n/configmaps"},
                                                                  {"PATCH", "namespaces/n/configmaps"},
                                                                  {"POST", "namespaces/n/configmaps/x"},
                                                                  {"POST", "watch/namespaces/n/configmaps"},
                                                                  {"POST", "configmaps"},
                                                                  {"DELETE", "configmaps"},
                                                                  {"HEAD", "namespaces/n/configmaps"},
                                                                  {"OPTIONS", "namespaces/n/configmaps"},
                                                                  {"TRACE", "namespaces/n/configmaps"},
                                                                  {"FOO", "namespaces/n/configmaps"}};
  for (const auto& [method, path] : wrong) {
    const Response got = send(method, path, "{}");
    EXPECT_EQ(got.code(), 405) << method << " " << path;
    EXPECT_EQ(
        got.body(),
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"the server does not allow this "
        "method on the requested resource\",\"reason\":\"MethodNotAllowed\",\"details\":{},\"code\":405}\n");
  }
}

TEST_F(RouteTest, APathThatNoActionHasIsNotFound) {
  class OnlyCreate final : public RestStorage, public Scoper, public Creater {
   public:
    GroupVersionKind kind() const override { return {"", "v1", "Binding"}; }
    const Schema* schema() const override { return nullptr; }
    bool namespaced() const override { return true; }
    Task<Result<ObjectRef>> create(RequestContext&, Object&, WriteOptions) override { co_return internal_error("not asked"); }
  };
  use_config_maps();
  scope_.storage = std::make_shared<OnlyCreate>();
  scope_.deprecation.warning = "v1 Binding is deprecated";
  handler_ = make_resource_handler(scope_);
  for (const char* path : {"namespaces/n/bindings/x", "watch/bindings", "watch/namespaces/n/bindings", "bindings"}) {
    const Response got = send("GET", path);
    EXPECT_EQ(got.code(), 404) << path;
    EXPECT_EQ(message_of(got), "the server could not find the requested resource");
  }
  const Response got = send("GET", "namespaces/n/bindings?watch=true");
  EXPECT_EQ(got.code(), 405);
  EXPECT_EQ(message_of(got), "the server does not allow this method on the requested resource");
  EXPECT_TRUE(got.warnings().empty()) << "no handler, no deprecation warning";
}

TEST_F(RouteTest, CustomResourcesAreServedByTheVerbAlone) {
  use_foos();
  Response got = send("OPTIONS", "namespaces/n/foos");
  EXPECT_EQ(got.code(), 405);
  EXPECT_EQ(message_of(got), " is not supported on resources of kind \"foos.example.com\"");
  got = send("PUT", "namespaces/n/foos", "{}");
  EXPECT_EQ(got.code(), 400);
  EXPECT_EQ(message_of(got), "name must be provided");
  store_->put(kStoredFoo);
  EXPECT_EQ(send("HEAD", "namespaces/n/foos").code(), 200);
  EXPECT_EQ(send("HEAD", "namespaces/n/foos/f").code(), 200);
}

TEST_F(RouteTest, AStrategicPatchOfACustomResourcesScaleIsAnUnsupportedMediaType) {
  use_config_maps();
  scope_.published = true;
  handler_ = make_resource_handler(scope_);
  const Response got = send("PATCH", "namespaces/n/configmaps/a/scale", "{}", {{"Content-Type", "application/strategic-merge-patch+json"}});
  EXPECT_EQ(got.code(), 415);
  EXPECT_EQ(message_of(got),
            "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "
            "application/merge-patch+json, application/apply-patch+yaml");
}

TEST_F(RouteTest, DiscoveryVerbsFollowTheRoles) {
  use_config_maps();
  EXPECT_EQ(discovery_verbs(*store_, false),
            (std::vector<std::string>{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}));
}

TEST_F(RouteTest, RetryAfterFollowsTheDetails) {
  use_config_maps();
  store_->watch_error = timeout("busy", 3);
  const Response got = send("GET", "namespaces/n/configmaps?watch=true");
  EXPECT_EQ(got.code(), 504);
  EXPECT_EQ(got.exchange->headers_named("Retry-After"), std::vector<std::string>{"3"});
}

TEST(NegotiationOfCbor, IsOfferedIfItsGateIsOn) {
  const auto input = [](bool cbor) {
    const FakeExchange exchange("POST", "/x", {{"Content-Type", "application/cbor"}}, "");
    return input_format(exchange, cbor);
  };
  EXPECT_FALSE(accepted("application/cbor").ok());
  EXPECT_EQ(input(false).status().code(), 415);
  EXPECT_EQ(answered("application/cbor", true), "application/cbor");
  EXPECT_EQ(answered("application/cbor;stream=watch", true), "application/cbor");
  EXPECT_EQ(answered("application/cbor;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", true), "application/cbor");
  EXPECT_FALSE(accepted("application/cbor;as=Table;g=meta.k8s.io;v=v1", true).ok());
  EXPECT_EQ(answered("*/*", true), "application/json") << "it is the last";
  EXPECT_EQ(*input(true), endpoints::BodyFormat::kCbor);
  EXPECT_EQ(accepted("text/html", true).status().message(),
            "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf, "
            "application/cbor");
  const FakeExchange sequence("GET", "/api/v1/pods?watch=1", {{"Accept", "application/cbor-seq"}}, "");
  RequestContext context;
  context.offers_cbor = true;
  EXPECT_TRUE(endpoints::check_route_accept(context, sequence, true).ok());
  EXPECT_FALSE(endpoints::check_route_accept(context, sequence, false).ok());
  context.offers_cbor = false;
  EXPECT_FALSE(endpoints::check_route_accept(context, sequence, true).ok());
}

}  // namespace
}  // namespace backplane::testing
