#include "namespaces/lifecycle.hpp"

#include <gtest/gtest.h>

#include "fake_host.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

class LifecycleTest : public ::testing::Test {
 protected:
  LifecycleTest() {
    ResourceConfig config;
    config.kind = {"", "v1", "Namespace"};
    config.resource = "namespaces";
    config.strategy = core_group()->kind("Namespace").strategy();
    namespaces_ = std::make_shared<test::FakeStore>(std::move(config));
    plugin_ = make_namespace_lifecycle(namespaces_);
  }
  std::shared_ptr<ObjectEntry> put(std::string_view json, std::string phase) {
    const Value tree = json::parse(json::string_view(json.data(), json.size()));
    auto entry = std::make_shared<ObjectEntry>(*make_object(tree.get_object()));
    entry->set_fields({std::move(phase)});
    namespaces_->data[std::string(entry->name())] = entry;
    return entry;
  }
  Status create_in(std::string ns) { return admit(AdmissionOperation::kCreate, std::move(ns)); }
  Status admit(AdmissionOperation operation, std::string ns) {
    RequestContext context;
    AdmissionAttributes attributes = admission_attributes(context, operation, {"", "v1", "configmaps"}, {"", "v1", "ConfigMap"});
    attributes.ns = std::move(ns);
    attributes.name = "a";
    Status answer;
    turns_.start(ask(*plugin_, attributes, answer));
    return answer;
  }

  std::shared_ptr<test::FakeStore> namespaces_;
  std::shared_ptr<AdmissionPlugin> plugin_;
  test::TurnExecutor turns_;

 private:
  static Task<void> ask(const AdmissionPlugin& plugin, AdmissionAttributes& attributes, Status& answer) {
    auto asking = plugin.admit(attributes);
    answer = co_await std::move(asking);
  }
};

TEST_F(LifecycleTest, ANamespaceIsTerminatingIfItsPhaseIsTerminating) {
  put(R"({"metadata":{"name":"going"}})", "Terminating");
  put(R"({"metadata":{"name":"staying","labels":{"was":"Terminating"}}})", "Active");
  const Status refused = create_in("going");
  EXPECT_EQ(refused.message(),
            "configmaps \"a\" is forbidden: unable to create new content in namespace going because it is being terminated");
  ASSERT_EQ(refused.details()->causes.size(), 1u);
  EXPECT_EQ(refused.details()->causes[0].reason, "NamespaceTerminating");
  EXPECT_TRUE(create_in("staying").ok());
  EXPECT_EQ(create_in("missing").reason(), Reason::kNotFound);
}

// Regression: an object that was left in a missing namespace could be updated.
TEST_F(LifecycleTest, UpdatesNeedANamespaceThatExists) {
  put(R"({"metadata":{"name":"going"}})", "Terminating");
  EXPECT_TRUE(admit(AdmissionOperation::kUpdate, "going").ok());
  EXPECT_EQ(admit(AdmissionOperation::kUpdate, "missing").reason(), Reason::kNotFound);
  EXPECT_TRUE(admit(AdmissionOperation::kDelete, "missing").ok());
}

}  // namespace
}  // namespace backplane::core
