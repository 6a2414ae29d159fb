// FieldsV1: {"f:spec":{"f:replicas":{}}}.  The member "." of an element means that the element itself is in the set too.
#include "engine/raw_fields.hpp"
#include "fields/node.hpp"
#include "fields/wire.hpp"

namespace backplane::fields {
namespace {

// The meaning of an element's JSON value: the fields below the element, and whether the element itself is in the set.
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
    if (over_limit_) return bad_request("a field set is too large or too deep");
    if (!reader_.ok()) return bad_request("a field set is malformed");
    return FieldSet(std::move(root.below));
  }

 private:
  Level level(std::size_t depth) {
    Level out;
    Entries entries;
    if (depth > FieldSet::kMaxDepth) {
      over_limit_ = true;
      reader_.fail();
    }
    if (reader_.ok() && reader_.enter()) {
      entries.reserve(reader_.members());
      for (std::string_view name; reader_.next(name);) read_member(name, depth, out, entries);
    }
    out.below = node_of(std::move(entries));
    // No known member below: only the element itself is in the set.
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
      over_limit_ = true;
      return reader_.fail();
    }
    Level next = level(depth + 1);
    entries.push_back({std::move(**element), std::move(next.below), next.member});
  }

  Reader reader_;
  std::size_t elements_ = 0;
  bool over_limit_ = false;
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

// Puts the members of `node` into an empty object.  `wire`: buffer for the encoding.
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

}  // namespace BACKPLANE_API
