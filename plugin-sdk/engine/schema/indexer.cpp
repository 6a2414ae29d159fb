#include "schema/indexer.hpp"

#include <charconv>

#include "schema/scan.hpp"

namespace backplane::schema {
namespace {

struct Word {
  std::string_view text;
  Form form;
};

constexpr Word kBackplaneTypes[] = {
    {"string", Form::kString},     {"time", Form::kTime},       {"microTime", Form::kMicroTime},     {"duration", Form::kDuration},
    {"quantity", Form::kQuantity}, {"bytes", Form::kBytes},     {"intOrString", Form::kIntOrString}, {"rawExtension", Form::kRawExtension},
    {"fieldsV1", Form::kFieldsV1}, {"anyJson", Form::kAnyJson},
};

std::string_view unquote(std::string_view raw) noexcept {
  return raw.size() >= 2 && raw.front() == '"' ? raw.substr(1, raw.size() - 2) : std::string_view();
}

bool string_form(const Outline& outline, bool structural, Form& form) noexcept {
  form = !structural && outline.format == "byte" ? Form::kBytes : Form::kString;
  return true;
}

void read_kinds(std::string_view raw, Type* type, std::map<GroupVersionKind, Type*>& by_kind) {
  Scanner list(raw);
  if (!list.enter('[')) return;
  while (list.next_item()) {
    Scanner entry(list.value());
    GroupVersionKind gvk;
    std::string_view key;
    if (!entry.enter('{')) return;
    while (entry.next_key(key)) {
      const std::string_view text = unquote(entry.value());
      if (key == "group") gvk.group = text;
      if (key == "version") gvk.version = text;
      if (key == "kind") gvk.kind = text;
    }
    by_kind.emplace(std::move(gvk), type);
  }
}

// Fills `outline` from one member; true if it was one of its keywords.
void read_member(std::string_view key, std::string_view raw, Outline& outline) noexcept {
  if (key == "type") outline.type = unquote(raw);
  if (key == "format") outline.format = unquote(raw);
  if (key == "x-backplane-type") outline.backplane_type = unquote(raw);
  if (key == "x-backplane-shape") outline.shape = true;
  if (key == "properties") outline.properties = true;
  if (key == "additionalProperties") outline.additional = !raw.empty() && raw.front() == '{';
  if (key == "x-kubernetes-int-or-string") outline.int_or_string = raw == "true";
}

}  // namespace

bool form_of(const Outline& outline, bool structural, Form& form) noexcept {
  for (const Word& word : kBackplaneTypes) {
    if (outline.backplane_type == word.text) {
      form = word.form;
      return true;
    }
  }
  if (!outline.backplane_type.empty()) return false;
  if (outline.shape) return form = Form::kShape, true;
  if (outline.int_or_string) return form = Form::kIntOrString, true;
  if (outline.type == "string") return string_form(outline, structural, form);
  if (outline.type == "boolean") return form = Form::kBool, true;
  if (outline.type == "number") return form = Form::kDouble, true;
  if (outline.type == "integer") return form = outline.format == "int32" ? Form::kInt32 : Form::kInt64, true;
  if (outline.type == "array") return form = Form::kList, true;
  if (outline.type == "object") return form = outline.additional && !outline.properties ? Form::kMap : Form::kStruct, true;
  if (!outline.type.empty()) return false;
  if (outline.properties) return form = Form::kStruct, true;
  return form = Form::kAnyJson, true;
}

Status Indexer::add(std::string_view document, std::size_t number) {
  const std::string where = "schema document " + std::to_string(number);
  std::vector<Definition> found;
  bool any = false;
  Scanner scanner(document);
  std::string_view key, member;
  if (!scanner.enter('{')) return bad_request(where + ": not a JSON object");
  // Scans the whole text once.  The mode may follow the definitions, so they are added afterwards.
  while (scanner.next_key(key)) {
    if (key != "definitions") {
      const std::string_view raw = scanner.value();
      if (key == "x-backplane-mode") state_.structural = raw == "\"structural\"";
      continue;
    }
    any = scanner.enter('{');
    while (any && scanner.next_key(key)) {
      Definition& definition = found.emplace_back();
      definition.name = key;
      const std::size_t begin = scanner.begin();
      if (!scanner.enter('{')) return bad_request(where + ", " + std::string(key) + ": not a JSON object");
      while (scanner.next_key(member)) {
        const std::string_view raw = scanner.value();
        read_member(member, raw, definition.outline);
        if (member == "x-kubernetes-group-version-kind") definition.kinds = raw;
      }
      definition.text = document.substr(begin, scanner.offset() - begin);
    }
  }
  if (!scanner.ok()) return bad_request(where + ": malformed JSON at byte " + std::to_string(scanner.offset()));
  if (!any) return bad_request(where + ": no definitions");
  for (const Definition& definition : found) {
    if (Status status = add_definition(definition, where); !status.ok()) return status;
  }
  return {};
}

Status Indexer::add_definition(const Definition& definition, const std::string& where) {
  const Outline& outline = definition.outline;
  Form form{};
  if (!form_of(outline, state_.structural, form)) {
    const std::string_view word = outline.backplane_type.empty() ? outline.type : outline.backplane_type;
    return bad_request(where + ", " + std::string(definition.name) + ": unknown type \"" + std::string(word) + "\"");
  }
  auto type = std::make_unique<Type>(&state_, definition.name, form);
  type->text_ = definition.text;
  Type* raw_type = type.get();
  if (!state_.definitions.emplace(definition.name, std::move(type)).second) {
    return bad_request(where + ", " + std::string(definition.name) + ": defined twice");
  }
  state_.order.push_back(raw_type);
  if (!definition.kinds.empty()) read_kinds(definition.kinds, raw_type, state_.by_kind);
  return {};
}

}  // namespace backplane::schema
