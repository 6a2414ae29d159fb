#include "webhooks/patch_problem.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
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

// The object or list that holds what the pointer names; null if there is none.
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

std::string index_problem(const std::string& key) {
  const bool number = !key.empty() && key.find_first_not_of("-0123456789") == std::string::npos;
  if (number) return "Unable to access invalid index: " + key + ": invalid index referenced";
  return "value was not a proper array index: '" + key + "': strconv.Atoi: parsing " + quoted(key) + ": invalid syntax";
}

// Why `op` fails on this document.
std::string operation_problem(const Value& document, const Object& operation) {
  const std::string op(get_string(operation, "op"));
  const Value* path_value = find(operation, "path");
  if (path_value == nullptr || !path_value->is_string()) return op + " operation failed to decode path" + std::string(kMissing);
  const std::string path(text_of(*path_value));
  if (op == "test") return "testing value " + path + " failed: test failed";
  if (op == "move" || op == "copy") {
    const std::string from(get_string(operation, "from"));
    const bool missing = container_of(document, from) == nullptr;
    return op + " operation does not apply: doc is missing " + (missing ? "from path: " + from : "destination path: " + path) +
           std::string(kMissing);
  }
  if (op != "add" && op != "remove" && op != "replace") return "Unexpected kind: " + op;
  const Value* container = container_of(document, path);
  if (container == nullptr) {
    const std::string shown = op == "replace" ? path : "\"" + path + "\"";
    return op + " operation does not apply: doc is missing path: " + shown + std::string(kMissing);
  }
  if (op == "replace") return "replace operation does not apply: doc is missing key: " + path + std::string(kMissing);
  const std::string key = last_key(path);
  const std::string why = container->is_object() ? "Unable to remove nonexistent key: " + key + std::string(kMissing) : index_problem(key);
  return "error in " + op + " for path: '" + path + "': " + why;
}

}  // namespace

std::string patch_problem(const Object& object, const Array& operations) {
  Value document(object, object.storage());
  for (const Value& operation : operations) {
    const Value before = document;
    Array one;
    one.push_back(operation);
    if (!json_patch(document, one).ok()) return operation_problem(before, operation.get_object());
  }
  // Each operation alone can be applied: the limits for the whole patch are exceeded.
  return "the JSON patch is too large";
}

}  // namespace backplane::admission::webhooks
