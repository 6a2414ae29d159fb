#include <gtest/gtest.h>

#include "kinds.hpp"

namespace backplane::storagemigration {
namespace {

struct Migration {
  kit::KindRow row = storagemigration_group()->kind("StorageVersionMigration");
  Object object;
  explicit Migration(std::string_view text) {
    static const auto sets = storagemigration_schemas();
    schema = sets->front()->find(GroupVersionKind{"storagemigration.k8s.io", "v1beta1", row.kind});
    Value value = json::parse(json::string_view(text.data(), text.size()));
    EXPECT_TRUE(schema->normalize(value, nullptr).ok());
    object = std::move(value.get_object());
  }
  std::string problems(const Migration* old = nullptr) const {
    FieldErrors errors;
    schema->check(object, old != nullptr ? &old->object : nullptr, ObjectPart::kWithoutStatus, "", errors);
    return errors.empty() ? "" : errors.aggregate_message();
  }
  std::string status_problems(const Migration& old) const {
    FieldErrors errors;
    RequestContext context;
    schema->check(object, &old.object, ObjectPart::kStatus, "", errors);
    row.status_strategy(row.strategy())->validate_update(context, object, old.object, errors);
    return errors.empty() ? "" : errors.aggregate_message();
  }
  const Schema* schema = nullptr;
};

Migration of(std::string_view resource) {
  return Migration(R"({"metadata":{"name":"a"},"spec":{"resource":)" + std::string(resource) + "}}");
}
Migration in(std::string_view status) {
  return Migration(R"({"metadata":{"name":"a"},"spec":{"resource":{"resource":"pods"}},"status":)" + std::string(status) + "}");
}

TEST(Migrations, NameAResource) {
  EXPECT_EQ(of(R"({"resource":"pods"})").problems(), "");
  EXPECT_EQ(of("{}").problems(), "spec.resource.resource: Required value: resource is required to be set");
  EXPECT_TRUE(of(R"({"resource":"Pods","group":"Apps"})")
                  .problems()
                  .starts_with("[spec.resource.resource: Invalid value: \"Pods\": a DNS-1035 label"));
  const Migration old = of(R"({"resource":"pods"})");
  EXPECT_EQ(of(R"({"resource":"secrets"})").problems(&old),
            R"(spec: Invalid value: {"Resource":{"group":"","resource":"secrets"}}: field is immutable)");
}

TEST(Migrations, EndOneWay) {
  const auto condition = [](std::string_view type) {
    return R"({"type":")" + std::string(type) +
           R"(","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":""})";
  };
  const Migration none = in("{}"), done = in("{\"conditions\":[" + condition("Succeeded") + "]}");
  EXPECT_EQ(done.status_problems(none), "");
  EXPECT_NE(in("{\"conditions\":[" + condition("Succeeded") + "," + condition("Failed") + "]}")
                .status_problems(none)
                .find("Both success and failed"),
            std::string::npos);
  EXPECT_EQ(none.status_problems(done), "status.conditions: Invalid value: null: Success condition cannot be set to false once it is true");
}

TEST(Migrations, KeepTheVersionTheyBeganWith) {
  const Migration old = in(R"({"resourceVersion":"5"})");
  EXPECT_EQ(in(R"({"resourceVersion":"05"})").status_problems(in("{}")),
            R"(status.resourceVersion: Invalid value: "05": resource version is not well formed: 05)");
  EXPECT_EQ(in(R"({"resourceVersion":"6"})").status_problems(old), R"(status.resourceVersion: Invalid value: "6": field is immutable)");
}

}  // namespace
}  // namespace backplane::storagemigration
