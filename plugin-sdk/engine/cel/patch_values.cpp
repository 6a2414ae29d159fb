#include "cel/patch_values.hpp"

#include "cel/library_values.hpp"
#include "cel/result.hpp"
#include "cel/text.hpp"
#include "cel/times.hpp"

namespace backplane::cel_detail {
namespace {

// Upstream converts values by google.protobuf.Value, whose numbers are doubles: larger integers become texts.
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

// Lists and maps in the path have no name and are skipped.
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

// ---- values as Go prints them

constexpr const char* kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                   "July",    "August",   "September", "October", "November", "December"};

std::string two_digits(int number) { return (number < 10 ? "0" : "") + std::to_string(number); }

// The timestamp as a time.Time in UTC.
cel::GoValue go_time(const Val& value) {
  const Civil at = civil_of(value.integer);
  std::string fraction = std::to_string(value.size);
  fraction = value.size == 0 ? std::string() : "." + std::string(9 - fraction.size(), '0') + fraction;
  while (fraction.ends_with('0')) fraction.pop_back();
  cel::GoValue out;
  out.type = "time.Time";
  out.text = std::to_string(at.year) + "-" + two_digits(at.month) + "-" + two_digits(at.day) + " " + two_digits(at.hour) + ":" +
             two_digits(at.minute) + ":" + two_digits(at.second) + fraction + " +0000 UTC";
  out.syntax = "time.Date(" + std::to_string(at.year) + ", time." + kMonths[at.month - 1];
  for (const int part : {at.day, at.hour, at.minute, at.second}) out.syntax += ", " + std::to_string(part);
  out.syntax += ", " + std::to_string(value.size) + ", time.UTC)";
  return out;
}

cel::GoValue go_bytes(const Val& value) {
  constexpr char kDigits[] = "0123456789abcdef";
  cel::GoValue out;
  out.type = "[]uint8";
  for (const char each : value.view()) {
    const auto byte = static_cast<unsigned char>(each);
    out.text += (out.text.empty() ? "" : " ") + std::to_string(byte);
    out.syntax += out.syntax.empty() ? "0x" : ", 0x";
    if (byte >= 16) out.syntax += kDigits[byte / 16];
    out.syntax += kDigits[byte % 16];
  }
  out.text = "[" + out.text + "]";
  out.syntax = "[]uint8{" + out.syntax + "}";
  return out;
}

void add_go_values(Arena& arena, const Val& value, std::vector<std::string>& path, std::vector<cel::GoValue>& out) {
  const auto add = [&](cel::GoValue found) {
    found.path = path;
    out.push_back(std::move(found));
  };
  if (value.is(ValKind::kNull)) return add({{}, "NULL_VALUE", "0", "structpb.NullValue"});
  if (value.is(ValKind::kBytes)) return add(go_bytes(value));
  if (value.is(ValKind::kTimestamp)) return add(go_time(value));
  const auto inside = [&](std::string step, const Val& item) {
    path.push_back(std::move(step));
    add_go_values(arena, item, path, out);
    path.pop_back();
  };
  if (value.is(ValKind::kList)) {
    for (std::size_t i = 0; i < list_size(value); ++i) inside(std::to_string(i), list_at(arena, value, i));
  } else if (value.is(ValKind::kMap)) {
    map_each(arena, value, [&](const Val& key, const Val& item) {
      inside(std::string(to_text_val(arena, key).view()), item);
      return true;
    });
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
  // The path begins with the declared name of the outermost object.
  check_type_names(object, is_made_object(object) ? std::string(object.entries->type_name) : std::string(), problems);
  return problems;
}

std::vector<cel::GoValue> go_values_in(Arena& arena, const Val& object) {
  std::vector<cel::GoValue> out;
  std::vector<std::string> path;
  add_go_values(arena, object, path, out);
  return out;
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
