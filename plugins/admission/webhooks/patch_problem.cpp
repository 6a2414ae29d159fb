#include "webhooks/patch_problem.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "backplane/core/json_access.hpp"
#include "backplane/core/json_kind.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr std::string_view kMissing = ": missing value";

std::string unescaped_key(std::string_view key) {
  std::string out;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const bool escape = key[i] == '~' && i + 1 < key.size() && (key[i + 1] == '0' || key[i + 1] == '1');
    out.push_back(!escape ? key[i] : (key[i + 1] == '0' ? '~' : '/'));
    if (escape) ++i;
  }
  return out;
}

const Value* child_of(const Value& container, const std::string& key) {
  if (container.is_object()) return find(container.get_object(), key);
  if (!container.is_array()) return nullptr;
  const Array& items = container.get_array();
  const bool number = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
  const std::size_t index = number && key.size() < 10 ? std::stoul(key) : items.size();
  return index < items.size() ? &items[index] : nullptr;
}

// The object or list that contains the value of the pointer; null if there is none.
const Value* container_of(const Value& document, std::string_view pointer) {
  const Value* at = &document;
  std::size_t slash = pointer.find('/');
  if (slash == std::string_view::npos) return nullptr;
  pointer.remove_prefix(slash + 1);
  while (at != nullptr && (slash = pointer.find('/')) != std::string_view::npos) {
    at = child_of(*at, unescaped_key(pointer.substr(0, slash)));
    pointer.remove_prefix(slash + 1);
  }
  return at != nullptr && (at->is_object() || at->is_array()) ? at : nullptr;
}

std::string last_key(std::string_view pointer) { return unescaped_key(pointer.substr(pointer.rfind('/') + 1)); }

// ---- errors of one container; empty: none

std::string atoi_error(const std::string& key, std::string_view why) { return "strconv.Atoi: parsing " + quoted(key) + std::string(why); }

// Like strconv.Atoi.
std::string parse_index(const std::string& key, long long& index) {
  const char* first = key.data() + (key.starts_with('+') ? 1 : 0);
  const char* const last = key.data() + key.size();
  const auto [end, error] = std::from_chars(first, last, index);
  if (error == std::errc::result_out_of_range) return atoi_error(key, ": value out of range");
  const bool doubly_signed = key.starts_with("+-");
  return error != std::errc() || end != last || doubly_signed ? atoi_error(key, ": invalid syntax") : std::string();
}

std::string range_error(long long index, std::size_t size) {
  const auto limit = static_cast<long long>(size);
  return index < limit && index >= -limit ? std::string()
                                          : "Unable to access invalid index: " + std::to_string(index) + ": invalid index referenced";
}

std::string get_error(const Value& container, const std::string& key) {
  if (container.is_object()) return {};
  long long index = 0;
  std::string error = parse_index(key, index);
  return error.empty() ? range_error(index, container.get_array().size()) : error;
}

std::string remove_error(const Value& container, const std::string& key) {
  if (!container.is_object()) return get_error(container, key);
  if (find(container.get_object(), key) != nullptr) return {};
  return "Unable to remove nonexistent key: " + key + std::string(kMissing);
}

std::string add_error(const Value& container, const std::string& key) {
  if (container.is_object() || key == "-") return {};
  long long index = 0;
  const std::string error = parse_index(key, index);
  if (!error.empty()) return "value was not a proper array index: '" + key + "': " + error;
  return range_error(index, container.get_array().size() + 1);
}

// ---- errors of one operation

struct FailedOperation {
  const Value& document;
  const std::string op, path, from;

  std::string missing(const std::string& what) const { return op + " operation does not apply: " + what + std::string(kMissing); }
  std::string in_place(const std::string& place, const std::string& error) const {
    return error.empty() ? error : "error in " + op + " for " + place + "': " + error;
  }
};

std::string add_problem(const FailedOperation& each) {
  const Value* container = container_of(each.document, each.path);
  if (container == nullptr) return each.missing("doc is missing path: \"" + each.path + "\"");
  return each.in_place("path: '" + each.path, add_error(*container, last_key(each.path)));
}

std::string remove_problem(const FailedOperation& each) {
  const Value* container = container_of(each.document, each.path);
  if (container == nullptr) return each.missing("doc is missing path: \"" + each.path + "\"");
  return each.in_place("path: '" + each.path, remove_error(*container, last_key(each.path)));
}

