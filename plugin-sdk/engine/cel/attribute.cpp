// Attributes: variables with their fields and indexes.
#include "cel/attribute.hpp"

#include "cel/node.hpp"

namespace backplane::cel_detail {

std::string plain_text(Arena& arena, const Val& value) {
  std::string out;
  append_plain(arena, out, value);
  return out;
}

std::string_view go_type(const Val& value) noexcept {
  switch (value.kind) {
    case ValKind::kNull:
      return "types.Null";
    case ValKind::kBool:
      return "types.Bool";
    case ValKind::kInt:
      return "types.Int";
    case ValKind::kUint:
      return "types.Uint";
    case ValKind::kDouble:
      return "types.Double";
    case ValKind::kString:
      return "types.String";
    case ValKind::kBytes:
      return "types.Bytes";
    case ValKind::kDuration:
      return "types.Duration";
    case ValKind::kTimestamp:
      return "types.Timestamp";
    case ValKind::kOptional:
      return "*types.Optional";
    case ValKind::kList:
      return "[]interface {}";
    case ValKind::kMap:
      return "map[string]interface {}";
    default:
      return "*types.Type";
  }
}

namespace {

Val no_such_key(Run& run, const Val& key) { return error_val(run.arena, "no such key: " + plain_text(run.arena, key)); }

// Converts a number to an index of a list. False: `error` is set.
bool index_of(Run& run, const Val& key, std::int64_t& out, Val& error) {
  if (key.is(ValKind::kInt)) {
    out = key.integer;
    return true;
  }
  if (key.is(ValKind::kUint) && key.natural <= 9223372036854775807u) {
    out = static_cast<std::int64_t>(key.natural);
    return true;
  }
  if (key.is(ValKind::kDouble) && key.real > -9.2e18 && key.real < 9.2e18 &&
      static_cast<double>(static_cast<std::int64_t>(key.real)) == key.real) {
    out = static_cast<std::int64_t>(key.real);
    return true;
  }
  if (key.is(ValKind::kUint) || key.is(ValKind::kDouble)) {
    error = error_val(run.arena, "unsupported index value " + plain_text(run.arena, key) + " in list");
  } else {
    error = error_val(run.arena, "unsupported index type '" + std::string(type_name(key)) + "' in list");
  }
  return false;
}

enum class Found : unsigned char { kYes, kNo, kError };

Found look(Run& run, const Val& value, const Val& key, Val& out) {
  if (value.is(ValKind::kMap)) {
    if (!map_find(run.arena, value, key, out)) return Found::kNo;
    return out.is_error() ? Found::kError : Found::kYes;
  }
  if (!value.is(ValKind::kList)) return Found::kNo;
  std::int64_t index = 0;
  if (!index_of(run, key, index, out)) return Found::kError;
  if (index < 0 || index >= static_cast<std::int64_t>(list_size(value))) return Found::kNo;
  out = list_at(run.arena, value, static_cast<std::size_t>(index));
  return Found::kYes;
}

Val missing(Run& run, const Val& value, const Val& key) {
  if (value.is(ValKind::kList)) return error_val(run.arena, "index out of bounds: " + plain_text(run.arena, key));
  return no_such_key(run, key);
}

// Reads a field that the checker has resolved, so the name is not translated.
Found look_at_field(Run& run, const Val& value, const Qualifier& qualifier, Val& out) {
  const auto found = value.object->find(qualifier.field->json_name);
  if (found == value.object->end() || found->value().is_null()) return Found::kNo;
  out = tree_val(run.arena, found->value(), qualifier.field->type.get());
  return out.is_error() ? Found::kError : Found::kYes;
}

}  // namespace

std::unique_ptr<Access> Access::of(NodePtr node) {
  // The cast runs once per compilation; a virtual function would be needed in every kind of node.
  if (const auto* access = dynamic_cast<const Access*>(node.get())) {
    static_cast<void>(node.release());
    return std::unique_ptr<Access>(const_cast<Access*>(access));
  }
  Attribute attribute;
  attribute.base = Attribute::Base::kNode;
  attribute.node = std::move(node);
  return std::make_unique<Access>(std::move(attribute));
}

void Attribute::add(const std::shared_ptr<const Qualifier>& qualifier) {
  if (base == Base::kConditional) {
    truthy->add(qualifier);
    falsy->add(qualifier);
  } else {
    qualifiers.push_back(qualifier);
  }
}

Val Attribute::walk(Run& run, Val value) const {
  bool optional = value.is(ValKind::kOptional);
  if (optional) {
    if (value.inner == nullptr) return value;
    value = *value.inner;
  }
  for (const auto& each : qualifiers) {
    const Qualifier& qualifier = *each;
    optional = optional || qualifier.optional;
    Val key = qualifier.key;
    if (qualifier.computed != nullptr) {
      key = qualifier.computed->resolve(run);
      const bool usable = key.kind >= ValKind::kBool && key.kind <= ValKind::kString;
      if (!usable && !key.is_error()) key = error_val(run.arena, "invalid qualifier type: " + std::string(go_type(key)));
      if (key.is_error()) {
        if (!optional) run.charge(1);
        return key;
      }
    }
    const bool known =
        qualifier.field != nullptr && value.is(ValKind::kMap) && value.place == Place::kTree && value.decl == qualifier.object;
    Val next;
    const Found found = known ? look_at_field(run, value, qualifier, next) : look(run, value, key, next);
    // An optional selection of an absent value costs nothing.
    if (!optional || found == Found::kYes) run.charge(1);
    if (found == Found::kError) return next;
    if (qualifier.test_only) return bool_val(found == Found::kYes);
    if (found == Found::kNo) return optional ? none_val() : missing(run, value, key);
    value = next;
  }
  return optional ? some_val(run.arena, value) : value;
}

Val Attribute::resolve(Run& run) const {
  switch (base) {
    case Base::kVariable: {
      const Val& value = run.variables[slot];
      if (is_unbound(value)) return error_val(run.arena, "no such attribute(s): " + std::string(value.view()));
      if (value.is_error() || qualifiers.empty()) return value;
      return walk(run, value);
    }
    case Base::kLocal: {
      Local& local = run.locals[slot];
      const Val value = local.pending != nullptr ? local.pending->start(run) : local.value;
      if (value.is_error() || qualifiers.empty()) return value;
      return walk(run, value);
    }
    case Base::kNode: {
      const Val value = node->eval(run);
      if (value.is_error() || qualifiers.empty()) return value;
      return walk(run, value);
    }
    case Base::kConditional: {
      const Val answer = node->eval(run);
      if (answer.is_error()) return answer;
      if (!answer.is(ValKind::kBool)) return no_overload();
      return answer.boolean ? truthy->resolve(run) : falsy->resolve(run);
    }
  }
  return {};
}

Val Access::eval(Run& run) const {
  const Val value = attribute_.resolve(run);
  const bool conditional = attribute_.base == Attribute::Base::kConditional;
  if (test_only_) {
    // A presence test has no cost itself; upstream subtracts 1 from that of a conditional operand.
    if (conditional) --run.cost;
    if (value.is(ValKind::kOptional)) return bool_val(value.inner != nullptr);
  } else if (!conditional) {
    run.charge(1);
  }
  return value;
}

}  // namespace backplane::cel_detail
