// Reads the few members that the cache needs from canonical JSON bytes, without building a tree.
//
// Canonical JSON is valid and has no white space between its tokens; the server has printed it itself. Damaged input results in missing
// members, never in a read outside the bytes.
//
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
  // The values in the order of declaration; a field that the object lacks has its default value. `metadata_end`: MetadataScan::end; 0 if it
  // is unknown.
  std::vector<std::string> extract(std::string_view object, std::size_t metadata_end = 0) const;
  bool empty() const noexcept { return defaults_.empty(); }

 private:
  struct Node {
    std::string key;
    std::vector<std::size_t> fields;  // the indices of the fields whose path ends at this node
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
  // The range of the text that the member `"resourceVersion":"N"` replaces; it is empty if the text has no resourceVersion.
  std::size_t version_begin = 0;
  std::size_t version_end = 0;
  bool comma_before = false;  // a comma precedes the inserted member
  bool comma_after = false;   // a comma follows the inserted member
  bool found = false;         // there is a metadata object
  std::size_t end = 0;        // the offset after metadata; 0: members other than kind and apiVersion precede metadata
};
// `sorted_keys`: true if the members of metadata are in alphabetical order, false if they are in the order of ObjectMeta.
MetadataScan scan_metadata(std::string_view object, bool sorted_keys);

}  // namespace backplane
