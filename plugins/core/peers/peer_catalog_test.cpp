#include "peers/peer_catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backplane/core/json.hpp"

namespace backplane::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Object parsed(std::string_view text) { return json::parse(text).get_object(); }

// "apps" at "v1" has deployments, and so on.
Object list(std::initializer_list<std::array<std::string, 3>> resources) {
  std::string items;
  for (const auto& [group, version, resource] : resources) {
    items += std::string(items.empty() ? "" : ",") + R"({"metadata":{"name":")" + group + R"("},"versions":[{"version":")" + version +
             R"(","resources":[{"resource":")" + resource + R"("}],"freshness":"Current"}]})";
  }
  return parsed(R"({"kind":"APIGroupDiscoveryList","items":[)" + items + "]}");
}

class PeerCatalogTest : public testing::Test {
 protected:
  static PeerCatalog::PeerRef peer(std::initializer_list<std::array<std::string, 3>> resources) {
    return std::make_shared<const PeerCatalog::Peer>(peer_of(list({{"", "v1", "pods"}}), list(resources)));
  }
  static GroupVersionInfo published(const std::string& group) {
    GroupVersionInfo out;
    out.group_version = {group, "v1"};
    out.published = true;
    return out;
  }
  std::vector<std::string> shown() const {
    std::vector<std::string> out;
    const PeerDiscoveryRef found = catalog_.discovery();
    for (const auto& server : found != nullptr ? found->servers : std::vector<PeerDiscovery::Server>()) {
      for (const Value& group : server.groups) {
        out.push_back(server.id + " " + std::string(get_string(*get_object(group.get_object(), "metadata"), "name")));
      }
    }
    return out;
  }
  PeerCatalog catalog_{"own"};
  const PeerCatalog::Clock::time_point now_ = PeerCatalog::Clock::now();
};

TEST_F(PeerCatalogTest, ResourcesAreFoundAtAllPeersThatServeThem) {
  EXPECT_EQ(catalog_.discovery(), nullptr);
  catalog_.know({{"one", peer({{"apps", "v1", "deployments"}})}, {"two", peer({{"apps", "v1", "deployments"}, {"batch", "v1", "jobs"}})}});
  EXPECT_THAT(catalog_.servers_of({"apps", "v1", "deployments"}), ElementsAre("one", "two"));
  EXPECT_THAT(catalog_.servers_of({"batch", "v1", "jobs"}), ElementsAre("two"));
  EXPECT_THAT(catalog_.servers_of({"batch", "v2", "jobs"}), IsEmpty());
  catalog_.know({{"one", peer({})}});
  EXPECT_THAT(catalog_.servers_of({"batch", "v1", "jobs"}), IsEmpty());
}

TEST_F(PeerCatalogTest, TheCoreGroupIsAskedForAndNotListed) {
  catalog_.know({{"one", peer({{"apps", "v1", "deployments"}})}});
  EXPECT_THAT(catalog_.servers_of({"", "v1", "pods"}), ElementsAre("one"));
  EXPECT_THAT(shown(), ElementsAre("one apps"));
}

TEST_F(PeerCatalogTest, CustomResourcesAreEachServersOwnEvenForAWhileAfterTheyHaveGone) {
  catalog_.know({{"one", peer({{"apps", "v1", "deployments"}, {"example.com", "v1", "widgets"}})}});
  EXPECT_THAT(shown(), ElementsAre("one apps", "one example.com"));
  catalog_.follow({{published("example.com")}, {}}, now_);
  EXPECT_THAT(catalog_.servers_of({"example.com", "v1", "widgets"}), IsEmpty());
  EXPECT_THAT(shown(), ElementsAre("one apps"));
  catalog_.follow({{}, {{"example.com", "v1"}}}, now_);
  catalog_.forget_removed(now_ + PeerCatalog::kGrace - std::chrono::seconds(1));
  EXPECT_THAT(catalog_.servers_of({"example.com", "v1", "widgets"}), IsEmpty());
  catalog_.forget_removed(now_ + PeerCatalog::kGrace);
  EXPECT_THAT(catalog_.servers_of({"example.com", "v1", "widgets"}), ElementsAre("one"));
  EXPECT_THAT(shown(), ElementsAre("one apps", "one example.com"));
}

TEST_F(PeerCatalogTest, AChangeThatConcernsNoPeerMakesNoOtherDocument) {
  catalog_.know({{"one", peer({{"apps", "v1", "deployments"}})}});
  const PeerDiscoveryRef before = catalog_.discovery();
  catalog_.follow({{published("example.com")}, {}}, now_);
  EXPECT_EQ(catalog_.discovery(), before);
  GroupVersionInfo built_in;
  built_in.group_version = {"apps", "v1"};
  catalog_.follow({{built_in}, {}}, now_);
  EXPECT_EQ(catalog_.discovery(), before) << "what is built in may be served by some and not by others";
}

}  // namespace
}  // namespace backplane::core
