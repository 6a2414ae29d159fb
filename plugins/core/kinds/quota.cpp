// LimitRanges and ResourceQuotas.
#include <map>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "backplane/names.hpp"
#include "kinds/kinds.hpp"

namespace backplane::core {
namespace {

using namespace kit;

class LimitRangeStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  // Nameless ones are given a name of their own.
  void prepare_create(Object& object) const override {
    if (meta_name(object).empty()) ObjectMeta(object).set("name", new_uid());
  }
};

void print_quota(const Object& object, std::int64_t, Array& cells) {
  const Object& status = object_or_empty(object, "status");
  std::map<std::string, std::string> amounts;
  for (const auto& entry : object_or_empty(status, "hard")) amounts[entry.key()] = text_of(entry.value());
  std::vector<std::string> requests, limits;
  for (const auto& [name, hard] : amounts) {
    const Value* used = find(object_or_empty(status, "used"), name);
    (name.starts_with("limits") ? limits : requests).push_back(name + ": " + std::string(used ? text_of(*used) : "0") + "/" + hard);
  }
  cells.emplace_back(joined(requests, ", "));
  cells.emplace_back(joined(limits, ", "));
}

// Of `spec.hard`: more is asked for than may be used.
void warn_of_order(const Value& value, const std::string&, std::vector<std::string>& warnings) {
  const Object& hard = value.get_object();
  for (const std::string name : {"cpu", "memory", "storage", "ephemeral-storage"}) {
    std::string request_name = "requests." + name;
    const std::string limit_name = "limits." + name;
    // "cpu" and "memory" alone are requests, too.
    if (!hard.contains(request_name) && (name == "cpu" || name == "memory")) request_name = name;
    const std::string request(get_string(hard, request_name)), limit(get_string(hard, limit_name));
    if (request.empty() || limit.empty() || compare_quantities(request, limit) <= 0) continue;
    warnings.push_back("ResourceQuota " + request_name + " (" + request + ") should be less than " + limit_name + " (" + limit + ")");
  }
}

}  // namespace

void add_limits_and_quotas(GroupCode& code) {
  code.kinds["LimitRange"] = {.make = made<LimitRangeStrategy>()};
  code.printers.emplace("quota", print_quota);
  code.warnings.emplace("quotaOrder", warn_of_order);
}

}  // namespace backplane::core
