#include <gtest/gtest.h>

#include "common/plugin_test_kit.hpp"
#include "network/default_ingress_class.hpp"
#include "network/external_ips.hpp"

namespace backplane::admission::network {
namespace {

class NetworkTest : public ::testing::Test {
 protected:
  void add_class(const std::string& name, const char* is_default, const char* time = "2026-01-01T00:00:00Z") {
    test_.cache({"networking.k8s.io", "v1", "ingressclasses"}, R"({"metadata":{"name":")" + name + R"(","creationTimestamp":")" + time +
                                                                   R"(","annotations":{"ingressclass.kubernetes.io/is-default-class":")" +
                                                                   is_default + R"("}}})");
  }
  std::string class_after(const AdmissionPlugin& plugin, const char* object) {
    TestWrite write{.resource = {"networking.k8s.io", "v1", "ingresses"}, .ns = "n", .name = "i", .object = object};
    EXPECT_EQ(test_.message(plugin, write), "");
    return std::string(get_string_path(*test_.object, "spec.ingressClassName"));
  }
  PluginUnderTest test_;
};

TEST_F(NetworkTest, IngressesWithoutAClassGetTheNewestDefault) {
  const auto plugin = *make_default_ingress_class(test_.services, {});
  EXPECT_TRUE(plugin->mutates() && !plugin->validates() && !plugin->handles(AdmissionOperation::kUpdate));
  add_class("a", "false");
  EXPECT_EQ(class_after(*plugin, R"({"spec":{}})"), "");
  add_class("c", "true");
  add_class("b", "true");
  EXPECT_EQ(class_after(*plugin, R"({"spec":{}})"), "b");
  add_class("d", "true", "2026-02-01T00:00:00Z");
  EXPECT_EQ(class_after(*plugin, "{}"), "d");
  EXPECT_EQ(class_after(*plugin, R"({"spec":{"ingressClassName":"own"}})"), "own");
  EXPECT_EQ(class_after(*plugin, R"({"metadata":{"annotations":{"kubernetes.io/ingress.class":"x"}}})"), "");
}

TEST_F(NetworkTest, ServicesKeepExternalIPsAndGetNone) {
  const auto plugin = *make_deny_external_ips(test_.services, {});
  EXPECT_TRUE(!plugin->mutates() && plugin->validates() && !plugin->handles(AdmissionOperation::kDelete));
  const std::string refused = "services \"s\" is forbidden: Use of external IPs is denied by admission control";
  struct Row {
    const char *now, *old;
    bool allowed;
  };
  for (const Row& row : {Row{"", "null", true}, Row{"\"1.1.1.1\"", "null", false}, Row{"\"1.1.1.1\"", "", false},
                         Row{"", "\"1.1.1.1\"", true}, Row{"\"1.1.1.1\"", "\"1.1.1.1\"", true},
                         Row{"\"2.2.2.2\"", "\"1.1.1.1\",\"2.2.2.2\"", true}, Row{"\"1.1.1.1\",\"3.3.3.3\"", "\"1.1.1.1\"", false}}) {
    const auto service = [](const char* addresses) { return R"({"spec":{"externalIPs":[)" + std::string(addresses) + "]}}"; };
    TestWrite write{.resource = {"", "v1", "services"}, .ns = "n", .name = "s", .object = service(row.now)};
    if (row.old != std::string_view("null")) {
      write.operation = AdmissionOperation::kUpdate;
      write.old = service(row.old);
    }
    EXPECT_EQ(test_.message(*plugin, write), row.allowed ? "" : refused) << row.now << " / " << row.old;
    write.subresource = "status";
    EXPECT_EQ(test_.message(*plugin, write), "");
  }
}

}  // namespace
}  // namespace backplane::admission::network
