// JSON documents of the stable tier (json.h). Paths are JSON pointers.
//
// Thread-safety: only one thread at a time uses a document.
// Lifetime:      a Json owns its document. Views are valid until the document changes. The Host outlives it.
// Errors:        an Error with the reason BadRequest if a text is not JSON, or if no value can be set at a path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "backplane/stable/base.hpp"
#include "backplane/stable/json.h"

namespace backplane::stable {

class Json {
 public:
  Json(const Host& host, std::string_view text) : host_(&host), table_(&host.find<bp_json_table>(BP_JSON_TABLE, 1)) {
    bp_error error{};
    json_ = table_->parse(str(text), &error);
    if (json_ == nullptr) throw Error(error);
  }
  Json(Json&& other) noexcept
      : host_(other.host_), table_(other.table_), json_(std::exchange(other.json_, nullptr)), changed_(other.changed_) {}
  Json& operator=(Json&& other) noexcept {
    std::swap(host_, other.host_);
    std::swap(table_, other.table_);
    std::swap(json_, other.json_);
    std::swap(changed_, other.changed_);
    return *this;
  }
  ~Json() { table_->release(json_); }

  std::string_view string(std::string_view path) const { return view(table_->get_string(json_, str(path))); }
  std::int64_t integer(std::string_view path, std::int64_t otherwise = 0) const { return table_->get_int(json_, str(path), otherwise); }
  bool boolean(std::string_view path, bool otherwise = false) const { return table_->get_bool(json_, str(path), otherwise ? 1 : 0) != 0; }
  // The number of items of a list or of members of an object; -1 if there is neither at the path.
  std::int64_t count(std::string_view path) const { return table_->count(json_, str(path)); }
  bool has(std::string_view path) const { return table_->has(json_, str(path)) != 0; }
  // Returns the value at the path as JSON; empty if there is none.
  std::string text(std::string_view path = {}) const { return host_->take(table_->get(json_, str(path))); }

  void set(std::string_view path, std::string_view value) {
    change([&](bp_error* error) { return table_->set_string(json_, str(path), str(value), error); });
  }
  void set(std::string_view path, const char* value) { set(path, std::string_view(value)); }
  void set(std::string_view path, std::int64_t value) {
    change([&](bp_error* error) { return table_->set_int(json_, str(path), value, error); });
  }
  void set_json(std::string_view path, std::string_view value) {
    change([&](bp_error* error) { return table_->set_json(json_, str(path), str(value), error); });
  }
  void remove(std::string_view path) {
    table_->remove(json_, str(path));
    changed_ = true;
  }
  // Whether a member has been set or removed.
  bool changed() const noexcept { return changed_; }

 private:
  template <class Call>
  void change(Call call) {
    detail::checked(call);
    changed_ = true;
  }

  const Host* host_;
  const bp_json_table* table_;
  bp_json* json_ = nullptr;
  bool changed_ = false;
};

// Returns `text` as a JSON string, with quotes and escapes.
inline std::string quoted(const Host& host, std::string_view text) {
  Json json(host, "\"\"");
  json.set("", text);
  return json.text();
}

}  // namespace backplane::stable
