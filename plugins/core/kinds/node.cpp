// How nodes are shown.
#include <set>

#include "backplane/kit/path.hpp"
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/workload/resources.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;

Value show_roles(const Value* labels, std::int64_t) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  if (labels == nullptr || !labels->is_object()) return "<none>";
  std::set<std::string> roles;
  for (const auto& label : labels->get_object()) {
    const std::string_view key = label.key();
    if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) roles.emplace(key.substr(kPrefix.size()));
    if (key == "kubernetes.io/role" && !text_of(label.value()).empty()) roles.emplace(text_of(label.value()));
  }
  return Value(roles.empty() ? "<none>" : joined({roles.begin(), roles.end()}));
}

void check_amounts(const Object& object, FieldErrors& errors) {
  const Path status("status");
  for (std::string_view list : {"capacity", "allocatable"}) {
    const Path path = status.at(list);
    for (const auto& amount : object_or_empty(object_or_empty(object, "status"), list)) {
      const Path at = path.at(amount.key());
      workload::validate_quantity_not_negative(amount.value(), at, errors);
      workload::validate_whole(amount.key(), amount.value(), at, errors);
    }
  }
}

// What nodes were once configured by (`part`: spec or status) stays where it is still used.
void drop_unused(Object& object, const Object& old, std::string_view part, std::string_view member) {
  if (has(object, part) && !has(object_or_empty(old, part), member)) erase_member(ensure_object(object, part), member);
}

class NodeStatusStrategy final : public StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  void prepare_for_update(RequestContext& context, Object& object, const Object& old) const override {
    StatusStrategy::prepare_for_update(context, object, old);
    drop_unused(object, old, "status", "config");
  }

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override { check_amounts(object, errors); }
};

// Capacities are given on create, too.
class NodeStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void prepare_create(Object& object) const override {
    drop_unused(object, {}, "spec", "configSource");
    drop_unused(object, {}, "status", "config");
  }
  void prepare_update(Object& object, const Object& old) const override { drop_unused(object, old, "spec", "configSource"); }
  void check_new(const Object& object, FieldErrors& errors) const override { check_amounts(object, errors); }
};

}  // namespace

void add_nodes(GroupCode& code) {
  code.kinds["Node"] = {.make = made<NodeStrategy>(), .make_status = made_status<NodeStatusStrategy>};
  code.printers.emplace("nodeRoles", show_roles);
}

}  // namespace backplane::core
