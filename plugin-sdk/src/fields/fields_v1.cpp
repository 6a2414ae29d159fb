// FieldsV1: {"f:spec":{"f:replicas":{}}}.  "." among the members of an element says that the element itself is in the set, too.
#include "backplane/raw_fields.hpp"
#include "fields/node.hpp"
#include "fields/wire.hpp"

namespace backplane::fields {
namespace {

// What a value says of its element.
struct Level {
  NodeRef below;
  bool member = false;
};

template <class Reader>
class Decoder {
 public:
  explicit Decoder(Reader reader) : reader_(std::move(reader)) {}

  Result<FieldSet> run() {
    Level root = level(0);
    if (reader_.ok() && !reader_.at_end()) reader_.fail();
    if (too_much_) return bad_request("a field set is too large or too deep");
    if (!reader_.ok()) return bad_request("a field set is malformed");
    return FieldSet(std::move(root.below));
  }

 private:
  Level level(std::size_t depth) {
    Level out;
    Entries entries;
    if (depth > FieldSet::kMaxDepth) {
      too_much_ = true;
      reader_.fail();
    }
    if (reader_.ok() && reader_.enter()) {
      entries.reserve(reader_.members());
      for (std::string_view name; reader_.next(name);) read_member(name, depth, out, entries);
    }
    out.below = node_of(std::move(entries));
    // Nothing below that is known: the element alone is meant.
    out.member = out.member || out.below == nullptr;
    return out;
  }

  void read_member(std::string_view name, std::size_t depth, Level& out, Entries& entries) {
    if (name == ".") {
      out.member = true;
      return reader_.skip();
    }
    auto element = PathElement::parse(name);
    if (!element.ok()) return reader_.fail();
    if (!*element) return reader_.skip();
    if (++elements_ > FieldSet::kMaxElements) {
      too_much_ = true;
      return reader_.fail();
    }
    Level next = level(depth + 1);
    entries.push_back({std::move(**element), std::move(next.below), next.member});
  }

  Reader reader_;
  std::size_t elements_ = 0;
  bool too_much_ = false;
};

void encode_level(const Node& node, std::string& out, std::string& wire, bool self) {
  out += '{';
  if (self) out += R"(".":{})";
  bool first = !self;
  for (const Entry& entry : node.entries) {
    if (!first) out += ',';
    first = false;
    append_element_name(out, entry.element, wire);
    if (entry.below)
      encode_level(*entry.below, out, wire, entry.member);
    else
      out += "{}";
  }
  out += '}';
}

// Puts the members of `node` into an object that has none.  `wire`: what is to be written with.
void fill(Object& out, const Node& node, bool self, std::string& wire) {
  out.reserve(node.entries.size() + (self ? 1 : 0));
  if (self) out.emplace(".", json::object_kind);
  for (const Entry& entry : node.entries) {
    wire.clear();
    entry.element.append_wire(wire);
    Value& below = out.emplace(wire, json::object_kind).first->value();
    if (entry.below) fill(below.get_object(), *entry.below, entry.member, wire);
  }
}

// Whether the object that comes next names an element, and below it: of `node`, which may be null, something in it.
template <class Reader>
class Meeting {
 public:
  explicit Meeting(Reader reader) : reader_(std::move(reader)) {}

  bool run(const Node& root) {
    walk(&root);
    return met_ || !reader_.ok() || !reader_.at_end();
  }

 private:
  // Whether the element of the object is in the set itself.
  bool walk(const Node* node) {
    bool self = false, known = false;
    if (depth_ > FieldSet::kMaxDepth) reader_.fail();
    if (!reader_.ok() || !reader_.enter()) return true;
    ++depth_;
    for (std::string_view name; !met_ && reader_.next(name);) {
      if (name == ".") {
        self = true;
        reader_.skip();
        continue;
      }
      known = known || is_known(name);
      const Entry* entry = node == nullptr ? nullptr : find(*node, name);
      if (entry == nullptr) {
        reader_.skip();
        continue;
      }
      const bool member = walk(entry->below.get());
      met_ = met_ || (member && entry->member);
    }
    --depth_;
    return self || !known;
  }

  // Elements of other kinds are passed over.
  static bool is_known(std::string_view name) noexcept {
    return name.size() < 2 || name[1] != ':' || std::string_view("fkvi").find(name[0]) != std::string_view::npos;
  }

  const Entry* find(const Node& node, std::string_view name) {
    const auto element = PathElement::parse(name);
    if (!element.ok()) reader_.fail();
    return element.ok() && *element ? node.find(**element) : nullptr;
  }

  Reader reader_;
  std::size_t depth_ = 0;
  bool met_ = false;
};

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

Result<FieldSet> FieldSet::decode(std::string_view fields_v1) { return fields::Decoder(fields::WireReader(fields_v1)).run(); }

Result<FieldSet> FieldSet::decode(const Value& fields_v1) {
  if (const std::string_view text = text_of_raw(fields_v1); !text.empty()) return decode(text);
  return fields::Decoder(fields::TreeReader(fields_v1)).run();
}

Value FieldSet::tree(const json::storage_ptr& storage) const {
  Object out(storage);
  std::string wire;
  if (root_) fields::fill(out, *root_, false, wire);
  return Value(std::move(out));
}

void FieldSet::encode(std::string& out) const {
  std::string wire;
  if (root_)
    fields::encode_level(*root_, out, wire, false);
  else
    out += "{}";
}

std::string FieldSet::encode() const {
  std::string out;
  encode(out);
  return out;
}

bool meets(std::string_view fields_v1, const FieldSet& set) {
  return set.root() != nullptr && fields::Meeting(fields::WireReader(fields_v1)).run(*set.root());
}

bool meets(const Value& fields_v1, const FieldSet& set) {
  if (const std::string_view text = text_of_raw(fields_v1); !text.empty()) return meets(text, set);
  return set.root() != nullptr && fields::Meeting(fields::TreeReader(fields_v1)).run(*set.root());
}

}  // namespace BACKPLANE_API
