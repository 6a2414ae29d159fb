#include "roles.hpp"

#include "backplane/kit/group.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/names.hpp"
#include "rbac_group_json.hpp"
#include "rbac_v1_json.hpp"

namespace backplane::rbac {
namespace {

using namespace kit;

class RoleStrategy : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void canonicalize(Object& role) const override { null_when_empty(role, "rules"); }
};

// Selectors that cannot be used are said to be so, behind what is wrong with them.
class ClusterRoleStrategy final : public RoleStrategy {
 public:
  using RoleStrategy::RoleStrategy;

 protected:
  void check(const Object& role, FieldErrors& errors) const override {
    each(object_or_empty(role, "aggregationRule"), "clusterRoleSelectors", [&](const Object& selector, std::size_t i) {
      const std::string path = at("aggregationRule.clusterRoleSelectors", i);
      const std::size_t before = errors.size();
      validate_label_selector(selector, path, errors);
      if (errors.size() != before) errors.invalid_raw(path, "null", "invalid label selector.");
    });
  }
};

// "jane, joe": those of the subjects that are of a kind.
template <class Text>
Value show_subjects(const Value* subjects, std::string_view kind, Text text_of_subject) {
  std::vector<std::string> names;
  const Array* list = subjects != nullptr ? subjects->if_array() : nullptr;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const Object* subject = (*list)[i].if_object();
    if (subject != nullptr && get_string(*subject, "kind") == kind) names.push_back(text_of_subject(*subject));
  }
  return Value(joined(names, ", "));
}

std::string name_of(const Object& subject) { return std::string(get_string(subject, "name")); }

Value show_users(const Value* subjects, std::int64_t) { return show_subjects(subjects, "User", name_of); }
Value show_groups(const Value* subjects, std::int64_t) { return show_subjects(subjects, "Group", name_of); }
Value show_service_accounts(const Value* subjects, std::int64_t) {
  return show_subjects(subjects, "ServiceAccount",
                       [](const Object& subject) { return std::string(get_string(subject, "namespace")) + "/" + name_of(subject); });
}

}  // namespace

Result<GroupDocument> rbac_group() {
  return read_group(rbac_group_json(),
                    {.printers = {{"users", show_users}, {"groups", show_groups}, {"serviceAccounts", show_service_accounts}},
                     .kinds = {{"ClusterRole", {.make = made<ClusterRoleStrategy>()}}, {"Role", {.make = made<RoleStrategy>()}}}});
}

Result<std::vector<std::shared_ptr<const SchemaSet>>> rbac_schemas() { return embedded_schemas({rbac_v1_json()}); }

}  // namespace backplane::rbac
