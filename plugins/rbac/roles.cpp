#include "roles.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/kit/group.hpp"
#include "backplane/kit/strategy.hpp"
#include "rbac_group_json.hpp"
#include "rbac_v1_json.hpp"

namespace backplane::rbac {
namespace {

using namespace kit;

class RoleStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;
  void canonicalize(Object& role) const override { null_when_empty(role, "rules"); }
};

}  // namespace

Result<GroupDocument> rbac_group() {
  const KindCode role{.make = made<RoleStrategy>()};
  return read_group(rbac_group_json(), {.kinds = {{"ClusterRole", role}, {"Role", role}}});
}

Result<std::vector<std::shared_ptr<const SchemaSet>>> rbac_schemas() { return embedded_schemas({rbac_v1_json()}); }

}  // namespace backplane::rbac
