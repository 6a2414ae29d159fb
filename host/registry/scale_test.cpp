#include "registry/store_fixture.hpp"

namespace backplane::registry_test {
namespace {

class ScaleTest : public StoreTest {
 protected:
  void make_scaled(const std::string& spec) {
    auto strategy = std::make_shared<TestStrategy>(KindFacts{.generation = true});
    make(strategy);
    ASSERT_TRUE(create(thing(R"("name":"a")", R"(,"spec":)" + spec)).ok());
    auto made = make_scale_store(store, {});
    ASSERT_TRUE(made.ok());
    scale = std::move(*made);
  }
  Result<ObjectRef> get_scale() {
    context = request("get");
    return run(dynamic_cast<Getter&>(*scale).get(*context, "a", {}));
  }
  Result<UpdateResult> update_scale(UpdatedObjectInfo& info) {
    context = request("update");
    context->info.subresource = "scale";
    return run(dynamic_cast<Updater&>(*scale).update(*context, "a", info, {}, false));
  }
  std::shared_ptr<RestStorage> scale;
};

TEST_F(ScaleTest, ShowsReplicasAndTheSelectorAsText) {
  make_scaled(
      R"({"replicas":3,"selector":{"matchLabels":{"b":"2","a":"1"},"matchExpressions":[{"key":"tier","operator":"In","values":["x","w"]}]}})");
  const auto got = get_scale();
  ASSERT_TRUE(got.ok()) << got.status().message();
  const Object object = parsed(*got);
  EXPECT_EQ(get_string(object, "kind"), "Scale");
  EXPECT_EQ(get_string(object, "apiVersion"), "autoscaling/v1");
  EXPECT_EQ(get_int_path(object, "spec.replicas"), 3);
  EXPECT_EQ(get_int_path(object, "status.replicas"), 0);
  EXPECT_EQ(get_string_path(object, "status.selector"), "a=1,b=2,tier in (w,x)");
  EXPECT_EQ(meta_text(object, "resourceVersion"), "1");
}

// Regression: `kubectl get --subresource=scale` showed only the name.
TEST_F(ScaleTest, IsShownInColumnsOfItsOwn) {
  make_scaled(R"({"replicas":3})");
  const TableConvertor* const table = role_of<SubresourceStorage>(scale)->subresource_table();
  ASSERT_NE(table, nullptr);
  std::vector<std::string> names;
  for (const TableColumn& column : table->columns()) names.push_back(column.name);
  EXPECT_EQ(names, (std::vector<std::string>{"Name", "Desired", "Available", "Age"}));
  const Array cells = table->cells(parsed(*get_scale()), 0, {});
  EXPECT_EQ(cells[0], "a");
  EXPECT_EQ(cells[1], 3);
  EXPECT_EQ(cells[2], 0);
}

TEST_F(ScaleTest, AnUpdateChangesTheParentsReplicas) {
  make_scaled(R"({"replicas":3,"selector":{"matchLabels":{"a":"1"}}})");
  Change info([](Object& object) { ensure_object(object, "spec")["replicas"] = 7; });
  const auto updated = update_scale(info);
  ASSERT_TRUE(updated.ok()) << updated.status().message();
  EXPECT_EQ(get_int_path(parsed(updated->object), "spec.replicas"), 7);
  const Object parent = parsed(*get("a"));
  EXPECT_EQ(get_int_path(parent, "spec.replicas"), 7);
  EXPECT_EQ(get_int_path(parent, "metadata.generation"), 2);
  EXPECT_EQ(get_string_path(parent, "spec.selector.matchLabels.a"), "1");
  EXPECT_EQ(admission.asked.back(), "validate update Scale default/a");
}

TEST_F(ScaleTest, NegativeReplicasAreInvalid) {
  make_scaled(R"({"replicas":3})");
  Change info([](Object& object) { ensure_object(object, "spec")["replicas"] = -1; });
  const auto refused = update_scale(info);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(),
            R"(Scale.autoscaling "a" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0)");
}

TEST_F(ScaleTest, AStaleVersionInTheScaleConflicts) {
  make_scaled(R"({"replicas":3})");
  Change info([](Object& object) { ObjectMeta(object).set("resourceVersion", "77"); });
  EXPECT_EQ(update_scale(info).status().code(), 409);
}

TEST_F(ScaleTest, AParentWithoutReplicasHasNoScale) {
  make_scaled(R"({"n":1})");
  const auto refused = get_scale();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), 500);
}

}  // namespace
}  // namespace backplane::registry_test
