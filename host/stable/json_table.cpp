#include <charconv>
#include <utility>

#include "backplane/types/schema.hpp"
#include "stable/conversions.hpp"
#include "stable/tables.hpp"

struct bp_json {
  backplane::Value tree;
};

namespace backplane::stable {
namespace {

const Value* at_path(const bp_json* json, bp_str path) {
  json::error_code error;
  return json->tree.find_pointer(view(path), error);
}

// RFC 6901: "~1" is "/", "~0" is "~".
std::string unescaped(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size();
    out += escape ? (token[++i] == '1' ? '/' : '~') : token[i];
  }
  return out;
}

// The item of a list that a token names; null if there is none. The token "-" appends an item.
Value* item_at(Array& list, std::string_view token) {
  if (token == "-") return &list.emplace_back(nullptr);
  std::size_t index = 0;
  const auto [end, wrong] = std::from_chars(token.data(), token.data() + token.size(), index);
  return wrong == std::errc() && end == token.data() + token.size() && index < list.size() ? &list[index] : nullptr;
}

// The value at a path; absent members are created. Null: a value on the path is neither an object nor a list, or a list has no such item.
Value* place_at(Value& root, std::string_view path) {
  if (!path.empty() && path.front() != '/') return nullptr;
  Value* at = &root;
  while (at != nullptr && !path.empty()) {
    path.remove_prefix(1);
    const std::string_view token = path.substr(0, path.find('/'));
    path.remove_prefix(token.size());
    if (at->is_null()) at->emplace_object();
    if (Array* list = at->if_array()) {
      at = item_at(*list, token);
    } else {
      Object* object = at->if_object();
      at = object != nullptr ? &(*object)[unescaped(token)] : nullptr;
    }
  }
  return at;
}

template <class T>
int set_at(bp_json* json, bp_str path, T&& value, bp_error* error) {
  return guarded(error, [&]() -> Status {
    Value* place = place_at(json->tree, view(path));
    if (place == nullptr) return bad_request("no value can be set at " + text(path));
    *place = std::forward<T>(value);
    return {};
  });
}

bp_json* parse_text(bp_str bytes, bp_error* error) {
  bp_json* out = nullptr;
  guarded(error, [&]() -> Status {
    auto parsed = parse_json(view(bytes), {}, nullptr);
    if (!parsed.ok()) return std::move(parsed).status();
    out = new bp_json{std::move(*parsed)};
    return {};
  });
  return out;
}

bp_str string_at(const bp_json* json, bp_str path) {
  const Value* found = at_path(json, path);
  if (found == nullptr || !found->is_string()) return {nullptr, 0};
  return {found->get_string().data(), found->get_string().size()};
}

int64_t int_at(const bp_json* json, bp_str path, int64_t otherwise) {
  const Value* found = at_path(json, path);
  return found != nullptr && found->is_int64() ? found->get_int64() : otherwise;
}

int32_t bool_at(const bp_json* json, bp_str path, int32_t otherwise) {
  const Value* found = at_path(json, path);
  return found != nullptr && found->is_bool() ? static_cast<int32_t>(found->get_bool()) : otherwise;
}

int64_t count_at(const bp_json* json, bp_str path) {
  const Value* found = at_path(json, path);
  if (found == nullptr) return -1;
  if (found->is_array()) return static_cast<int64_t>(found->get_array().size());
  return found->is_object() ? static_cast<int64_t>(found->get_object().size()) : -1;
}

bp_text* text_at(const bp_json* json, bp_str path) {
  const Value* found = at_path(json, path);
  return found == nullptr ? nullptr : give(to_json(*found));
}

int32_t set_json_at(bp_json* json, bp_str path, bp_str value, bp_error* error) {
  auto parsed = parse_json(view(value), {}, nullptr);
  if (!parsed.ok()) return fail(error, parsed.status());
  return set_at(json, path, std::move(*parsed), error);
}

void remove_at(bp_json* json, bp_str path) {
  const std::string_view whole = view(path);
  const auto slash = whole.rfind('/');
  if (slash == std::string_view::npos) return;
  json::error_code error;
  Value* parent = json->tree.find_pointer(whole.substr(0, slash), error);
  if (parent == nullptr) return;
  if (Object* object = parent->if_object()) erase_member(*object, unescaped(whole.substr(slash + 1)));
  if (Array* list = parent->if_array()) {
    const Value* item = json->tree.find_pointer(whole, error);
    if (item != nullptr) list->erase(list->begin() + (item - list->data()));
  }
}

}  // namespace

const bp_json_table& json_table() {
  static const bp_json_table kTable = {
      .struct_size = sizeof(bp_json_table),
      .parse = parse_text,
      .release = [](bp_json* json) { delete json; },
      .get_string = string_at,
      .get_int = int_at,
      .get_bool = bool_at,
      .count = count_at,
      .has = [](const bp_json* json, bp_str path) -> int32_t { return at_path(json, path) != nullptr ? 1 : 0; },
      .get = text_at,
      .set_string = [](bp_json* json, bp_str path, bp_str value, bp_error* error) -> int32_t {
        return set_at(json, path, json::string_view(view(value).data(), view(value).size()), error);
      },
      .set_int = [](bp_json* json, bp_str path, int64_t value, bp_error* error) -> int32_t { return set_at(json, path, value, error); },
      .set_json = set_json_at,
      .remove = remove_at,
  };
  return kTable;
}

}  // namespace backplane::stable
