#include "cluster.hpp"

namespace backplane::core_test {
namespace {

using Names = std::vector<std::string>;

class RepairTest : public ServicesTest {
 protected:
  static std::string entry(const std::string& address, const std::string& service, const std::string& made = "2020-01-01T00:00:00Z") {
    Object object = core::Addresses::object(address, "default", service);
    object.at("metadata").get_object()["creationTimestamp"] = made;
    return to_json(object);
  }
};

TEST_F(RepairTest, MissingEntriesOfServicesAreRestored) {
  Server& server = serve();
  ASSERT_TRUE(server.create("a", R"({"type":"NodePort","clusterIP":"10.0.0.7","ports":[{"port":80,"nodePort":30007}]})").ok());
  erase("/registry/ipaddresses/10.0.0.7");
  erase("/registry/ranges/servicenodeports");
  ASSERT_TRUE(server.run(server.repair->run_once()).ok());
  EXPECT_EQ(held(), Names{"10.0.0.7"});
  EXPECT_EQ(ports(), (std::vector<std::int64_t>{30007}));
  EXPECT_EQ(server.events, (Names{"ClusterIPNotAllocated: Cluster IP [IPv4]: 10.0.0.7 is not allocated; repairing",
                                  "PortNotAllocated: Port 30007 is not allocated; repairing"}));
  ASSERT_TRUE(server.remove("a").ok());
  EXPECT_TRUE(held().empty()) << "what was restored belongs to the service again";
  EXPECT_TRUE(ports().empty());
}

TEST_F(RepairTest, AddressesOfMissingServicesAreFreed) {
  Server& server = serve();
  ASSERT_TRUE(server.create("a", R"({"clusterIP":"10.0.0.7","ports":[{"port":80}]})").ok());
  put("/registry/ipaddresses/10.0.0.8", entry("10.0.0.8", "gone"));
  put("/registry/ipaddresses/10.0.0.9", entry("10.0.0.9", "coming", now_rfc3339()));
  put("/registry/ipaddresses/10.0.0.10",
      R"({"kind":"IPAddress","apiVersion":"networking.k8s.io/v1","metadata":{"name":"10.0.0.10"},"spec":{"parentRef":{"resource":"x","name":"y"}}})");
  ASSERT_TRUE(server.run(server.repair->run_once()).ok());
  EXPECT_EQ(held(), (Names{"10.0.0.10", "10.0.0.7", "10.0.0.9"})) << "a young entry and one that a client created stay";
  EXPECT_EQ(server.events,
            Names{"IPAddressNotAllocated: IPAddress: 10.0.0.8 for Service default/gone appears to have leaked: cleaning up"});
}

TEST_F(RepairTest, AnAddressGoesToTheServiceThatHasIt) {
  Server& server = serve();
  ASSERT_TRUE(server.create("a", R"({"clusterIP":"10.0.0.7","ports":[{"port":80}]})").ok());
  put("/registry/ipaddresses/10.0.0.7", entry("10.0.0.7", "gone"));
  ASSERT_TRUE(server.run(server.repair->run_once()).ok());
  const Object object = json::parse(stored("/registry/ipaddresses/")[0].value.view()).as_object();
  EXPECT_EQ(text(object, "spec.parentRef.name"), "a");
  EXPECT_EQ(server.events,
            Names{"ClusterIPNotAllocated: the ClusterIP [IPv4]: 10.0.0.7 for Service default/a has a wrong reference; repairing"});
}

TEST_F(RepairTest, ConflictsThatCannotBeRepairedAreReported) {
  Server& server = serve();
  ASSERT_TRUE(server.create("a", R"({"type":"NodePort","clusterIP":"10.0.0.7","ports":[{"port":80,"nodePort":30007}]})").ok());
  std::string copy(stored("/registry/services/specs/")[0].value.view());
  copy.replace(copy.find(R"("name":"a")"), 10, R"("name":"b")");
  put("/registry/services/specs/default/b", copy);
  server.set_service_cidrs({R"({"kind":"ServiceCIDR","apiVersion":"networking.k8s.io/v1","spec":{"cidrs":["10.0.0.0/24"]}})"});
  ASSERT_TRUE(server.run(server.repair->run_once()).ok());
  EXPECT_EQ(server.events, (Names{"ClusterIPAlreadyAllocated: Cluster IP [IPv4]:10.0.0.7 was assigned to multiple services; "
                                  "please recreate service",
                                  "PortAlreadyAllocated: Port 30007 was assigned to multiple services; please recreate service"}));
  server.events.clear();
  server.set_service_cidrs({R"({"kind":"ServiceCIDR","apiVersion":"networking.k8s.io/v1","spec":{"cidrs":["10.1.0.0/24"]}})"});
  ASSERT_TRUE(server.run(server.repair->run_once()).ok());
  ASSERT_FALSE(server.events.empty());
  EXPECT_EQ(server.events[0],
            "ClusterIPOutOfRange: Cluster IP [IPv4]: 10.0.0.7 is not within any configured Service CIDR; please recreate service");
  EXPECT_EQ(held(), Names{"10.0.0.7"});
}

TEST_F(RepairTest, AnEntryThatNoLongerNamesAServiceIsFreed) {
  Server& server = serve();
  std::string other = entry("10.0.0.8", "x");
  other.replace(other.find(R"("resource":"services")"), 21, R"("resource":"gateways")");
  put("/registry/ipaddresses/10.0.0.8", other);
  ASSERT_TRUE(server.run(server.repair->run_once()).ok());
  EXPECT_TRUE(held().empty());
  EXPECT_EQ(server.events, Names{"IPAddressNotAllocated: IPAddress 10.0.0.8 appears to have been modified, not referencing a Service "
                                 "&{ gateways default x}: cleaning up"});
}

TEST_F(RepairTest, ALeakedPortIsFreedWhenThreePassesHaveSeenIt) {
  Server& server = serve();
  core::PortMap map;
  map.set(30005);
  put("/registry/ranges/servicenodeports", to_json(map.object({})));
  for (int pass = 1; pass <= 2; ++pass) {
    ASSERT_TRUE(server.run(server.repair->run_once()).ok());
    EXPECT_EQ(ports().size(), 1u) << "pass " << pass;
  }
  ASSERT_TRUE(server.run(server.repair->run_once()).ok());
  EXPECT_TRUE(ports().empty());
}

}  // namespace
}  // namespace backplane::core_test
