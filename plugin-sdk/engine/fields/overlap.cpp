// What FieldsV1 and a set have in common, told from one walk through the text or tree, with nothing built on the way.
#include "engine/raw_fields.hpp"
#include "fields/node.hpp"
#include "fields/wire.hpp"

namespace backplane::fields {
namespace {

// Which fields of a set the object that comes next names.
template <class Reader>
class Overlap {
 public:
  explicit Overlap(Reader reader) : reader_(std::move(reader)) {}

  // What cannot be read to its end may name anything.
  bool any(const Node& root) {
    only_first_ = true;
    walk(&root);
    return !met_.empty() || !whole();
  }

  bool all(const Node& root, std::size_t wanted) {
    met_.reserve(wanted);
    walk(&root);
    // A field that is named twice is one.
    std::sort(met_.begin(), met_.end());
    const auto count = std::unique(met_.begin(), met_.end()) - met_.begin();
    return whole() && static_cast<std::size_t>(count) == wanted;
  }

 private:
  bool whole() noexcept { return reader_.ok() && reader_.at_end(); }

  // Below `node`, which may be null.  Whether the element of the object is named itself.
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
      if (member && entry->member && reader_.ok()) met_.push_back(entry);
    }
    --depth_;
    // Nothing below that is known: the element alone is meant.
    return self || !known;
  }

  bool done() const noexcept { return only_first_ && !met_.empty(); }

  const Entry* find(const Node& node) const noexcept {
    const std::string_view wanted = code_;
    const auto at = std::lower_bound(node.entries.begin(), node.entries.end(), wanted,
                                     [](const Entry& entry, std::string_view code) { return entry.element.code() < code; });
    return at == node.entries.end() || at->element.code() != wanted ? nullptr : &*at;
  }

  Reader reader_;
  std::vector<const Entry*> met_;
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
