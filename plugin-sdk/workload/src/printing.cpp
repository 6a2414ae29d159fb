#include "backplane/workload/printing.hpp"

#include <algorithm>

#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"

namespace backplane::workload {
namespace {

std::string list_member(const Object& pod_spec, std::string_view member) {
  std::vector<std::string> parts;
  kit::each(pod_spec, "containers", [&](const Object& container, std::size_t) { parts.emplace_back(get_string(container, member)); });
  return kit::joined(parts);
}

}  // namespace

std::string container_names(const Object& pod_spec) { return list_member(pod_spec, "name"); }
std::string container_images(const Object& pod_spec) { return list_member(pod_spec, "image"); }

std::string print_access_modes(const Array* modes) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> out;
  if (modes == nullptr) return "";
  for (const auto& row : kShort) {
    const bool there = std::any_of(modes->begin(), modes->end(), [&](const Value& mode) { return kit::text_of(mode) == row.first; });
    if (there) out.emplace_back(row.second);
  }
  return kit::joined(out);
}

}  // namespace backplane::workload
