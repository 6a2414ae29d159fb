#include "backplane/net/service_resolver.hpp"

#include <gtest/gtest.h>

#include <set>

#include "fake_host.hpp"

namespace backplane {
namespace {

using test::FakeHost;
using test::FakeStore;

Task<void> ask(std::shared_ptr<ServiceResolver> resolver, std::string ns, std::string name, int port, Result<std::string>& out) {
  auto asking = resolver->resolve(std::move(ns), std::move(name), port);
  out = co_await std::move(asking);
}

class ServiceResolverTest : public testing::Test {
 protected:
  ServiceResolverTest() {
    for (const char* resource : {"services", "endpointslices"}) {
      ResourceConfig config;
      config.kind = {"", "v1", resource};
      host_.served[resource] = std::make_shared<FakeStore>(std::move(config));
    }
  }
  ~ServiceResolverTest() override {
    host_.stop.fire();
    host_.turns.run_until_idle(true);
    EXPECT_EQ(host_.running, 0);
  }
  // Returns the address, or the text of the error.
  std::string resolve(int port = 443, std::string name = "a", std::string ns = "n") {
    if (!resolver_) resolver_ = make_service_resolver(host_);
    Result<std::string> out;
    host_.spawn("ask", ask(resolver_, std::move(ns), std::move(name), port, out));
    host_.turns.run_until_idle();
    return out.ok() ? *out : out.status().message();
  }
  void put(const char* resource, const std::string& text) {
    static_cast<FakeStore&>(*host_.served[resource]).put(json::parse(text).as_object(), WatchEvent::Type::kModified);
    host_.turns.run_until_idle();
  }
  void serve(const std::string& spec) { put("services", R"({"metadata":{"namespace":"n","name":"a"},"spec":)" + spec + "}"); }
  void slice(const std::string& name, const std::string& rest) {
    put("endpointslices",
        R"({"metadata":{"namespace":"n","name":")" + name + R"(","labels":{"kubernetes.io/service-name":"a"}},)" + rest + "}");
  }

  FakeHost host_;
  std::shared_ptr<ServiceResolver> resolver_;
};

TEST_F(ServiceResolverTest, AServiceIsItsClusterAddressOrExternalName) {
  EXPECT_EQ(resolve(), R"(service "a" not found)");
  serve(R"({"type":"ClusterIP","clusterIP":"10.0.0.1","ports":[{"port":443},{"port":8443}]})");
  EXPECT_EQ(resolve(), "10.0.0.1:443");
  EXPECT_EQ(resolve(8443), "10.0.0.1:8443");
  EXPECT_EQ(resolve(80), R"(no service port 80 found for service "a")");
  serve(R"({"type":"NodePort","clusterIP":"fd00::1","ports":[{"port":443}]})");
  EXPECT_EQ(resolve(), "[fd00::1]:443");
  serve(R"({"type":"ClusterIP","clusterIP":"None","ports":[{"port":443}]})");
  EXPECT_EQ(resolve(), R"(cannot route to service with ClusterIP "None")");
  serve(R"({"type":"ExternalName","externalName":"example.com"})");
  EXPECT_EQ(resolve(7), "example.com:7");
  serve(R"({"type":"Odd"})");
  EXPECT_EQ(resolve(), R"(unsupported service type "Odd")");
}

TEST_F(ServiceResolverTest, KubernetesIsThisServer) {
  host_.flags["bind-address"] = "0.0.0.0";
  host_.flags["secure-port"] = "7443";
  EXPECT_EQ(resolve(443, "kubernetes", "default"), "127.0.0.1:7443");
  EXPECT_EQ(resolve(80, "kubernetes", "default"), R"(service "kubernetes" not found)");
}

TEST_F(ServiceResolverTest, WithAggregatorRoutingItIsOneOfItsReadyEndpointsInTurn) {
  host_.flags["enable-aggregator-routing"] = "true";
  serve(R"({"type":"ClusterIP","clusterIP":"10.0.0.1","ipFamilies":["IPv4"],"ports":[{"name":"https","port":443}]})");
  EXPECT_EQ(resolve(), R"(no endpoints available for service "a")");
  slice("a-1",
        R"("addressType":"IPv4","ports":[{"name":"http","port":1},{"name":"https","port":6443}],"endpoints":[{"addresses":["10.1.0.1"]},
    {"addresses":["10.1.0.2"],"conditions":{"ready":false}},{"addresses":["10.1.0.3"],"conditions":{"ready":true}}])");
  slice("a-2", R"("addressType":"IPv6","ports":[{"name":"https","port":6443}],"endpoints":[{"addresses":["fd00::1"]}])");
  std::set<std::string> seen;
  for (int i = 0; i < 6; ++i) seen.insert(resolve());
  EXPECT_EQ(seen, (std::set<std::string>{"10.1.0.1:6443", "10.1.0.3:6443"})) << "the first family before the other";
  slice("a-1", R"("addressType":"IPv4","ports":[{"name":"https"}],"endpoints":[{"addresses":["10.1.0.1"]}])");
  EXPECT_EQ(resolve(), "[fd00::1]:6443");
  EXPECT_EQ(resolve(80), R"(no service port 80 found for service "a")");
  serve(R"({"type":"ExternalName","externalName":"example.com"})");
  EXPECT_EQ(resolve(), R"(unsupported service type "ExternalName")");
}

}  // namespace
}  // namespace backplane
