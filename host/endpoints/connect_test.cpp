// Subresources that send their own responses: connecters and streams.
#include "backplane/rest/connect.hpp"
#include "endpoints/testing/write_cases.hpp"

namespace backplane::testing {
namespace {

using ConnectTest = Api;

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

TEST_F(ConnectTest, ConnectersGetTheExchangeForTheirMethods) {
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
    return Object{{"number", query_get(query, "number")}, {"path", path_after_subresource(context.info)}};
  }
  Task<Status> connect_with(RequestContext&, std::string name, Object options, Exchange& exchange) override {
    if (get_string(options, "number") == "110") co_return service_unavailable("no server listens at " + name);
    std::vector<SharedBytes> body;
    body.emplace_back(name + " " + to_json(options));
    auto responding = exchange.respond(200, "text/plain", std::move(body));
    co_await std::move(responding);
    co_return Status();
  }
};

// Checks the options, and changes one of them.
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

TEST_F(ConnectTest, OptionsOfConnectionsAreReadAndPassAdmission) {
  use_config_maps();
  scope_.storage = std::make_shared<Dialer>();
  scope_.subresource = "dial";
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("GET", maps("/a/dial/x/y/?number=1")).body(), R"(a {"number":"1","path":"/x/y/"})");
  EXPECT_EQ(message_of(send("GET", maps("/a/dial?number=none"))), "that is no number");
  const Response refused = send("GET", maps("/a/dial?number=110"));
  EXPECT_EQ(refused.code(), 503);
  EXPECT_EQ(message_of(refused), "no server listens at a");
  NumberChanger admission;
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("GET", maps("/a/dial?number=2")).body(), R"(a {"number":"changed","path":""})");
  EXPECT_EQ(admission.seen, R"({"number":"2","path":""})");
}

class TextStorage final : public RestStorage, public StreamGetter {
 public:
  explicit TextStorage(const Schema* schema) : schema_(schema) {}
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

TEST_F(ConnectTest, StreamsAreReadAndPassNoAdmission) {
  use_config_maps();
  auto text_storage = std::make_shared<TextStorage>(store_->schema());
  CountingAdmission admission;
  scope_.storage = text_storage;
  scope_.subresource = "word";
  scope_.admission = &admission;
  handler_ = make_resource_handler(scope_);
  EXPECT_EQ(send("GET", maps("/a/word")).body(), "a says so");
  EXPECT_EQ(message_of(send("GET", maps("/silent/word"))), "it says nothing");
  EXPECT_EQ(send("POST", maps("/a/word")).code(), 405);
  EXPECT_EQ(discovery_verbs(*text_storage, true), std::vector<std::string>{"get"});
  EXPECT_TRUE(admission.seen.empty());
}

}  // namespace
}  // namespace backplane::testing
