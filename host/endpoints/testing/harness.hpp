// For tests only: a handler for a fake storage, and functions that send requests to it.
//
// Thread-safety: each object belongs to one test.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/io_loop.hpp"
#include "endpoints/resource_handler.hpp"
#include "endpoints/testing/fake_exchange.hpp"
#include "endpoints/testing/fake_store.hpp"

namespace backplane::testing {

inline constexpr std::string_view kCoreSchema = R"({"definitions":{
  "io.k8s.api.core.v1.ConfigMap":{"x-kubernetes-group-version-kind":[{"group":"","kind":"ConfigMap","version":"v1"}],"type":"object",
    "properties":{
      "TypeMeta":{"allOf":[{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}],"x-backplane-inline":true},
      "metadata":{"allOf":[{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}],"default":{}},
      "immutable":{"type":"boolean","x-backplane-pointer":true},
      "data":{"type":"object","additionalProperties":{"type":"string","default":""}}}},
  "io.k8s.api.core.v1.Pod":{"x-kubernetes-group-version-kind":[{"group":"","kind":"Pod","version":"v1"}],"type":"object",
    "properties":{
      "TypeMeta":{"allOf":[{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"}],"x-backplane-inline":true},
      "metadata":{"allOf":[{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}],"default":{}},
      "spec":{"allOf":[{"$ref":"#/definitions/io.k8s.api.core.v1.PodSpec"}],"default":{}}}},
  "io.k8s.api.core.v1.PodSpec":{"type":"object","properties":{
      "containers":{"type":"array","items":{"allOf":[{"$ref":"#/definitions/io.k8s.api.core.v1.Container"}],"default":{}},
        "x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"},
      "restartPolicy":{"type":"string","default":"Always"}}},
  "io.k8s.api.core.v1.Container":{"type":"object","properties":{
      "name":{"type":"string","default":""},"image":{"type":"string"},
      "ports":{"type":"array","items":{"allOf":[{"$ref":"#/definitions/io.k8s.api.core.v1.ContainerPort"}],"default":{}},
        "x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"containerPort"}}},
  "io.k8s.api.core.v1.ContainerPort":{"type":"object","properties":{"containerPort":{"type":"integer","format":"int32","default":0}}}}})";

inline constexpr std::string_view kFooSchema = R"({"x-backplane-mode":"structural","definitions":{
  "com.example.v1.Foo":{"x-kubernetes-group-version-kind":[{"group":"example.com","kind":"Foo","version":"v1"}],"type":"object","properties":{
    "apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object"},
    "spec":{"type":"object","properties":{"size":{"type":"integer"},"color":{"type":"string","default":"red"}}}}}}})";

struct Response {
  std::shared_ptr<FakeExchange> exchange;
  int code() const { return exchange->code; }
  const std::string& body() const { return exchange->response_body; }
  const std::string& type() const { return exchange->content_type; }
  std::vector<std::string> warnings() const { return exchange->headers_named("Warning"); }
};

// Returns the member "message" of a Status body.
inline std::string message_of(const Response& response) {
  json::error_code error;
  const Value tree = json::parse(response.body(), error);
  return error || !tree.is_object() ? std::string() : std::string(get_string(tree.get_object(), "message"));
}

// Returns `answer` for each check, and records the checks in `asked`.
class FakeAuthorizer final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "fake"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override {
    asked.push_back(attributes.user->name + " " + attributes.verb + " " + attributes.resource + " " + attributes.ns + "/" +
                    attributes.name);
    co_return answer;
  }
  AuthorizerResult answer{Decision::kAllow, {}, {}};
  std::vector<std::string> asked;
};

// The test fixture. Its resource is config maps, pods, or the custom kind Foo: see the use functions.
class Api : public ::testing::Test {
 protected:
  Api() { loop_.start(); }
  ~Api() override { loop_.stop(); }

