// Reads single members of canonical JSON bytes without a tree of the whole text.
//
// Canonical JSON is valid and compact (no white space), as the server prints stored objects. In damaged input, members may be missing; the
// functions never read outside the bytes.
//
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
  // `open`: the offset of '{'. If it is not the offset of a '{', the scan has no members.
  MemberScan(std::string_view text, std::size_t open);
  // Returns a scan that continues after the member that ends at `at`.
  static MemberScan after(std::string_view text, std::size_t at);
  // Moves to the next member; false if there is none.
  bool next();
  // The text between the quotes; escapes are not decoded.
  std::string_view key() const noexcept { return key_; }
  std::string_view value() const noexcept { return text_.substr(value_begin_, value_end() - value_begin_); }
  bool value_is_object() const noexcept { return value_begin_ < text_.size() && text_[value_begin_] == '{'; }
  std::size_t member_begin() const noexcept { return member_begin_; }
  std::size_t value_begin() const noexcept { return value_begin_; }
  // Computed by the first call, because a caller that scans the members of the value sets it with ends_at() instead.
  std::size_t value_end() const noexcept;
  // Sets the end of the value, for a caller that has scanned the members of the value.
  void ends_at(std::size_t end) noexcept { value_end_ = end; }
  // Returns the offset after the end of the object; skips the members that follow the current one.
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

// Returns the offset after the value that begins at `at`; text.size() if the value has no end.
std::size_t skip_value(std::string_view text, std::size_t at);
// Returns a scalar as selectors compare it: strings without quotes and escapes; true, false and numbers as printed; empty for null, objects
// and arrays.
std::string scalar_text(std::string_view value);

// Returns the content of a JSON string with escapes decoded. `content` is the text between the quotes.
std::string json_unescaped(std::string_view content);

// Returns, as JSON, the object `json` reduced to the members at `paths` ("spec.nodeName") and the objects that contain them. Absent members
// are omitted. If the results for two revisions of an object are equal, the members at the paths are equal.
std::string json_members(std::string_view json, std::span<const std::string_view> paths);
// Like json_members(), for an entry; returns a tree in `storage`.
Object decode_members(const ObjectEntry& entry, std::span<const std::string_view> paths, json::storage_ptr storage);

}  // namespace BACKPLANE_API
