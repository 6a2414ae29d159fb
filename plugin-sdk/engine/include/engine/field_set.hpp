// Sets of fields of an object, as metadata.managedFields holds them (FieldsV1), and queries of them.
//
// A set is a tree of path elements in upstream's order: fields by name, then items of map lists by their keys, then items of sets by their
// value, then items by index.  An element may be in the set itself, have elements below it, or both.
//
// Thread-safety: values; trees are immutable and shared between copies, so that a copy of a set costs a pointer, and operations share the
//                parts that they do not change.
// Lifetime:      a set owns its elements; views live as long as the set or element that returned them.
// Errors:        kBadRequest for FieldsV1 that is malformed, too deep or too large, with the reason.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// One step of a path. It is stored as one string whose bytes sort as upstream sorts elements, so that order, equality and hash are those of
// the bytes.
class PathElement {
 public:
  enum class Kind : unsigned char { kField = 1, kKey = 2, kValue = 3, kIndex = 4 };
  // A member of a key; the value is usually a scalar, but a client may send any value.
  struct Member {
    std::string_view name;
    const Value* value;
  };

  PathElement() : PathElement(field({})) {}
  static PathElement field(std::string_view name);
  // The item of a map list that has these members; their order does not matter.
  static PathElement key(std::span<const Member> members);
  static PathElement key(std::initializer_list<Member> members) { return key(std::span(members.begin(), members.size())); }
  // The item of a set.
  static PathElement value(const Value& item);
  static PathElement index(std::int64_t at);
  // Reads "f:name", "k:{…}", "v:…", "i:0". nullopt for an unknown kind, which readers skip.
  // Errors: kBadRequest with the reason.
  static Result<std::optional<PathElement>> parse(std::string_view wire);

  Kind kind() const noexcept { return static_cast<Kind>(code_[0]); }
  // The name of a field; empty for other kinds.
  std::string_view name() const noexcept { return kind() == Kind::kField ? std::string_view(code_).substr(1) : std::string_view(); }
  // The element's text in FieldsV1, without quotes: "k:{\"name\":\"c\"}".
  void append_wire(std::string& out) const;
  // The element's text in conflicts: .name, [name="c"], [="x"], [0].
  void append_text(std::string& out) const;

  bool operator==(const PathElement& other) const noexcept { return code_ == other.code_; }
  std::strong_ordering operator<=>(const PathElement& other) const noexcept { return code_.compare(other.code_) <=> 0; }
  // The bytes that define order, equality and hash of the element.
  std::string_view code() const noexcept { return code_; }

 private:
  explicit PathElement(std::string code) noexcept : code_(std::move(code)) {}
  std::string code_;
};

using FieldPath = std::vector<PathElement>;

// The path's text in conflicts: .spec.containers[name="c"].image
std::string path_text(std::span<const PathElement> path);
// A path of fields only: fields_path({"metadata", "name"}).
FieldPath fields_path(std::initializer_list<std::string_view> names);

class FieldSet {
 public:
  // Limits of decode(): enough for the set of an object of the maximal request size.
  static constexpr std::size_t kMaxDepth = 1000;
  static constexpr std::size_t kMaxElements = 400'000;

  struct Node;  // in fields/node.hpp of the SDK's sources
  using NodeRef = std::shared_ptr<const Node>;

  FieldSet() = default;
  FieldSet(std::initializer_list<FieldPath> paths);
  explicit FieldSet(NodeRef root) noexcept : root_(std::move(root)) {}

  // Reads FieldsV1. Elements of unknown kinds are skipped; the order of elements does not matter.
  static Result<FieldSet> decode(std::string_view fields_v1);
  static Result<FieldSet> decode(const char* fields_v1) { return decode(std::string_view(fields_v1)); }
  // Like the overloads above, for a parsed tree.
  static Result<FieldSet> decode(const Value& fields_v1);
  // FieldsV1, byte for byte as upstream writes it.
  void encode(std::string& out) const;
  std::string encode() const;
  // FieldsV1 as a tree.
  Value tree(const json::storage_ptr& storage) const;

  bool empty() const noexcept { return root_ == nullptr; }
  std::size_t size() const noexcept;
  bool has(std::span<const PathElement> path) const noexcept;
  // An empty path is not added, because it is not a field.
  void insert(std::span<const PathElement> path);
  // The fields below an element, as a set; may be empty.
  FieldSet below(const PathElement& element) const;

  FieldSet unite(const FieldSet& other) const;
  FieldSet intersect(const FieldSet& other) const;
  // The set without the paths of `other`; paths below them are kept.
  FieldSet subtract(const FieldSet& other) const;
  // The set without the paths of `other` and all paths below them (upstream: RecursiveDifference).
  FieldSet subtract_trees(const FieldSet& other) const;
  // Paths with nothing below them.
  FieldSet leaves() const;

  bool operator==(const FieldSet& other) const noexcept;
  // Visits the paths in upstream's order: the members of a level, then, for each element, the level below it.
  void for_each(const std::function<void(std::span<const PathElement> path)>& visit) const;
  std::vector<FieldPath> paths() const;

  const NodeRef& root() const noexcept { return root_; }

 private:
  NodeRef root_;  // null: empty
};

// Whether FieldsV1 names a path that is in `set`, without building a FieldSet: for owners whose fields have not changed.  Malformed text:
// true, so that the caller must decode it.
bool meets(std::string_view fields_v1, const FieldSet& set);
bool meets(const Value& fields_v1, const FieldSet& set);
inline bool meets(const char* fields_v1, const FieldSet& set) { return meets(std::string_view(fields_v1), set); }

// The fields of a request that are recorded: a strategy's reset fields exclude some, others include only some.
class FieldFilter {
 public:
  // The steps of a pattern; nullopt matches any element.
  using Pattern = std::vector<std::optional<PathElement>>;

  FieldFilter() = default;  // everything
  // Excludes these paths and all paths below them.
  static FieldFilter excluding(FieldSet fields);
  // Includes only the paths that match a pattern, the paths below them, and those of their prefixes that are in the set themselves.
  static FieldFilter including(std::span<const Pattern> patterns);

  bool everything() const noexcept { return excluded_.empty() && matcher_ == nullptr; }
  FieldSet apply(const FieldSet& set) const;

  struct Matcher;

 private:
  FieldSet excluded_;
  std::shared_ptr<const Matcher> matcher_;
};

}  // namespace BACKPLANE_API
