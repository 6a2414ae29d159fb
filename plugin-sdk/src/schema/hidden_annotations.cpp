#include "schema/hidden_annotations.hpp"

#include "backplane/json_reading.hpp"
#include "schema/scan.hpp"
#include "schema/type.hpp"

namespace backplane::schema {
namespace {

constexpr std::string_view kWord = "x-backplane-hidden-annotations";

// The word's JSON, a list of texts; empty for most kinds.  It is asked for with every object of a list, so that it stands in front of
// everything else in a definition.
SharedBytes word_of(const Schema& schema) {
  const auto* type = schema.structural() ? nullptr : dynamic_cast<const Type*>(&schema);
  if (type == nullptr) return {};
  const SharedBytes text = type->text();
  Scanner members(text.view());
  std::string_view key;
  if (!members.enter('{') || !members.next_key(key) || key != kWord) return {};
  const std::size_t begin = members.begin();
  return text.slice(begin, members.value().size());
}

// Calls `found` with each name, in quotes, until it says true; whether it did.
template <class Found>
bool any_name(std::string_view word, Found found) {
  Scanner names(word);
  if (word.empty() || !names.enter('[')) return false;
  while (names.next_item()) {
    if (found(names.value())) return true;
  }
  return false;
}

}  // namespace

bool has_hidden_annotations(const Schema* schema, std::string_view metadata) {
  if (schema == nullptr) return false;
  return any_name(word_of(*schema).view(), [&](std::string_view name) { return metadata.find(name) != std::string_view::npos; });
}

std::string without_hidden_annotations(const Schema& schema, std::string_view metadata) {
  std::optional<Value> tree = read_json(metadata);
  if (!tree || !tree->is_object()) return std::string(metadata);
  Value* annotations = find(tree->get_object(), "annotations");
  if (annotations == nullptr || !annotations->is_object()) return std::string(metadata);
  any_name(word_of(schema).view(), [&](std::string_view name) {
    erase_member(annotations->get_object(), name.substr(1, name.size() - 2));
    return false;
  });
  if (annotations->get_object().empty()) erase_member(tree->get_object(), "annotations");
  return to_json(*tree);
}

}  // namespace backplane::schema
