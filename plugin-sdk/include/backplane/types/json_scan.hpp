// Reads single members out of canonical JSON bytes, without a tree of the rest.
//
// Canonical: compact, no white space, valid, as the server prints stored objects. Damaged input gives missing members, never a read outside
// the bytes.
// Thread-safety: pure functions.
// Lifetime:      views refer to the scanned text.
// Errors:        decode_members() throws UnreadableObject (types/json_reading.hpp) for text that is not an object, or whose
//                selected members are malformed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backplane/core/object.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Iterates over the members of one object.
//
//   for (MemberScan scan(text, text.find('{')); scan.next();) use(scan.key(), scan.value());
class MemberScan {
 public:
  // `open`: the offset of '{'. If there is none, there are no members.
  MemberScan(std::string_view text, std::size_t open);
  // Continues at `at`, the end of a member.
  static MemberScan after(std::string_view text, std::size_t at);
  bool next();
  // Between the quotes, escapes not decoded.
  std::string_view key() const noexcept { return key_; }
  std::string_view value() const noexcept { return text_.substr(value_begin_, value_end() - value_begin_); }
  bool value_is_object() const noexcept { return value_begin_ < text_.size() && text_[value_begin_] == '{'; }
  std::size_t member_begin() const noexcept { return member_begin_; }
  std::size_t value_begin() const noexcept { return value_begin_; }
  // Computed at the first call: a value whose members are iterated over need not be skipped as well.
  std::size_t value_end() const noexcept;
  // Sets the end of the value, after its members have been iterated over.
  void ends_at(std::size_t end) noexcept { value_end_ = end; }
  // The offset behind the object, found from the current member on.
  std::size_t leave() const noexcept;

 private:
  explicit MemberScan(std::string_view text) : text_(text), at_(text.size()) {}
  std::string_view text_;
  std::size_t at_;
  std::string_view key_;
  std::size_t member_begin_ = 0;
  std::size_t value_begin_ = 0;  // 0: no current member
  mutable std::size_t value_end_ = 0;
};

// The offset after the value that begins at `at`; text.size() if it has no end.
std::size_t skip_value(std::string_view text, std::size_t at);
// A scalar as a selector compares it: strings without quotes and escapes, true/false/numbers as printed; null, objects and arrays: empty.
std::string scalar_text(std::string_view value);

// The content of a JSON string, given without its quotes, with escapes decoded.
std::string json_unescaped(std::string_view content);

// The object `json` reduced to the members at `paths` ("spec.nodeName"), as JSON. Enclosing objects are kept; absent members are omitted.
// Two revisions with equal results have equal members at the paths.
std::string json_members(std::string_view json, std::span<const std::string_view> paths);
// The same for an entry, as a tree in `storage`.
Object decode_members(const ObjectEntry& entry, std::span<const std::string_view> paths, json::storage_ptr storage);

}  // namespace BACKPLANE_API
