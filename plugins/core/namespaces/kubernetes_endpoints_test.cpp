#include "namespaces/kubernetes_endpoints.hpp"

#include <gtest/gtest.h>

namespace backplane::core {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

constexpr std::string_view kOwn =
    R"({"metadata":{"labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}},)"
    R"("subsets":[{"addresses":[{"ip":"10.1.2.3"}],"ports":[{"name":"https","port":6443,"protocol":"TCP"}]}]})";

TEST(KubernetesEndpoints, HoldOnlyThisServerAndAreThenNotChanged) {
  Object endpoints = parse(R"({"metadata":{"name":"kubernetes"}})");
  EXPECT_TRUE(set_kubernetes_endpoints(endpoints, {"10.1.2.3"}, 6443));
  endpoints["metadata"].get_object().erase("name");
  EXPECT_EQ(to_json(endpoints), kOwn);
  EXPECT_FALSE(set_kubernetes_endpoints(endpoints, {"10.1.2.3"}, 6443));
}

TEST(KubernetesEndpoints, OtherWritersEndpointsAreReplaced) {
  Object endpoints =
      parse(R"({"metadata":{"labels":{"a":"b"}},"subsets":[{"addresses":[{"ip":"10.9.9.9"},{"ip":"10.1.2.3"}],"ports":[{"port":1}]},{}]})");
  EXPECT_TRUE(set_kubernetes_endpoints(endpoints, {"10.1.2.3"}, 6443));
  EXPECT_EQ(to_json(*get_array(endpoints, "subsets")), to_json(*get_array(parse(kOwn), "subsets")));
  EXPECT_EQ(get_string_path(endpoints, "metadata.labels.a"), "b");
}

TEST(KubernetesEndpoints, HoldEveryServerOverTheStore) {
  Object endpoints, slice;
  EXPECT_TRUE(set_kubernetes_endpoints(endpoints, {"10.1.2.3", "10.1.2.4"}, 6443));
  EXPECT_EQ(to_json(endpoints.at("subsets").at(0).at("addresses")), R"([{"ip":"10.1.2.3"},{"ip":"10.1.2.4"}])");
  EXPECT_FALSE(set_kubernetes_endpoints(endpoints, {"10.1.2.3", "10.1.2.4"}, 6443));
  EXPECT_TRUE(set_kubernetes_slice(slice, endpoints));
  EXPECT_EQ(slice.at("endpoints").get_array().size(), 2u);
  EXPECT_FALSE(set_kubernetes_slice(slice, endpoints));
}

TEST(KubernetesEndpoints, TheLastServerLeavesNone) {
  Object endpoints = parse(kOwn);
  EXPECT_TRUE(set_kubernetes_endpoints(endpoints, {}, 6443));
  EXPECT_EQ(find(endpoints, "subsets"), nullptr);
  EXPECT_FALSE(set_kubernetes_endpoints(endpoints, {}, 6443));
}

std::string addresses_of(const Object& endpoints) {
  std::string out;
  for (const Value& address : endpoints.at("subsets").at(0).at("addresses").get_array()) {
    const std::string_view ip = get_string(address.get_object(), "ip");
    out.append(out.empty() ? "" : " ").append(ip);
  }
  return out;
}

TEST(KubernetesEndpointsByCount, AddressesAreAddedUpToTheNumberOfServers) {
  Object endpoints;
  EXPECT_TRUE(add_kubernetes_address(endpoints, "10.1.2.3", 6443, 2));
  EXPECT_EQ(to_json(endpoints), kOwn);
  EXPECT_FALSE(add_kubernetes_address(endpoints, "10.1.2.3", 6443, 2));
  EXPECT_TRUE(add_kubernetes_address(endpoints, "10.1.2.2", 7443, 2));
  EXPECT_EQ(addresses_of(endpoints), "10.1.2.2 10.1.2.3");
  EXPECT_EQ(endpoints.at("subsets").at(0).at("ports").at(0).at("port"), 6443) << "the ports are those of the first server";
  EXPECT_FALSE(add_kubernetes_address(endpoints, "10.1.2.3", 6443, 2));
}

