#include "documents/words.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane::documents {
namespace {

using enum WordValue;

constexpr SchemaWord kWords[] = {
    // OpenAPI, both modes
    {"$ref", true, true, kText},
    {"additionalProperties", true, true, kSchemaOrFlag},
    {"allOf", true, true, kSchemas},
    {"default", true, true, kAny},
    {"description", true, true, kText},
    {"enum", true, true, kList},
    {"example", true, true, kAny},
    {"externalDocs", true, true, kObject},
    {"format", true, true, kText},
    {"items", true, true, kSchema},
    {"properties", true, true, kMembers},
    {"required", true, true, kTexts},
    {"title", true, true, kText},
    {"type", true, true, kText},
    {"x-kubernetes-group-version-kind", true, true, kList},
    {"x-kubernetes-int-or-string", true, true, kFlag},
    {"x-kubernetes-list-map-keys", true, true, kTexts},
    {"x-kubernetes-list-type", true, true, kText},
    {"x-kubernetes-map-type", true, true, kText},
    {"x-backplane-default", true, true, kAny},
    // Keywords that the structural engine enforces
    {"anyOf", true, false, kSchemas},
    {"exclusiveMaximum", true, false, kFlag},
    {"exclusiveMinimum", true, false, kFlag},
    {"maxItems", true, false, kCount},
    {"maxLength", true, false, kCount},
    {"maxProperties", true, false, kCount},
    {"maximum", true, false, kNumber},
    {"minItems", true, false, kCount},
    {"minLength", true, false, kCount},
    {"minProperties", true, false, kCount},
    {"minimum", true, false, kNumber},
    {"multipleOf", true, false, kNumber},
    {"not", true, false, kSchema},
    {"nullable", true, false, kFlag},
    {"oneOf", true, false, kSchemas},
    {"pattern", true, false, kText},
    {"uniqueItems", true, false, kFlag},
    {"x-kubernetes-embedded-resource", true, false, kFlag},
    {"x-kubernetes-preserve-unknown-fields", true, false, kFlag},
    // Words of the typed engine (docs/schema-words.md)
    {"x-kubernetes-patch-merge-key", false, true, kText},
    {"x-kubernetes-patch-strategy", false, true, kText},
    {"x-kubernetes-unions", false, true, kList},
    {"x-backplane-default-fills", false, true, kFlag},
    {"x-backplane-default-from", false, true, kText},
    {"x-backplane-default-when", false, true, kAny},
    {"x-backplane-drop-when", false, true, kAny},
    {"x-backplane-every-group", false, true, kFlag},
    {"x-backplane-fill-from", false, true, kTexts},
    {"x-backplane-fill-when", false, true, kAny},
    {"x-backplane-first-of", false, true, kText},
    {"x-backplane-gate", false, true, kAny},
    {"x-backplane-go-name", false, true, kText},
    {"x-backplane-go-order", false, true, kTexts},
    {"x-backplane-go-pointer", false, true, kFlag},
    {"x-backplane-go-type", false, true, kText},
    {"x-backplane-hidden-annotations", false, true, kTexts},
    {"x-backplane-inline", false, true, kFlag},
    {"x-backplane-into", false, true, kText},
    {"x-backplane-items-say", false, true, kObject},
    {"x-backplane-number-annotations", false, true, kTexts},
    {"x-backplane-number-text", false, true, kText},
    {"x-backplane-omit", false, true, kText},
    {"x-backplane-pointer", false, true, kFlag},
    {"x-backplane-proto", false, true, kAny},
    {"x-backplane-round", false, true, kText},
    {"x-backplane-rules", false, true, kAny},
    {"x-backplane-shape", false, true, kObject},
    {"x-backplane-struct-rules", false, true, kObject},
    {"x-backplane-type", false, true, kText},
};

bool is_text(const Value& value) { return value.is_string(); }
bool is_schema(const Value& value) { return value.is_object(); }

bool all(const Value& list, bool (*fits)(const Value&)) {
  return list.is_array() && std::all_of(list.get_array().begin(), list.get_array().end(), fits);
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

const SchemaWord* find_word(std::string_view word) noexcept {
  const auto* found = std::find_if(std::begin(kWords), std::end(kWords), [word](const SchemaWord& row) { return row.word == word; });
  return found == std::end(kWords) ? nullptr : found;
}

std::string_view wrong_value(WordValue wanted, const Value& value) noexcept {
  const bool count = value.is_int64() && value.get_int64() >= 0;
  switch (wanted) {
    case kAny:
      return {};
    case kText:
      return value.is_string() ? "" : "must be a text";
    case kTexts:
      return all(value, is_text) ? "" : "must be a list of texts";
    case kFlag:
      return value.is_bool() ? "" : "must be true or false";
    case kCount:
      return count ? "" : "must be a whole number that is not negative";
    case kNumber:
      return value.is_number() ? "" : "must be a number";
    case kList:
      return value.is_array() && !value.get_array().empty() ? "" : "must be a list with an item at least";
    case kObject:
    case kMembers:
      return value.is_object() ? "" : "must be an object";
    case kSchema:
      return value.is_object() ? "" : "must be a schema";
    case kSchemas:
      return all(value, is_schema) ? "" : "must be a list of schemas";
    case kSchemaOrFlag:
      return value.is_object() || value.is_bool() ? "" : "must be a schema, true or false";
  }
  return {};
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  const std::size_t most = word.size() < 6 ? 1 : 2;
  std::string_view best;
  std::size_t least = most + 1;
  for (const std::string_view each : known) {
    const std::size_t far = distance(word, each);
    if (far < least) best = each, least = far;
  }
  return best;
}

std::string refusal_of(std::string_view word, bool structural) {
  const std::string name = quoted(word);
  if (word == "x-kubernetes-validations") {
    return name + " is run for custom resources alone: write the rule in Strategy::validate(), with backplane/types/cel.hpp if it is CEL";
  }
  if (find_word(word) != nullptr) {
    return structural ? name + " works in typed documents alone (those without \"x-backplane-mode\": \"structural\")"
                      : name +
                            " is enforced in structural documents alone: write x-backplane-rules (docs/schema-words.md), or make the "
                            "document structural (\"x-backplane-mode\": \"structural\")";
  }
  std::vector<std::string_view> known;
  for (const SchemaWord& row : kWords) {
    if (structural ? row.structural : row.typed) known.push_back(row.word);
  }
  const std::string_view meant = nearest(word, known);
  return name + " is not a keyword of schemas" + (meant.empty() ? "" : "; did you mean " + quoted(meant) + "?");
}

}  // namespace backplane::documents
