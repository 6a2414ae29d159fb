#include "registry/fields/raw_managers.hpp"

#include <boost/container/small_vector.hpp>

#include "backplane/json_reading.hpp"
#include "backplane/object_fields.hpp"
#include "backplane/raw_fields.hpp"
#include "registry/fields/managers.hpp"
#include "registry/fields/sorted_members.hpp"
#include "watchcache/json_scan.hpp"

namespace backplane::registry {
namespace {

struct Span {
  std::size_t begin;
  std::size_t end;
};
using Spans = boost::container::small_vector<Span, 8>;

// Where the value of a member of the object at `open` begins; 0: it has none.
std::size_t member(std::string_view text, std::size_t open, std::string_view name) {
  for (MemberScan scan(text, open); scan.next();) {
    if (scan.key() == name) return scan.value_begin();
  }
  return 0;
}

// Where the fields of managers stand.  False: something there is not as the server writes it.
bool find_fields(std::string_view text, Spans& out) {
  const std::size_t metadata = member(text, 0, "metadata");
  const std::size_t managed = metadata != 0 ? member(text, metadata, "managedFields") : 0;
  if (managed == 0 || text[managed] != '[') return false;
  for (std::size_t at = managed + 1; at < text.size() && text[at] == '{';) {
    std::optional<Span> fields;
    MemberScan scan(text, at);
    while (!fields && scan.next()) {
      if (scan.key() == "fieldsV1") fields = Span{scan.value_begin(), scan.value_end()};
    }
    if (!fields || text[fields->begin] != '{') return false;
    out.push_back(*fields);
    at = scan.leave();
    if (at < text.size() && text[at] == ']') return true;
    if (at < text.size() && text[at] == ',') ++at;
  }
  return false;
}

// The text with null in their place.
std::string without(std::string_view text, const Spans& spans) {
  std::string out;
  out.reserve(text.size());
  std::size_t at = 0;
  for (const Span& span : spans) {
    out.append(text.substr(at, span.begin - at)).append("null");
    at = span.end;
  }
  return out.append(text.substr(at));
}

template <class AnyValue, class Each>
void for_each_fields(AnyValue& managed_fields, Each each) {
  if (!managed_fields.is_array()) return;
  for (auto& entry : managed_fields.get_array()) {
    auto* fields = entry.is_object() ? find(entry.get_object(), "fieldsV1") : nullptr;
    if (fields != nullptr) each(*fields);
  }
}

void fold(Value& fields) {
  if (fields.is_object()) fields = make_raw(to_json(fields.get_object()), fields.storage());
}

}  // namespace

Object decode_for_write(const ObjectEntry& entry, const Schema* schema, json::storage_ptr storage) {
  // Few kinds have other raw values, and what those were sent as is another text.
  if (holds_raw(schema)) return decode_kept(entry, schema, std::move(storage));
  const std::string_view text = entry.json().view();
  Spans spans;
  if (!find_fields(text, spans)) return decode(entry, std::move(storage));
  auto tree = read_json(without(text, spans), storage);
  if (!tree || !tree->is_object()) throw UnreadableObject(entry.key.empty() ? entry.name : entry.key);
  Array& entries = tree->get_object().at("metadata").as_object().at("managedFields").as_array();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const Span& span = spans[i];
    entries.at(i).as_object()["fieldsV1"] = make_raw(text.substr(span.begin, span.end - span.begin), storage);
  }
  return std::move(tree->get_object());
}

// Of raw values as of trees.  Texts of the same set are of one length.
bool same_fields(const Value& a, const Value& b) {
  const std::string_view one = text_of_raw(a), other = text_of_raw(b);
  if (one.empty() && other.empty()) return same_value(a, b);
  if (!one.empty() && !other.empty() && (one == other || one.size() != other.size())) return one == other;
  Value tree(a), other_tree(b);
  read_raw(tree);
  read_raw(other_tree);
  return same_value(tree, other_tree);
}

bool has_raw_managers(const Object& object) noexcept {
  const Value* managed = managed_fields_of(object);
  bool found = false;
  if (managed != nullptr) for_each_fields(*managed, [&](const Value& fields) { found = found || is_raw(fields); });
  return found;
}

void expand_managers(Object& object) {
  if (const Value* managed = managed_fields_of(object)) for_each_fields(const_cast<Value&>(*managed), read_raw);
}

void fold_managers(Value& managed_fields) { for_each_fields(managed_fields, fold); }

bool same_managers(const Value& a, const Value& b) {
  Value one(a), other(b);
  for_each_fields(one, read_raw);
  for_each_fields(other, read_raw);
  return same_value(one, other);
}

void sort_managers(Value& managed_fields) {
  for_each_fields(managed_fields, [](Value& fields) {
    if (is_raw(fields) && names_in_order(raw_text(fields))) return;
    read_raw(fields);
    sort_members(fields);
    fold(fields);
  });
  sort_members(managed_fields);
}

}  // namespace backplane::registry
