// The nodes of one YAML document from libyaml, as go-yaml v2 has them before decoding.
//
// Thread-safety: a document that has been read is immutable.
// Errors:        go-yaml's messages after "yaml: ".  Syntax errors are reported before decoding errors, regardless of their order in the
// text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane::schema {

struct YamlNode {
  enum class Kind : unsigned char { kScalar, kList, kMap, kAlias };
  Kind kind = Kind::kScalar;
  bool plain = false;       // A scalar without quotes and tag.
  std::uint32_t tag = 0;    // Of the document's tags; 0: none.
  std::uint32_t line = 0;   // From 0.
  std::uint32_t next = 0;   // The next node of the same list or map (keys and values take turns); 0: none.
  std::uint32_t first = 0;  // Of a list or map: its first node, 0: none.  Of an alias: its target.
  std::size_t text = 0;     // Where a scalar's text begins in the document's texts.
  std::size_t size = 0;
};

class YamlDocument {
 public:
  // Reads the first document of `text`.  Work and memory are linear in the size of the text; aliases are not expanded, only counted.
  // Errors: kBadRequest for a text that is not YAML, for recursive aliases, for aliases that exceed go-yaml's limits, and for more than
  // kMaxJsonDepth levels.
  static Result<YamlDocument> read(std::string_view text);

  bool empty() const noexcept { return nodes_.size() < 2; }
  // Node 1 is the first.
  const YamlNode& root() const noexcept { return nodes_[1]; }
  const YamlNode& operator[](std::uint32_t at) const noexcept { return nodes_[at]; }
  // The target of an alias, or the node itself.
  const YamlNode& target(const YamlNode& node) const noexcept { return node.kind == YamlNode::Kind::kAlias ? nodes_[node.first] : node; }
  std::string_view text(const YamlNode& node) const noexcept { return std::string_view(texts_).substr(node.text, node.size); }
  std::string_view tag(const YamlNode& node) const noexcept { return node.tag == 0 ? std::string_view() : tags_[node.tag - 1]; }
  // A plain << (or one tagged !!merge) as a key.
  bool is_merge(const YamlNode& key) const noexcept;

 private:
  friend class YamlNodeReader;
  std::vector<YamlNode> nodes_{1};
  std::string texts_;
  std::vector<std::string> tags_;
};

}  // namespace backplane::schema
