// Assembles the group batch.
#include <array>
#include <stdexcept>

#include "backplane/core/json_access.hpp"
#include "batch_group_json.hpp"
#include "batch_v1_json.hpp"
#include "kinds.hpp"

namespace backplane::batch {

std::shared_ptr<const SchemaSet> batch_schemas() {
  static const auto schemas = [] {
    const std::array<std::string_view, 1> documents = {batch_v1_json()};
    auto made = SchemaSet::embedded(documents, {core_schemas(), meta_schemas()});
    if (!made.ok()) throw std::logic_error(made.status().message());
    return std::move(*made);
  }();
  return schemas;
}

Result<kit::GroupDocument> batch_group(workload::PodValidationOptions options, JobGates gates) {
  kit::GroupCode code{.kinds = {{"Job", job_code(options, gates)}, {"CronJob", cron_job_code(options)}}};
  add_printers(code);
  return kit::read_group(batch_group_json(), code);
}

std::string go_text(std::string_view type, const Object& object) {
  const Schema* schema = batch_schemas()->find("io.k8s.api.batch.v1." + std::string(type));
  if (schema == nullptr) schema = core_schemas()->find("io.k8s.api.core.v1." + std::string(type));
  return to_json(schema->go_struct(object));
}

void refuse(std::string path, std::string_view why, FieldErrors& errors) {
  errors.add({FieldErrorType::kInvalid, std::move(path), "Invalid value: " + std::string(why)});
}

bool is_true(const Object& job, std::string_view type) {
  bool out = false;
  each(object_or_empty(job, "status"), "conditions", [&](const Object& condition, std::size_t) {
    out = out || (get_string(condition, "type") == type && get_string(condition, "status") == "True");
  });
  return out;
}

}  // namespace backplane::batch
