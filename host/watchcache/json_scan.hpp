// Reads the few members that the cache needs from canonical JSON bytes, without building a tree.
//
// Canonical: compact, no white space, valid (it was printed by the server itself). Damaged input results in missing members, never in a
// read outside the bytes.
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
#include "backplane/types/json_scan.hpp"

namespace backplane {

// The declared field paths of a resource, compiled for one pass over the object.
class FieldPlan {
 public:
  explicit FieldPlan(const std::vector<SelectableField>& fields);
  // Values in declaration order; defaults where absent. `metadata_end`: from scan_metadata().
  std::vector<std::string> extract(std::string_view object, std::size_t metadata_end = 0) const;
  bool empty() const noexcept { return defaults_.empty(); }

 private:
  struct Node {
    std::string key;
    std::vector<std::size_t> fields;  // that end here
    std::vector<Node> children;
  };
  static void add(std::vector<Node>& nodes, std::string_view path, std::size_t field);
  // Returns the offset after the object.
  std::size_t walk(const std::vector<Node>& nodes, std::string_view text, MemberScan scan, std::vector<std::string>& values) const;

  std::vector<Node> roots_;
  std::vector<std::string> defaults_;
  bool after_metadata_ = false;  // no path begins with kind, apiVersion or metadata
};

// The result of one pass over an object's metadata.
struct MetadataScan {
  Labels labels;  // sorted by key
  // Place of `"resourceVersion":"N",`: [version_begin, version_end) of the text is replaced by it.
  std::size_t version_begin = 0;
  std::size_t version_end = 0;
  bool comma_before = false;  // the inserted member needs a comma in front
  bool comma_after = false;   // … or after
  bool found = false;         // there is a metadata object
  std::size_t end = 0;        // after it; 0: members other than kind and apiVersion precede it
};
// `sorted_keys`: members of metadata are in alphabetical order, else in ObjectMeta's.
MetadataScan scan_metadata(std::string_view object, bool sorted_keys);

}  // namespace backplane
