#include "quota/pod_changes.hpp"

#include <functional>

#include "backplane/core/json_access.hpp"

namespace backplane::controllers {
namespace {

std::size_t number_of(const Object& pod, std::int64_t generation) {
  std::string text = std::to_string(generation);
  each(object_or_empty(pod, "status"), "containerStatuses",
       [&](const Object& container, std::size_t) { text += to_json(object_or_empty(container, "resources")); });
  return std::hash<std::string>()(text);
}

}  // namespace

bool PodChanges::note(const std::string& key, const Object& pod) {
  const std::int64_t generation = get_int(object_or_empty(pod, "metadata"), "generation").value_or(1);
  if (generation <= 1) return false;
  const std::size_t number = number_of(pod, generation);
  const auto [known, added] = noted_.try_emplace(key);
  const bool changed = added || known->second.number != number;
  known->second = {number, list_};
  return changed;
}

void PodChanges::end_list() {
  std::erase_if(noted_, [this](const auto& row) { return row.second.list != list_; });
}

}  // namespace backplane::controllers
