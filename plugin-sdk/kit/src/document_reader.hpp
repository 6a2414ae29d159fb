// Reads a document member by member: every member has one type, and an unread member is an error.
//
// Thread-safety: one thread.
// Lifetime:      refers to the object, which must outlive the reader.
// Errors:        std::invalid_argument with the location; read_group() converts it to a Status.
#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/json_access.hpp"

namespace backplane::kit {

class DocumentReader {
 public:
  DocumentReader(const Value& value, std::string path) : path_(std::move(path)) {
    if (!value.is_object()) throw std::invalid_argument(path_ + " must be an object");
    object_ = &value.get_object();
  }
  const std::string& path() const noexcept { return path_; }
  std::string path_of(std::string_view key) const { return at(path_, key); }

  // Returns the member, or null if it is absent. Marks the member as read.
  const Value* take(std::string_view key) {
    read_.emplace(key);
    return find(*object_, key);
  }
  void text(std::string_view key, std::string& out) {
    if (const Value* value = take(key)) out = expect(value->is_string(), key, "a text") ? text_of(*value) : "";
  }
  void flag(std::string_view key, bool& out) {
    if (const Value* value = take(key)) out = expect(value->is_bool(), key, "true or false") && value->get_bool();
  }
  void number(std::string_view key, int& out) {
    if (const Value* value = take(key)) out = expect(value->is_int64(), key, "a number") ? static_cast<int>(value->get_int64()) : 0;
  }
  void texts(std::string_view key, std::vector<std::string>& out) {
    for (const Value& item : list(key)) {
      expect(item.is_string(), key, "a list of texts");
      out.emplace_back(text_of(item));
    }
  }
  const Array& list(std::string_view key) {
    static const Array kNone;
    const Value* value = take(key);
    if (value == nullptr) return kNone;
    expect(value->is_array(), key, "a list");
    return value->get_array();
  }
  std::string required_text(std::string_view key) {
    std::string out;
    text(key, out);
    expect(!out.empty(), key, "there");
    return out;
  }
  // Throws if a member has not been read. Call it last.
  void refuse_others() const {
    for (const auto& member : *object_) {
      if (read_.find(std::string_view(member.key())) == read_.end()) throw std::invalid_argument(at(path_, member.key()) + " is not known");
    }
  }
  bool expect(bool holds, std::string_view key, std::string_view what) const {
    if (!holds) throw std::invalid_argument(at(path_, key) + " must be " + std::string(what));
    return true;
  }

 private:
  const Object* object_ = nullptr;
  std::string path_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace backplane::kit
