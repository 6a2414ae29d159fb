#include "objects/owner_permissions.hpp"

#include "backplane/points/authorization.hpp"
#include "objects/objects_test_kit.hpp"
#include "objects/owner_changes.hpp"

namespace backplane::admission::test {
namespace {

using objects::OwnerResource;

// Allows the given checks, as "verb group resource/subresource namespace name".
class QuestionAuthorizer final : public Authorizer {
 public:
  std::string_view name() const noexcept override { return "test"; }
  Task<AuthorizerResult> authorize(const AuthorizationAttributes& attributes) override {
    const std::string question = attributes.verb + " " + attributes.api_group + " " + attributes.resource + "/" + attributes.subresource +
                                 " " + attributes.ns + " " + attributes.name;
    asked.push_back(question);
    AuthorizerResult result;
    const bool allows = std::find(allowed.begin(), allowed.end(), question) != allowed.end();
    result.decision = allows ? Decision::kAllow : Decision::kNoOpinion;
    result.reason = "why";
    co_return result;
  }
  std::vector<std::string> allowed;
  std::vector<std::string> asked;
};

Task<Result<std::vector<OwnerResource>>> resources_of(std::string api_version, std::string kind) {
  std::vector<OwnerResource> found;
  if (kind == "ReplicaSet") found.push_back({GroupVersionResource("apps", "v1", "replicasets"), true});
  if (kind == "Node") found.push_back({GroupVersionResource("", "v1", "nodes"), false});
  if (found.empty()) co_return bad_request("no matches for kind \"" + kind + "\" in version \"" + api_version + "\"");
  co_return found;
}

std::string owned_text(std::string_view owners) {
  return R"({"metadata":{"name":"p","namespace":"default","ownerReferences":[)" + std::string(owners) + "]}}";
}
std::string owner_text(std::string_view kind, bool blocks) {
  return R"({"apiVersion":"apps/v1","kind":")" + std::string(kind) + R"(","name":"o","uid":"1","blockOwnerDeletion":)" +
         (blocks ? "true}" : "false}");
}

class OwnerPermissionsTest : public ::testing::Test {
 protected:
  OwnerPermissionsTest() {
    under_.plugin = objects::make_owner_permissions([this]() -> Authorizer& { return authorizer_; }, resources_of);
  }
  std::string problem(std::string_view owners, std::string_view old_owners, bool create = false) {
    WriteUnderTest write({"", "v1", "Pod"}, "pods", owned_text(owners), create ? std::string() : owned_text(old_owners));
    return under_.validate(write.attributes).message();
  }
  PluginUnderTest under_;
  QuestionAuthorizer authorizer_;
};

constexpr std::string_view kForbidden = "pods \"p\" is forbidden: ";

TEST_F(OwnerPermissionsTest, CreatingWithOwnersThatDoNotBlockNeedsNothing) {
  EXPECT_EQ(problem(owner_text("ReplicaSet", false), "", true), "");
  EXPECT_TRUE(authorizer_.asked.empty());
}

TEST_F(OwnerPermissionsTest, ChangingOwnersNeedsThePermissionToDelete) {
  EXPECT_EQ(problem(owner_text("ReplicaSet", false), ""),
            std::string(kForbidden) + "cannot set an ownerRef on a resource you can't delete: why, <nil>");
  authorizer_.allowed = {"delete  pods/ default p"};
  EXPECT_EQ(problem(owner_text("ReplicaSet", false), ""), "");
  EXPECT_EQ(problem(owner_text("ReplicaSet", false), owner_text("ReplicaSet", false)), "");
}

TEST_F(OwnerPermissionsTest, BlockingNeedsThePermissionToFinalizeTheOwner) {
  const std::string refused =
      std::string(kForbidden) +
      "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: why, <nil>";
  EXPECT_EQ(problem(owner_text("ReplicaSet", true), "", true), refused);
  authorizer_.allowed = {"update apps replicasets/finalizers default o"};
  EXPECT_EQ(problem(owner_text("ReplicaSet", true), "", true), "");
  EXPECT_EQ(problem(owner_text("Node", true), "", true), refused);
  authorizer_.allowed = {"update  nodes/finalizers  o"};
  EXPECT_EQ(problem(owner_text("Node", true), "", true), "");
  authorizer_.allowed = {"update * */finalizers  *"};
  EXPECT_EQ(problem(owner_text("Unknown", true), "", true), "");
}

TEST_F(OwnerPermissionsTest, AnUnknownKindIsRefused) {
  EXPECT_EQ(problem(owner_text("Unknown", true), "", true),
            std::string(kForbidden) +
                "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind "
                "Unknown: no matches for kind \"Unknown\" in version \"apps/v1\"");
}

TEST(OwnerChanges, BlockingIsNewIfItWasNotSoBefore) {
  const Object blocking = tree_of(owned_text(owner_text("ReplicaSet", true))), plain = tree_of(owned_text(owner_text("ReplicaSet", false)));
  EXPECT_EQ(objects::new_blocking_owners(blocking, nullptr).size(), 1U);
  EXPECT_EQ(objects::new_blocking_owners(blocking, &plain).size(), 1U);
  EXPECT_EQ(objects::new_blocking_owners(blocking, &blocking).size(), 0U);
  EXPECT_TRUE(objects::changes_owner_references(blocking, &plain));
  EXPECT_FALSE(objects::changes_owner_references(blocking, &blocking));
  const Object none = tree_of(R"({"metadata":{}})"), empty = tree_of(owned_text(""));
  EXPECT_FALSE(objects::changes_owner_references(none, &empty));
}

TEST(OwnerResources, AreThoseOfTheKindWithoutSubresources) {
  const Object list = tree_of(
      R"({"resources":[{"name":"deployments","kind":"Deployment","namespaced":true},{"name":"deployments/status","kind":"Deployment","namespaced":true},)"
      R"({"name":"scales","kind":"Scale","namespaced":false}]})");
  const auto found = objects::owner_resources_in(list, {"apps", "v1"}, "Deployment");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].resource.resource, "deployments");
  EXPECT_TRUE(found[0].namespaced);
  EXPECT_EQ(objects::owner_resources_in(list, {"apps", "v1"}, "deployment").size(), 1U);
}

}  // namespace
}  // namespace backplane::admission::test
