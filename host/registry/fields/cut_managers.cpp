#include "registry/fields/cut_managers.hpp"

#include <algorithm>

#include "backplane/types/schema.hpp"
#include "engine/raw_json.hpp"
#include "registry/fields/managers.hpp"
#include "watchcache/json_scan.hpp"

namespace backplane::registry {
namespace {

constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// The offset of the value of the member `name` in the object at `open`. 0: there is no such member, or a blank precedes a value, which
// MemberScan does not support.
std::size_t member(std::string_view text, std::size_t open, std::string_view name) {
  for (MemberScan scan(text, open); scan.next();) {
    if (scan.value_begin() >= text.size() || is_blank(text[scan.value_begin()])) return 0;
    if (scan.key() == name) return scan.value_begin();
  }
  return 0;
}

Array* managers_in(Value& tree) {
  Value* metadata = tree.is_object() ? find(tree.get_object(), "metadata") : nullptr;
  Value* managed = metadata != nullptr && metadata->is_object() ? find(metadata->get_object(), "managedFields") : nullptr;
  return managed != nullptr ? managed->if_array() : nullptr;
}

Value* fields_in(Value& entry) { return entry.is_object() ? find(entry.get_object(), "fieldsV1") : nullptr; }

}  // namespace

std::optional<Value> parse_sent(std::string_view body, json::storage_ptr storage) {
  const auto cut = ManagersCut::of(body);
  if (!cut) return std::nullopt;
  DecodeReport report;
  auto tree = parse_json(cut->rest(), std::move(storage), &report);
  if (!tree.ok() || !report.problems.empty() || !cut->restore(*tree)) return std::nullopt;
  return std::optional<Value>(std::move(*tree));
}

// Finds the position of each fieldsV1. False: the text does not have the format that the server writes.
bool ManagersCut::find() {
  const std::size_t metadata = member(text_, 0, "metadata");
  const std::size_t managed = metadata != 0 ? member(text_, metadata, "managedFields") : 0;
  if (managed == 0 || text_[managed] != '[') return false;
  for (std::size_t at = managed + 1; at < text_.size() && text_[at] == '{';) {
    std::optional<Span> fields;
    MemberScan scan(text_, at);
    while (!fields && scan.next()) {
      if (scan.value_begin() >= text_.size() || is_blank(text_[scan.value_begin()])) return false;
      if (scan.key() == "fieldsV1") fields = Span{scan.value_begin(), scan.value_end()};
    }
    if (!fields || text_[fields->begin] != '{') return false;
    spans_.push_back(*fields);
    at = scan.leave();
    if (at < text_.size() && text_[at] == ']') return true;
    if (at < text_.size() && text_[at] == ',') ++at;
  }
  return false;
}

std::optional<ManagersCut> ManagersCut::of(std::string_view text) {
  ManagersCut out(text);
  if (!out.find()) return std::nullopt;
  return out;
}

std::string ManagersCut::rest() const {
  std::string out;
  out.reserve(text_.size());
  std::size_t at = 0;
  for (const Span& span : spans_) {
    out.append(text_.substr(at, span.begin - at)).append("null");
    at = span.end;
  }
  return out.append(text_.substr(at));
}

bool ManagersCut::restore(Value& tree) const {
  Array* const entries = managers_in(tree);
  if (entries == nullptr || entries->size() != spans_.size()) return false;
  const auto cut = [](Value& entry) {
    const Value* fields = fields_in(entry);
    return fields != nullptr && fields->is_null();
  };
  if (!std::all_of(entries->begin(), entries->end(), cut)) return false;
  for (std::size_t i = 0; i < spans_.size(); ++i) *fields_in((*entries)[i]) = make_raw(text_of(spans_[i]), tree.storage());
  return true;
}

}  // namespace backplane::registry
