#include "namespaces/kubernetes_service.hpp"

#include <gtest/gtest.h>

namespace backplane::core {
namespace {

Object parse(std::string_view text) { return json::parse(json::string_view(text.data(), text.size())).get_object(); }

constexpr std::string_view kOwn =
    R"({"metadata":{"labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}},)"
    R"("subsets":[{"addresses":[{"ip":"10.1.2.3"}],"ports":[{"name":"https","port":6443,"protocol":"TCP"}]}]})";

TEST(KubernetesEndpoints, HoldThisServerAloneAndAreThenLeftAlone) {
  Object endpoints = parse(R"({"metadata":{"name":"kubernetes"}})");
  EXPECT_TRUE(set_kubernetes_endpoints(endpoints, {"10.1.2.3"}, 6443));
  endpoints["metadata"].get_object().erase("name");
  EXPECT_EQ(to_json(endpoints), kOwn);
  EXPECT_FALSE(set_kubernetes_endpoints(endpoints, {"10.1.2.3"}, 6443));
}

TEST(KubernetesEndpoints, WhatSomebodyElseWroteIsReplaced) {
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
  EXPECT_TRUE(set_kubernetes_slice(slice, {"10.1.2.3", "10.1.2.4"}, 6443));
  EXPECT_EQ(slice.at("endpoints").get_array().size(), 2u);
  EXPECT_FALSE(set_kubernetes_slice(slice, {"10.1.2.3", "10.1.2.4"}, 6443));
}

TEST(KubernetesEndpoints, TheLastServerLeavesNone) {
  Object endpoints = parse(kOwn);
  EXPECT_TRUE(set_kubernetes_endpoints(endpoints, {}, 6443));
  EXPECT_EQ(find(endpoints, "subsets"), nullptr);
  EXPECT_FALSE(set_kubernetes_endpoints(endpoints, {}, 6443));
}

constexpr std::string_view kOwnSlice =
    R"({"metadata":{"labels":{"kubernetes.io/service-name":"kubernetes"}},)"
    R"("endpoints":[{"addresses":["10.1.2.3"],"conditions":{"ready":true}}],"ports":[{"name":"https","protocol":"TCP","port":6443}]})";

TEST(KubernetesSlice, HoldsThisServerAloneAndIsThenLeftAlone) {
  Object slice;
  EXPECT_TRUE(set_kubernetes_slice(slice, {"10.1.2.3"}, 6443));
  EXPECT_EQ(to_json(slice), kOwnSlice);
  EXPECT_FALSE(set_kubernetes_slice(slice, {"10.1.2.3"}, 6443));
  slice.at("metadata").get_object().at("labels").get_object()["a"] = "b";
  EXPECT_TRUE(set_kubernetes_slice(slice, {"10.1.2.3"}, 6443));
  EXPECT_EQ(to_json(slice), kOwnSlice);
}

TEST(KubernetesSlice, TheLastServerLeavesItEmpty) {
  Object slice = parse(kOwnSlice);
  EXPECT_TRUE(set_kubernetes_slice(slice, {}, 6443));
  EXPECT_EQ(to_json(slice), R"({"metadata":{"labels":{"kubernetes.io/service-name":"kubernetes"}},"endpoints":[],"ports":[]})");
  slice["endpoints"] = nullptr;
  EXPECT_FALSE(set_kubernetes_slice(slice, {}, 6443));
}

}  // namespace
}  // namespace backplane::core