  void use(GroupVersionKind kind, std::string resource, std::string_view document) {
    const std::array<std::string_view, 1> documents = {document};
    auto schemas = SchemaSet::compile(documents);
    ASSERT_TRUE(schemas.ok()) << schemas.status().message();
    schemas_ = *schemas;
    ASSERT_NE(schemas_->find(kind), nullptr);
    const Status known = scheme_->add_known_types(kind.group_version(), schemas_, "test");
    ASSERT_TRUE(known.ok()) << known.message();
    store_ = std::make_shared<FakeHostStore>(kind, resource, schemas_->find(kind));
    scope_ = ResourceScope();
    scope_.resource = {kind.group, kind.version, resource};
    scope_.kind = kind;
    scope_.storage = store_;
    scope_.published = schemas_->find(kind)->structural();
    scope_.scheme = &published_scheme_;
    scope_.authorizer = &authorizer_;
    handler_ = make_resource_handler(scope_);
  }
  void use_config_maps() { use({"", "v1", "ConfigMap"}, "configmaps", kCoreSchema); }
  void use_pods() { use({"", "v1", "Pod"}, "pods", kCoreSchema); }
  void use_foos() { use({"example.com", "v1", "Foo"}, "foos", kFooSchema); }

  // `path`: the part after the group version, for example "namespaces/n/configmaps/a?x=y". There is no Content-Type header unless `headers`
  // has one, because JSON is the default.
  Response send(std::string method, std::string path, std::string body = {}, Headers headers = {}) {
    auto exchange = std::make_shared<FakeExchange>(std::move(method), scope_.kind.group_version().path() + "/" + path, std::move(headers),
                                                   std::move(body));
    send(*exchange, path);
    return {exchange};
  }
  void send(FakeExchange& exchange, const std::string& path) {
    RequestContext context;
    context.info = info_of(exchange, path);
    context.deadline = deadline_;
    exchange.expected_executor = &loop_;
    run_on(loop_, run(*handler_, context, exchange));
  }

  // Parses the part of a path after the group version, like routing does.
  RequestInfo info_of(const FakeExchange& exchange, std::string path) const {
    RequestInfo info;
    info.is_resource_request = true;
    info.api_group = scope_.kind.group;
    info.api_version = scope_.kind.version;
    if (const auto question = path.find('?'); question != std::string::npos) {
      info.query = parse_query_leniently(std::string_view(path).substr(question + 1), info.query_error);
    }
    const bool asks_to_watch = path.find("watch=true") != std::string::npos;
    path.resize(std::min(path.find('?'), path.size()));
    info.path = scope_.kind.group_version().path() + "/" + path;
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= path.size();) {
      const auto end = std::min(path.find('/', begin), path.size());
      parts.push_back(path.substr(begin, end - begin));
      begin = end + 1;
    }
    const bool under_watch = parts.front() == "watch";
    if (under_watch) parts.erase(parts.begin());
    if (parts.size() > 2 && parts.front() == "namespaces") {
      info.ns = parts[1];
      parts.erase(parts.begin(), parts.begin() + 2);
    }
    info.parts = parts;
    info.resource = parts[0];
    if (parts.size() > 1) info.name = parts[1];
    if (parts.size() > 2) info.subresource = parts[2];
    info.verb = verb_of(exchange.method(), info.name.empty());
    if (under_watch || (asks_to_watch && info.name.empty())) info.verb = "watch";
    return info;
  }

  IoLoop loop_{"test"};
  FakeAuthorizer authorizer_;
  const std::shared_ptr<Scheme> scheme_ = std::make_shared<Scheme>();
  const kit::Published<Scheme> published_scheme_{scheme_};
  std::shared_ptr<const SchemaSet> schemas_;
  std::shared_ptr<FakeStore> store_;
  ResourceScope scope_;
  std::shared_ptr<HttpHandler> handler_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();  // the deadline of every request

  static Task<void> run(HttpHandler& handler, RequestContext& context, FakeExchange& exchange) {
    co_await handler.handle(context, exchange);
  }

 private:
  static std::string verb_of(std::string_view method, bool collection) {
    if (method == "GET" || method == "HEAD") return collection ? "list" : "get";
    if (method == "POST") return "create";
    if (method == "PUT") return "update";
    if (method == "PATCH") return "patch";
    if (method == "DELETE") return collection ? "deletecollection" : "delete";
    return "";
  }
};

inline constexpr std::string_view kStoredMap =
    R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u-a","resourceVersion":"5","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"x":"y"}},"data":{"k":"1"}})";
inline constexpr std::string_view kStoredFoo =
    R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"creationTimestamp":"2026-01-01T00:00:00Z","generation":1,"name":"f","namespace":"n","ownerReferences":[{"apiVersion":"v1","controller":true,"kind":"Pod","name":"p","uid":"u"}],"resourceVersion":"5","uid":"u-f"},"spec":{"color":"red","size":5}})";

}  // namespace backplane::testing
