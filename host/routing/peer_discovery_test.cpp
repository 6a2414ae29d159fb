#include "routing/peer_discovery.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace backplane {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

TEST(MergeOrders, AListThatHasAllIsTakenAsItIs) {
  EXPECT_EQ(merge_orders({{"c", "a"}, {"c", "b", "a"}}), (Words{"c", "b", "a"}));
  EXPECT_EQ(merge_orders({}), Words());
}

TEST(MergeOrders, WhatPrecedesAnotherInAnyListPrecedesItAndTheRestGoesByTheAlphabet) {
  EXPECT_EQ(merge_orders({{"b", "d"}, {"c", "d"}, {"a"}}), (Words{"a", "b", "c", "d"}));
  EXPECT_EQ(merge_orders({{"z", "m"}, {"m", "a"}}), (Words{"z", "m", "a"}));
}

TEST(MergeOrders, ContradictoryListsAreMergedAlphabetically) {
  EXPECT_EQ(merge_orders({{"b", "a", "x"}, {"a", "b", "y"}}), (Words{"a", "b", "x", "y"}));
}

constexpr std::string_view kHead = R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[)";

std::string document(const std::string& groups) { return std::string(kHead) + groups + "]}\n"; }

std::string group(const std::string& name, const std::string& versions) {
  return R"({"metadata":{"name":")" + name + R"("},"versions":[)" + versions + "]}";
}

std::string version(const std::string& name, const std::string& resources) {
  return R"({"version":")" + name + R"(","resources":[)" + resources + R"(],"freshness":"Current"})";
}

std::string resource(const std::string& name, const std::string& verbs, const std::string& more = "") {
  return R"({"resource":")" + name + R"(","verbs":[)" + verbs + "]" + more + "}";
}

PeerDiscovery one_peer(const std::string& id, const std::string& groups) {
  PeerDiscovery out;
  out.own_id = "own";
  out.servers.push_back({id, json::parse("[" + groups + "]").get_array()});
  return out;
}

TEST(WithPeers, PeersThatHaveTheSameChangeNothing) {
  const std::string groups =
      group("apps", version("v1", resource("deployments", R"("get","list")"))) + "," + group("batch", version("v1", ""));
  EXPECT_EQ(with_peers(document(groups), one_peer("peer", groups)), document(groups));
}

TEST(WithPeers, GroupsVersionsAndResourcesOfPeersComeWhereTheyHaveThem) {
  const std::string own = group("apps", version("v1", resource("deployments", R"("get")")));
  const std::string theirs = group("alpha", version("v1", resource("things", R"("get")"))) + "," +
                             group("apps", version("v2", resource("deployments", R"("get")")) + "," +
                                               version("v1", resource("deployments", R"("get")") + "," + resource("sets", R"("list")")));
  EXPECT_EQ(with_peers(document(own), one_peer("peer", theirs)), document(theirs));
}

TEST(WithPeers, AResourceThatTwoServeDifferentlyHasTheVerbsAndSubresourcesOfBoth) {
  const std::string own =
      group("apps", version("v1", resource("sets", R"("watch","get")", R"(,"subresources":[{"subresource":"status"}])")));
  const std::string theirs = group("apps", version("v1", resource("sets", R"("list")", R"(,"subresources":[{"subresource":"scale"}])")));
  const std::string both = group("apps", version("v1", resource("sets", R"("get","list","watch")",
                                                                R"(,"subresources":[{"subresource":"scale"},{"subresource":"status"}])")));
  EXPECT_EQ(with_peers(document(own), one_peer("peer", theirs)), document(both));
}

// The peer with the first ID decides about differences, and about the order if nothing else defines it.
TEST(WithPeers, TheOrderOfServersIsThatOfTheirIds) {
  const std::string own = group("apps", version("v1", resource("sets", "")));
  const std::string theirs = group("apps", version("v1", resource("sets", R"("get")", R"(,"scope":"Cluster")")));
  EXPECT_EQ(with_peers(document(own), one_peer("a", theirs)), document(theirs));
  const std::string ours_first = group("apps", version("v1", resource("sets", R"("get")")));
  EXPECT_EQ(with_peers(document(own), one_peer("z", theirs)), document(ours_first));
}

}  // namespace
}  // namespace backplane