TEST(KubernetesEndpointsByCount, SurplusAddressesAfterTheOwnOneAreRemovedFirst) {
  Object endpoints;
  for (const char* address : {"10.0.0.1", "10.0.0.2", "10.0.0.4"}) add_kubernetes_address(endpoints, address, 6443, 3);
  EXPECT_TRUE(add_kubernetes_address(endpoints, "10.0.0.3", 6443, 3));
  EXPECT_EQ(addresses_of(endpoints), "10.0.0.1 10.0.0.2 10.0.0.3");
  EXPECT_TRUE(add_kubernetes_address(endpoints, "10.0.0.5", 6443, 3));
  EXPECT_EQ(addresses_of(endpoints), "10.0.0.2 10.0.0.3 10.0.0.5");
  EXPECT_TRUE(add_kubernetes_address(endpoints, "10.0.0.5", 6443, 1)) << "it holds the address, and too many others";
  EXPECT_EQ(addresses_of(endpoints), "10.0.0.5");
}

TEST(KubernetesEndpointsByCount, EndpointsWithSeveralSubsetsAreReplaced) {
  Object endpoints = parse(R"({"subsets":[{"addresses":[{"ip":"10.9.9.9"}]},{}]})");
  EXPECT_TRUE(add_kubernetes_address(endpoints, "10.1.2.3", 6443, 2));
  EXPECT_EQ(addresses_of(endpoints), "10.1.2.3");
}

TEST(KubernetesEndpointsByCount, RemovalOfAnAddressLeavesTheOthers) {
  Object endpoints;
  EXPECT_FALSE(remove_kubernetes_address(endpoints, "10.0.0.1"));
  for (const char* address : {"10.0.0.1", "10.0.0.2"}) add_kubernetes_address(endpoints, address, 6443, 2);
  EXPECT_TRUE(remove_kubernetes_address(endpoints, "10.0.0.1"));
  EXPECT_FALSE(remove_kubernetes_address(endpoints, "10.0.0.1"));
  EXPECT_EQ(addresses_of(endpoints), "10.0.0.2");
  EXPECT_TRUE(remove_kubernetes_address(endpoints, "10.0.0.2"));
  EXPECT_EQ(find(endpoints, "subsets"), nullptr);
}

TEST(KubernetesSlice, HoldsAddressesOfOneTypeAndWhatIsSaidOfThem) {
  Object slice;
  const Object mixed = parse(R"({"subsets":[{"addresses":[{"ip":"10.1.2.3","nodeName":"a"},{"ip":"fd00::1"}],)"
                             R"("notReadyAddresses":[{"ip":"10.1.2.4"}],"ports":[{"port":1,"protocol":"TCP"}]}]})");
  EXPECT_EQ(kubernetes_slice_type(mixed), "IPv4");
  set_kubernetes_slice(slice, mixed);
  EXPECT_EQ(to_json(slice.at("endpoints")), R"([{"addresses":["10.1.2.3"],"conditions":{"ready":true},"nodeName":"a"},)"
                                            R"({"addresses":["10.1.2.4"],"conditions":{"ready":false}}])");
  EXPECT_EQ(to_json(slice.at("ports")), R"([{"name":"","protocol":"TCP","port":1}])");
  EXPECT_EQ(kubernetes_slice_type(parse(R"({"subsets":[{"addresses":[{"ip":"fd00::1"}]}]})")), "IPv6");
}

constexpr std::string_view kOwnSlice =
    R"({"metadata":{"labels":{"kubernetes.io/service-name":"kubernetes"}},)"
    R"("endpoints":[{"addresses":["10.1.2.3"],"conditions":{"ready":true}}],"ports":[{"name":"https","protocol":"TCP","port":6443}]})";

TEST(KubernetesSlice, HoldsOnlyThisServerAndIsThenNotChanged) {
  Object slice;
  EXPECT_TRUE(set_kubernetes_slice(slice, parse(kOwn)));
  EXPECT_EQ(to_json(slice), kOwnSlice);
  EXPECT_FALSE(set_kubernetes_slice(slice, parse(kOwn)));
  slice.at("metadata").get_object().at("labels").get_object()["a"] = "b";
  EXPECT_TRUE(set_kubernetes_slice(slice, parse(kOwn)));
  EXPECT_EQ(to_json(slice), kOwnSlice);
}

TEST(KubernetesSlice, TheLastServerLeavesItEmpty) {
  Object slice = parse(kOwnSlice);
  EXPECT_TRUE(set_kubernetes_slice(slice, Object()));
  EXPECT_EQ(to_json(slice), R"({"metadata":{"labels":{"kubernetes.io/service-name":"kubernetes"}},"endpoints":[],"ports":[]})");
  slice["endpoints"] = nullptr;
  EXPECT_FALSE(set_kubernetes_slice(slice, Object()));
}

}  // namespace
}  // namespace backplane::core