std::string replace_problem(const FailedOperation& each) {
  if (each.path.empty()) return "replace operation value must be object or array: %!w(<nil>)";
  const bool missing_path = container_of(each.document, each.path) == nullptr;
  return each.missing((missing_path ? "doc is missing path: " : "doc is missing key: ") + each.path);
}

std::string move_problem(const FailedOperation& each) {
  const Value* source = container_of(each.document, each.from);
  if (source == nullptr) return each.missing("doc is missing from path: " + each.from);
  const std::string key = last_key(each.from);
  std::string error = each.in_place("path: '" + key, remove_error(*source, key));
  if (!error.empty()) return error;
  // The value is removed before its destination is looked up, because the destination may be inside the value, or behind it in the same
  // list.
  Value rest = each.document;
  const Status removed = json_patch(rest, Array{Object{{"op", "remove"}, {"path", each.from}}});
  const Value* container = removed.ok() ? container_of(rest, each.path) : nullptr;
  if (container == nullptr) return each.missing("doc is missing destination path: " + each.path);
  return each.in_place("path: '" + each.path, add_error(*container, last_key(each.path)));
}

std::string copy_problem(const FailedOperation& each) {
  const Value* source = container_of(each.document, each.from);
  if (source == nullptr) return each.missing("doc is missing from path: " + each.from);
  std::string error = each.in_place("from: '" + each.from, get_error(*source, last_key(each.from)));
  if (!error.empty()) return error;
  const Value* container = container_of(each.document, each.path);
  if (container == nullptr) return each.missing("doc is missing destination path: " + each.path);
  return "error while adding value during copy: " + add_error(*container, last_key(each.path));
}

std::string test_problem(const FailedOperation& each) {
  const Value* container = each.path.empty() ? &each.document : container_of(each.document, each.path);
  if (container == nullptr) return each.missing("is missing path: " + each.path);
  const std::string error = each.path.empty() ? "" : each.in_place("path: '" + each.path, get_error(*container, last_key(each.path)));
  return error.empty() ? "testing value " + each.path + " failed: test failed" : error;
}

struct OperationRow {
  std::string_view op;
  bool has_from, names_missing_path;
  std::string (*problem)(const FailedOperation&);
};
constexpr std::array<OperationRow, 6> kOperationRows = {{
    {"add", false, false, &add_problem},
    {"remove", false, false, &remove_problem},
    {"replace", false, true, &replace_problem},
    {"move", true, true, &move_problem},
    {"copy", true, false, &copy_problem},
    {"test", false, true, &test_problem},
}};

// The error if a member is not a text; empty if it is.
std::string text_problem(const Object& operation, std::string_view member) {
  const Value* value = find(operation, member);
  if (value == nullptr || value->is_null()) return "operation, missing " + std::string(member) + " field" + std::string(kMissing);
  if (value->is_string()) return {};
  return "json: cannot unmarshal " + std::string(json_kind(*value)) + " into Go value of type string";
}

// The reason why the operation fails on this document.
std::string operation_problem(const Value& document, const Object& operation) {
  const Value* kind = find(operation, "op");
  const std::string op(kind != nullptr && kind->is_string() ? text_of(*kind) : "unknown");
  const auto row = std::find_if(kOperationRows.begin(), kOperationRows.end(), [&](const OperationRow& each) { return each.op == op; });
  if (row == kOperationRows.end()) return "Unexpected kind: " + op;
  const std::string from_problem = row->has_from ? text_problem(operation, "from") : std::string();
  if (!from_problem.empty()) return op + " operation failed to decode from: " + from_problem;
  const std::string path_problem = text_problem(operation, "path");
  if (!path_problem.empty()) {
    return op + " operation failed to decode path" + (row->names_missing_path ? ": " + path_problem : std::string(kMissing));
  }
  return row->problem({document, op, std::string(get_string(operation, "path")), std::string(get_string(operation, "from"))});
}

}  // namespace

std::string patch_problem(const Object& object, const Array& operations) {
  Value document(object, object.storage());
  std::string problem;
  for (const Value& operation : operations) {
    const Value before = document;
    Array one;
    one.push_back(operation);
    if (json_patch(document, one).ok()) continue;
    problem = operation_problem(before, operation.get_object());
    break;
  }
  // If no operation fails, the patch as a whole exceeds the limits.
  return problem.empty() ? "the JSON patch is too large" : problem;
}

}  // namespace backplane::admission::webhooks
