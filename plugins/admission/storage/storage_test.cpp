#include <gtest/gtest.h>

#include "backplane/core/text.hpp"
#include "common/plugin_test_kit.hpp"
#include "storage/claims.hpp"
#include "storage/in_use_protection.hpp"

namespace backplane::admission::storage {
namespace {

constexpr const char* kDefault = R"("storageclass.kubernetes.io/is-default-class":"true")";
constexpr const char* kBetaDefault = R"("storageclass.beta.kubernetes.io/is-default-class":"true")";

class StorageTest : public ::testing::Test {
 protected:
  void add_class(const std::string& name, const std::string& annotations, const std::string& members = "",
                 const char* time = "2026-01-01T00:00:00Z") {
    test_.cache({"storage.k8s.io", "v1", "storageclasses"}, R"({"metadata":{"name":")" + name + R"(","creationTimestamp":")" + time +
                                                                R"(","annotations":{)" + annotations + "}}" + members + "}");
  }
  static TestWrite claim_write(std::string object) {
    TestWrite write{.resource = {"", "v1", "persistentvolumeclaims"}, .ns = "n", .name = "c"};
    write.object = std::move(object);
    return write;
  }
  // The claim's class after admission.
  std::string class_after(const AdmissionPlugin& plugin, std::string object) {
    EXPECT_EQ(test_.message(plugin, claim_write(std::move(object))), "");
    return std::string(get_string_path(*test_.object, "spec.storageClassName"));
  }
  PluginUnderTest test_;
};

TEST_F(StorageTest, ClaimsWithoutAClassGetTheNewestDefault) {
  const auto plugin = *make_default_storage_class(test_.services, {});
  EXPECT_TRUE(plugin->mutates() && !plugin->validates());
  EXPECT_EQ(class_after(*plugin, R"({"spec":{}})"), "");
  add_class("none", "");
  add_class("no", R"("storageclass.kubernetes.io/is-default-class":"false")");
  EXPECT_EQ(class_after(*plugin, R"({"spec":{}})"), "");
  add_class("b", kDefault);
  add_class("c", kBetaDefault);
  EXPECT_EQ(class_after(*plugin, R"({"spec":{}})"), "b");
  add_class("z", kDefault, "", "2026-01-02T00:00:00Z");
  EXPECT_EQ(class_after(*plugin, R"({"spec":{}})"), "z");
  EXPECT_EQ(class_after(*plugin, R"({"spec":{"storageClassName":"own"}})"), "own");
  EXPECT_EQ(class_after(*plugin, R"({"spec":{"storageClassName":""}})"), "");
  EXPECT_EQ(class_after(*plugin, R"({"metadata":{"annotations":{"volume.beta.kubernetes.io/storage-class":""}},"spec":{}})"), "");
}

TEST_F(StorageTest, ClaimsWaitForTheFirstListOfClassesThatAreServed) {
  const auto plugin = *make_default_storage_class(test_.services, {});
  const auto& pauses = test_.host.turns.delays;
  add_class("b", kDefault);
  test_.host.all_groups.fire();
  EXPECT_EQ(class_after(*plugin, R"({"spec":{}})"), "b");  // not served
  test_.store({"storage.k8s.io", "v1", "storageclasses"}, "StorageClass");
  EXPECT_EQ(test_.message(*plugin, {.resource = {"", "v1", "configmaps"}, .object = "{}"}), "");
  EXPECT_EQ(pauses.size(), 0u);
  EXPECT_EQ(class_after(*plugin, R"({"spec":{}})"), "b");
  EXPECT_EQ(pauses.size(), 100u);
}

std::string claim(const std::string& size, const std::string& storage_class, const std::string& phase = "Bound") {
  return R"({"spec":{"storageClassName":")" + storage_class + R"(","resources":{"requests":{"storage":")" + size +
         R"("}}},"status":{"phase":")" + phase + R"("}})";
}

TEST_F(StorageTest, OnlyBoundClaimsOfAClassThatAllowsItGrow) {
  const auto plugin = *make_claim_resize(test_.services, {});
  EXPECT_TRUE(!plugin->mutates() && plugin->handles(AdmissionOperation::kUpdate) && !plugin->handles(AdmissionOperation::kCreate));
  add_class("grows", "", R"(,"allowVolumeExpansion":true)");
  add_class("fixed", "", R"(,"allowVolumeExpansion":false)");
  add_class("silent", "");
  const std::string refused = "persistentvolumeclaims \"c\" is forbidden: ";
  const std::string unsupported =
      refused + "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize";
  struct Row {
    std::string now, old, message;
  };
  for (const Row& row :
       {Row{claim("2Gi", "grows"), claim("1Gi", "grows"), ""}, Row{claim("1Gi", "fixed"), claim("1Gi", "fixed"), ""},
        Row{claim("1023Mi", "fixed"), claim("1Gi", "fixed"), ""},
        Row{claim("2Gi", "grows"), claim("1Gi", "grows", "Pending"), refused + "Only bound persistent volume claims can be expanded"},
        Row{claim("2Gi", "fixed"), claim("1Gi", "fixed"), unsupported}, Row{claim("2Gi", "silent"), claim("1Gi", "silent"), unsupported},
        Row{claim("2Gi", "missing"), claim("1Gi", "missing"), unsupported}, Row{claim("2Gi", ""), claim("1Gi", ""), unsupported},
        Row{claim("2Gi", "grows"), claim("1Gi", "fixed"), unsupported}}) {
    TestWrite write = claim_write(row.now);
    write.operation = AdmissionOperation::kUpdate;
    write.old = row.old;
    EXPECT_EQ(test_.message(*plugin, write), row.message) << row.now << row.old;
    write.subresource = "status";
    EXPECT_EQ(test_.message(*plugin, write), "");
  }
}

TEST_F(StorageTest, NewStorageObjectsAreProtected) {
  const auto finalizers_after = [&](const GroupVersionResource& resource, const char* object, const char* subresource = "") {
    const auto plugin = *make_in_use_protection(test_.services, {});
    TestWrite write{.resource = resource, .subresource = subresource, .name = "x", .object = object};
    EXPECT_EQ(test_.message(*plugin, write), "");
    return joined(ObjectMeta(*test_.object).finalizers());
  };
  EXPECT_EQ(finalizers_after({"", "v1", "persistentvolumes"}, "{}"), "kubernetes.io/pv-protection");
  EXPECT_EQ(finalizers_after({"", "v1", "persistentvolumeclaims"}, R"({"metadata":{"finalizers":["a"]}})"),
            "a,kubernetes.io/pvc-protection");
  EXPECT_EQ(finalizers_after({"", "v1", "persistentvolumeclaims"}, R"({"metadata":{"finalizers":["kubernetes.io/pvc-protection"]}})"),
            "kubernetes.io/pvc-protection");
  EXPECT_EQ(finalizers_after({"", "v1", "persistentvolumeclaims"}, "{}", "status"), "");
  EXPECT_EQ(finalizers_after({"", "v1", "configmaps"}, "{}"), "");
  EXPECT_EQ(finalizers_after({"storage.k8s.io", "v1", "volumeattributesclasses"}, "{}"), "kubernetes.io/vac-protection");
}

}  // namespace
}  // namespace backplane::admission::storage
