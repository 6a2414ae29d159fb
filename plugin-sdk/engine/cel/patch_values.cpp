#include "cel/patch_values.hpp"

#include "cel/result.hpp"

namespace backplane::cel_detail {
namespace {

// Upstream takes values through google.protobuf.Value, whose numbers are doubles: larger integers become texts.
constexpr std::int64_t kMostExact = (std::int64_t{1} << 53) - 1;

bool is_made_map(const Val& value) noexcept { return value.is(ValKind::kMap) && value.place == Place::kMade; }
bool is_made_object(const Val& value) noexcept { return is_made_map(value) && !value.entries->type_name.empty(); }

void check_type_names(const Val& value, const std::string& path, std::string& problems);

void check_entry_names(const Val& map, const std::string& path, bool named, std::string& problems) {
  for (std::uint32_t i = 0; i < map.entries->size; ++i) {
    const MapEntry& entry = map.entries->entries[i];
    check_type_names(entry.value, named ? path + "." + std::string(entry.key.view()) : path, problems);
  }
}

// Lists and maps on the way have no name, and are passed over.
void check_type_names(const Val& value, const std::string& path, std::string& problems) {
  if (is_made_object(value)) {
    const std::string_view name = value.entries->type_name;
    if (name != path) {
      problems.append(problems.empty() ? "" : "\n").append("unexpected type name \"").append(name).append("\", expected \"");
      problems.append(path).append("\", which matches field name path from root Object type");
    }
    check_entry_names(value, path, true, problems);
  } else if (is_made_map(value)) {
    check_entry_names(value, path, false, problems);
  } else if (value.is(ValKind::kList) && value.place == Place::kMade) {
    for (std::uint32_t i = 0; i < value.size; ++i) check_type_names(value.items[i], path, problems);
  }
}

void limit_numbers(backplane::Value& value) {
  if (value.is_int64() && (value.get_int64() > kMostExact || value.get_int64() < -kMostExact)) {
    value = json::string(std::to_string(value.get_int64()));
  } else if (value.is_uint64() && value.get_uint64() > static_cast<std::uint64_t>(kMostExact)) {
    value = json::string(std::to_string(value.get_uint64()));
  } else if (value.is_array()) {
    for (backplane::Value& item : value.get_array()) limit_numbers(item);
  } else if (value.is_object()) {
    for (auto& member : value.get_object()) limit_numbers(member.value());
  }
}

Object operation_of(Arena& arena, const Val& patch, std::string& problem) {
  Object out;
  out["op"] = "";
  out["path"] = "";
  for (std::uint32_t i = 0; i < patch.entries->size; ++i) {
    const MapEntry& entry = patch.entries->entries[i];
    const std::string_view name = entry.key.view();
    if (name == "value" && is_made_object(entry.value)) {
      const std::string names = type_name_problems(entry.value);
      if (!names.empty()) problem = "type mismatch: " + names;
    }
    backplane::Value value = result_of(arena, entry.value);
    if (name == "value") limit_numbers(value);
    if (name == "from" && value.is_string() && value.get_string().empty()) continue;
    out[name] = std::move(value);
  }
  return out;
}

}  // namespace

std::string type_name_problems(const Val& object) {
  std::string problems;
  // The way begins with the name of the outermost object: that is what it says it is.
  check_type_names(object, is_made_object(object) ? std::string(object.entries->type_name) : std::string(), problems);
  return problems;
}

Array patch_operations(Arena& arena, const Val& list, std::string& problem) {
  Array out;
  for (std::size_t i = 0; i < list_size(list) && problem.empty(); ++i) {
    const Val item = list_at(arena, list, i);
    if (is_made_object(item) && item.entries->type_name == "JSONPatch") {
      out.push_back(operation_of(arena, item, problem));
    } else {
      problem = "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch: unsupported type";
    }
  }
  return out;
}

}  // namespace backplane::cel_detail
