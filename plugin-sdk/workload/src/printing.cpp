#include "backplane/workload/printing.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/table.hpp"

namespace backplane::workload {
namespace {

Value show_access_modes(const Value* modes, std::int64_t) {
  return Value(print_access_modes(modes != nullptr ? modes->if_array() : nullptr));
}

}  // namespace

std::map<std::string, kit::Printer, std::less<>> printers() { return {{"accessModes", show_access_modes}}; }

std::string print_access_modes(const Array* modes) {
  static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> out;
  if (modes == nullptr) return "";
  for (const auto& row : kShort) {
    const bool there = std::any_of(modes->begin(), modes->end(), [&](const Value& mode) { return text_of(mode) == row.first; });
    if (there) out.emplace_back(row.second);
  }
  return joined(out);
}

}  // namespace backplane::workload
