// The intersection of FieldsV1 and a set, from one pass over the text or tree, without a set in between.
#include "engine/raw_fields.hpp"
#include "fields/node.hpp"
#include "fields/wire.hpp"

namespace backplane::fields {
namespace {

// Finds the fields of a set that the reader's object names.
template <class Reader>
class Overlap {
 public:
  explicit Overlap(Reader reader) : reader_(std::move(reader)) {}

  // A text with an error may name any field.
  bool any(const Node& root) {
    only_first_ = true;
    walk(&root);
    return !found_.empty() || !whole();
  }

  bool all(const Node& root, std::size_t wanted) {
    found_.reserve(wanted);
    walk(&root);
    // A repeated field counts once.
    std::sort(found_.begin(), found_.end());
    const auto count = std::unique(found_.begin(), found_.end()) - found_.begin();
    return whole() && static_cast<std::size_t>(count) == wanted;
  }

 private:
  bool whole() noexcept { return reader_.ok() && reader_.at_end(); }

  // Walks below `node`, which may be null.  True if the object's element itself is in its set.
  bool walk(const Node* node) {
    bool self = false, known = false;
    if (depth_ > FieldSet::kMaxDepth) reader_.fail();
    if (!reader_.ok() || !reader_.enter()) return true;
    ++depth_;
    for (std::string_view name; !done() && reader_.next(name);) {
      if (name == ".") {
        self = true;
        reader_.skip();
        continue;
      }
      code_.clear();
      const Read read = read_element(name, code_);
      if (read == Read::kMalformed) reader_.fail();
      known = known || read == Read::kDone;
      const Entry* entry = node == nullptr || read != Read::kDone ? nullptr : find(*node);
      if (entry == nullptr) {
        reader_.skip();
        continue;
      }
      const bool member = walk(entry->below.get());
      if (member && entry->member && reader_.ok()) found_.push_back(entry);
    }
    --depth_;
    // No known member below: only the element itself is in the set.
    return self || !known;
  }

  bool done() const noexcept { return only_first_ && !found_.empty(); }

  const Entry* find(const Node& node) const noexcept {
    const std::string_view wanted = code_;
    const auto at = std::lower_bound(node.entries.begin(), node.entries.end(), wanted,
                                     [](const Entry& entry, std::string_view code) { return entry.element.code() < code; });
    return at == node.entries.end() || at->element.code() != wanted ? nullptr : &*at;
  }

  Reader reader_;
  std::vector<const Entry*> found_;
  std::string code_;
  std::size_t depth_ = 0;
  bool only_first_ = false;
};

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

bool meets(std::string_view fields_v1, const FieldSet& set) {
  return set.root() != nullptr && fields::Overlap(fields::WireReader(fields_v1)).any(*set.root());
}

bool meets(const Value& fields_v1, const FieldSet& set) {
  if (const std::string_view text = text_of_raw(fields_v1); !text.empty()) return meets(text, set);
  return set.root() != nullptr && fields::Overlap(fields::TreeReader(fields_v1)).any(*set.root());
}

bool covers(std::string_view fields_v1, const FieldSet& set) {
  return set.root() == nullptr || fields::Overlap(fields::WireReader(fields_v1)).all(*set.root(), set.size());
}

bool covers(const Value& fields_v1, const FieldSet& set) {
  if (const std::string_view text = text_of_raw(fields_v1); !text.empty()) return covers(text, set);
  return set.root() == nullptr || fields::Overlap(fields::TreeReader(fields_v1)).all(*set.root(), set.size());
}

}  // namespace BACKPLANE_API
