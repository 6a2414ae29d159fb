// Reads the few members the cache needs out of canonical JSON bytes without building a tree.
//
// Canonical: compact, no white space, valid (it was printed by the server itself).  Damaged input gives missing members, never a read
// outside the bytes.
// Thread-safety: pure functions; a FieldPlan is immutable.
// Lifetime:      views borrow the scanned text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/selectors.hpp"
#include "backplane/rest/strategy.hpp"

namespace backplane {

// Walks the members of one object: for (MemberScan scan(text, open); scan.next();) … scan.key() … scan.value().
class MemberScan {
 public:
  // `open` is the offset of '{'; when there is none, there are no members.
  MemberScan(std::string_view text, std::size_t open);
  // Goes on at `at`, behind a member.
  static MemberScan behind(std::string_view text, std::size_t at);
  bool next();
  // Between the quotes, escapes as they are.
  std::string_view key() const noexcept { return key_; }
  std::string_view value() const noexcept { return text_.substr(value_begin_, value_end() - value_begin_); }
  std::size_t member_begin() const noexcept { return member_begin_; }
  std::size_t value_begin() const noexcept { return value_begin_; }
  // Found out when first asked for: a value that is walked itself need not be skipped as well.
  std::size_t value_end() const noexcept;
  // The value has been walked to its end.
  void ends_at(std::size_t end) noexcept { value_end_ = end; }
  // Offset behind the object, from the member at hand on.
  std::size_t leave() const noexcept;

 private:
  explicit MemberScan(std::string_view text) : text_(text), at_(text.size()) {}
  std::string_view text_;
  std::size_t at_;
  std::string_view key_;
  std::size_t member_begin_ = 0;
  std::size_t value_begin_ = 0;  // 0: no member is at hand
  mutable std::size_t value_end_ = 0;
};

// Offset after the value that begins at `at`; text.size() when it has no end.
std::size_t skip_value(std::string_view text, std::size_t at);
// A scalar as a selector compares it: strings without quotes and escapes, true/false/numbers as printed; null and the rest: empty.
std::string scalar_text(std::string_view value);

// The declared field paths of a resource, compiled for one pass over the object.
class FieldPlan {
 public:
  explicit FieldPlan(const std::vector<SelectableField>& fields);
  // Values in declaration order; defaults where absent.  `metadata_end`: as scan_metadata() gave it.
  std::vector<std::string> extract(std::string_view object, std::size_t metadata_end = 0) const;
  bool empty() const noexcept { return defaults_.empty(); }

 private:
  struct Node {
    std::string key;
    std::vector<std::size_t> fields;  // that end here
    std::vector<Node> children;
  };
  static void add(std::vector<Node>& nodes, std::string_view path, std::size_t field);
  // Gives the offset behind the object.
  std::size_t walk(const std::vector<Node>& nodes, std::string_view text, MemberScan scan, std::vector<std::string>& values) const;

  std::vector<Node> roots_;
  std::vector<std::string> defaults_;
  bool behind_metadata_ = false;  // nothing of it is kind, apiVersion or metadata
};

// What one pass over an object's metadata finds.
struct MetadataScan {
  Labels labels;  // sorted by key
  // Where `"resourceVersion":"N",` goes or stands: [version_begin, version_end) of the text is replaced by it.
  std::size_t version_begin = 0;
  std::size_t version_end = 0;
  bool comma_before = false;  // the inserted member needs a comma in front
  bool comma_after = false;   // … or behind
  bool found = false;         // there is a metadata object
  std::size_t end = 0;        // behind it; 0: something but kind and apiVersion stands before it
};
// `sorted_keys`: members of metadata are in alphabetical order, else in ObjectMeta's.
MetadataScan scan_metadata(std::string_view object, bool sorted_keys);

}  // namespace backplane
