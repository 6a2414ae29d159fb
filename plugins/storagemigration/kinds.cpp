#include "kinds.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/strategy.hpp"
#include "storagemigration_group_json.hpp"
#include "storagemigration_v1beta1_json.hpp"

namespace backplane::storagemigration {
namespace {

using namespace kit;

bool is_true(const Object& migration, std::string_view type) {
  const Object* condition = find_item(object_or_empty(migration, "status"), "conditions", "type", type);
  return condition != nullptr && get_string(*condition, "status") == "True";
}

// Resource versions must be positive numbers.
bool is_version(std::string_view text) {
  return !text.starts_with('0') && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// A finished migration stays finished, with one final condition.
class MigrationStatusStrategy final : public StatusStrategy {
 public:
  explicit MigrationStatusStrategy(std::shared_ptr<const Strategy> parent)
      : StatusStrategy(std::move(parent), {.kept_metadata = {"labels", "annotations", "finalizers", "ownerReferences"}}) {}

 protected:
  void check_status(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_version(get_string_path(object, "status.resourceVersion"), get_string_path(old, "status.resourceVersion"), errors);
    const bool succeeded = is_true(object, "Succeeded"), failed = is_true(object, "Failed");
    const auto add_error = [&](std::string_view text) {
      const Value* conditions = find_path(object, "status.conditions");
      errors.invalid_raw("status.conditions", conditions != nullptr ? to_json(*conditions) : "null", text);
    };
    if (succeeded && failed) add_error("Both success and failed conditions cannot be true at the same time");
    if (is_true(old, "Succeeded") && !succeeded) add_error("Success condition cannot be set to false once it is true");
    if (is_true(old, "Failed") && !failed) add_error("Failed condition cannot be set to false once it is true");
  }

 private:
  static void check_version(std::string_view version, std::string_view before, FieldErrors& errors) {
    const auto add_error = [&](const std::string& text) { errors.invalid("status.resourceVersion", version, text); };
    if (!version.empty() && !is_version(version)) add_error("resource version is not well formed: " + std::string(version));
    if (!before.empty() && version != before) add_error("field is immutable");
  }
};

void print_state(const Object& object, std::int64_t, Array& cells) {
  std::string out = "Unknown";
  each(object_or_empty(object, "status"), "conditions", [&](const Object& condition, std::size_t) {
    const std::string_view type = get_string(condition, "type");
    const bool known = type == "Running" || type == "Failed" || type == "Succeeded";
    if (known && get_string(condition, "status") == "True") out = type;
  });
  cells.emplace_back(std::move(out));
}

}  // namespace

Result<GroupDocument> storagemigration_group() {
  return read_group(storagemigration_group_json(),
                    {.printers = {{"state", print_state}},
                     .kinds = {{"StorageVersionMigration", {.make_status = made_status<MigrationStatusStrategy>}}}});
}

Result<std::vector<std::shared_ptr<const SchemaSet>>> storagemigration_schemas() {
  return embedded_schemas({storagemigration_v1beta1_json()});
}

}  // namespace backplane::storagemigration
