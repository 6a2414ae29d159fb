#include "schema/compiler.hpp"

#include "schema/constraints.hpp"
#include "schema/custom.hpp"
#include "schema/indexer.hpp"
#include "schema/scalars.hpp"

namespace backplane::schema {
namespace {

constexpr std::string_view kReferencePrefix = "#/definitions/";
constexpr std::size_t kMaxProperties = 1000;

bool truthy(const Object& object, std::string_view key) noexcept { return get_bool(object, key).value_or(false); }

Outline outline_of(const Object& schema) noexcept {
  Outline out;
  out.type = get_string(schema, "type");
  out.format = get_string(schema, "format");
  out.backplane_type = get_string(schema, "x-backplane-type");
  out.properties = schema.contains("properties");
  out.additional = get_object(schema, "additionalProperties") != nullptr;
  out.shape = schema.contains("x-backplane-shape");
  out.int_or_string = truthy(schema, "x-kubernetes-int-or-string");
  return out;
}

// The reference in "$ref", which is a direct member or in the only member of allOf (as OpenAPI requires next to other keywords).
std::string_view reference_of(const Object& schema) noexcept {
  if (const std::string_view direct = get_string(schema, "$ref"); !direct.empty()) return direct;
  const Array* all = get_array(schema, "allOf");
  if (!all || all->size() != 1 || !(*all)[0].is_object()) return {};
  return get_string((*all)[0].get_object(), "$ref");
}

// The value of x-backplane-proto: the number, or an object that contains it.
std::uint32_t proto_number(const Object& schema) noexcept {
  const Object* long_form = get_object(schema, "x-backplane-proto");
  const auto number = long_form ? get_int(*long_form, "number") : get_int(schema, "x-backplane-proto");
  return static_cast<std::uint32_t>(number.value_or(0));
}

// When protobuf encodes the member; for nearly all, the type decides.
Emit emit_of(const Object& schema, const Property& property) noexcept {
  const Object* long_form = get_object(schema, "x-backplane-proto");
  const std::string_view word = long_form ? get_string(*long_form, "emit") : std::string_view();
  if (word == "always") return Emit::kAlways;
  if (word == "nonNil") return Emit::kNonNil;
  if (word == "nonEmpty") return Emit::kNonEmpty;
  const Form form = property.type->form();
  if (form == Form::kList || form == Form::kMap) return Emit::kNonEmpty;
  return property.pointer || form == Form::kBytes ? Emit::kNonNil : Emit::kAlways;
}

Omit omit_of(const Object& schema) noexcept {
  const std::string_view word = get_string(schema, "x-backplane-omit");
  if (word == "unset") return Omit::kUnset;
  return word == "never" ? Omit::kNever : word == "zero" ? Omit::kZero : Omit::kEmpty;
}

}  // namespace

const Body& Type::compile() const {
  const std::lock_guard lock(set_->mutex);
  if (const Body* done = body_.load(std::memory_order_acquire)) return *done;
  std::unique_ptr<Body> body = Compiler(*set_).compile_definition(*this);
  const Body* made = body.get();
  set_->bodies.push_back(std::move(body));
  body_.store(made, std::memory_order_release);
  return *made;
}

std::unique_ptr<Body> Compiler::compile_definition(const Type& type) {
  auto body = std::make_unique<Body>();
  boost::system::error_code error;
  unsigned char buffer[8192];
  json::monotonic_resource arena(buffer);
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  const SharedBytes text = type.text();
  Value schema = json::parse(text.view(), error, &arena, options);
  if (!error && schema.is_object() && state_.source) add_resource_members(schema.get_object());
  const std::string path(type.name());
  if (error || !schema.is_object()) {
    fail(path, "malformed JSON");
  } else {
    fill(*body, type.form(), schema.get_object(), path);
  }
  body->error = std::move(error_);
  return body;
}

void Compiler::fail(const std::string& path, std::string_view what) {
  if (error_.empty()) error_ = path + ": " + std::string(what);
}

void Compiler::fill(Body& body, Form form, const Object& schema, const std::string& path) {
  if (const Object* properties = get_object(schema, "properties")) fill_properties(body, *properties, path);
  if (form == Form::kList) {
    const Value* items = find(schema, "items");
    if (items)
      body.items = type_of(*items, path + ".items");
    else if (!state_.structural)
      fail(path, "an array needs items");
  }
  if (const Value* additional = find(schema, "additionalProperties"); additional && additional->is_object()) {
    body.items = type_of(*additional, path + ".additionalProperties");
  }
  if (const Object* shape = get_object(schema, "x-backplane-shape"))
    fill_shape(body, *shape, get_object(schema, "x-backplane-proto"), path);
  if (state_.structural) {
    body.constraints = constraints_of(schema, path);
  } else {
    for (std::string_view inside : {"items", "additionalProperties"}) {
      const Object* items = get_object(schema, inside);
      if (items != nullptr && body.items != nullptr) body.item_rules = rules_of(*items, path + "." + std::string(inside));
    }
    if (form == Form::kStruct) body.struct_rules = struct_rules_of(schema, path);
    if (form == Form::kList) {
      ListIdentity identity = list_identity_of(schema);
      const bool has_identity = identity.kind == ListKind::kSet || identity.kind == ListKind::kMap;
      if (has_identity) body.identity = std::make_unique<const ListIdentity>(std::move(identity));
    }
  }
  body.build_index();
}

void Compiler::fill_properties(Body& body, const Object& properties, const std::string& path) {
  if (properties.size() > kMaxProperties) return fail(path, "too many properties");
  body.properties.reserve(properties.size());
  for (const auto& [key, schema] : properties) {
    const std::string_view name(key);
    const std::string at = path + ".properties." + std::string(name);
    if (!schema.is_object()) {
      fail(at, "not a schema object");
      continue;
    }
    if (truthy(schema.get_object(), "x-backplane-inline")) {
      const Type* target = referred(reference_of(schema.get_object()), at);
      if (target) add_inlined(body, name, *target, proto_number(schema.get_object()));
    } else {
      body.properties.push_back(make_property(state_.keep(name), schema.get_object(), at));
    }
  }
}

void Compiler::add_inlined(Body& body, std::string_view name, const Type& target, std::uint32_t proto) {
  const Body& inlined = target.body();
  if (proto != 0) body.inlined.push_back({proto, &target});
  if (!inlined.error.empty()) fail(std::string(target.name()), inlined.error);
  for (const Property& property : inlined.properties) {
    Property copy = property;
    copy.proto = 0;  // the number belongs to the nested message
    copy.embedded = state_.keep(std::string(name) + (property.embedded.empty() ? "" : "." + std::string(property.embedded)));
    body.properties.push_back(copy);
  }
}

void Compiler::fill_shape(Body& body, const Object& shape, const Object* numbers, const std::string& path) {
  if (const Value* object = find(shape, "object")) body.object_shape = type_of(*object, path + ".x-backplane-shape.object");
  if (const Value* array = find(shape, "array")) body.array_shape = type_of(*array, path + ".x-backplane-shape.array");
  body.boolean_shape = shape.contains("boolean");
  if (numbers == nullptr) return;
  for (const auto& [form, number] : *numbers) {
    std::uint32_t& slot = form == "object" ? body.shape_object : form == "array" ? body.shape_array : body.shape_boolean;
    slot = static_cast<std::uint32_t>(number.is_int64() ? number.get_int64() : 0);
  }
}

Property Compiler::make_property(std::string_view name, const Object& schema, const std::string& path) {
  Property out;
  out.name = name;
  out.type = type_of(schema, path);
  out.omit = omit_of(schema);
  out.pointer = truthy(schema, "x-backplane-pointer");
  out.proto = proto_number(schema);
  out.emit = emit_of(schema, out);
  out.merge_key = state_.keep(get_string(schema, "x-kubernetes-patch-merge-key"));
  const std::string_view strategy = get_string(schema, "x-kubernetes-patch-strategy");
  out.patch_merge = strategy.find("merge") != std::string_view::npos;
  out.patch_replace = strategy.find("replace") != std::string_view::npos;
  out.retain_keys = strategy.find("retainKeys") != std::string_view::npos;
  if (!state_.structural) out.always = out.omit == Omit::kNever || (!out.pointer && out.omit != Omit::kZero && out.type->struct_like());
  // A zero default of a value that is zero when unset has no effect.
  const Value* declared = find(schema, "x-backplane-default");
  if (declared == nullptr) declared = find(schema, "default");
  if (declared && (state_.structural || out.pointer || !is_zero(*declared)))
    out.default_value = &state_.defaults.emplace_back(*declared, json::storage_ptr());
  if (state_.structural) return out;
  out.rules = rules_of(schema, path);
  out.conditional = conditional_default_of(schema, path);
  out.derived = derived_of(schema);
  out.gated = gated_of(schema, path);
  return out;
}

const Type* Compiler::referred(std::string_view reference, const std::string& path) {
  if (!reference.starts_with(kReferencePrefix)) {
    fail(path, "a $ref must begin with #/definitions/");
    return plain(Form::kAnyJson, {});
  }
  const std::string_view name = reference.substr(kReferencePrefix.size());
  const Type* found = state_.find_type(name);
  if (found) return found;
  fail(path, "there is no definition " + std::string(name));
  return plain(Form::kAnyJson, {});
}

const Type* Compiler::type_of(const Value& value, const std::string& path) {
  if (!value.is_object()) {
    fail(path, "not a schema object");
    return plain(Form::kAnyJson, {});
  }
  const Object& schema = value.get_object();
  if (const std::string_view reference = reference_of(schema); !reference.empty()) return referred(reference, path);
  Form form{};
  if (!form_of(outline_of(schema), state_.structural, form)) {
    fail(path, "unknown type");
    return plain(Form::kAnyJson, {});
  }
  // An alternative without a type may have "items" for any list.
  if (state_.structural && form == Form::kAnyJson && get_object(schema, "items") != nullptr) form = Form::kList;
  const bool composed = form == Form::kStruct || form == Form::kMap || form == Form::kList || form == Form::kShape;
  if (!composed && !state_.structural) return plain(form, get_string(schema, "x-backplane-go-type"));
  return inner(form, schema, path);
}

const Type* Compiler::plain(Form form, std::string_view go_type) {
  std::string key(1, static_cast<char>('A' + static_cast<int>(form)));
  key += go_type;
  const auto [slot, added] = state_.plain.try_emplace(std::move(key), nullptr);
  if (!added) return slot->second;
  auto type = std::make_unique<Type>(&state_, std::string_view(), form);
  type->go_type_ = state_.keep(go_type);
  static const Body kEmpty;
  type->body_.store(&kEmpty, std::memory_order_release);
  slot->second = type.get();
  state_.inner.push_back(std::move(type));
  return slot->second;
}

const Type* Compiler::inner(Form form, const Object& schema, const std::string& path) {
  auto body = std::make_unique<Body>();
  fill(*body, form, schema, path);
  // A scalar without rules is shared.
  const bool composed = form == Form::kStruct || form == Form::kMap || form == Form::kList || form == Form::kShape;
  if (!composed && !body->constraints) return plain(form, {});
  auto type = std::make_unique<Type>(&state_, std::string_view(), form);
  type->go_type_ = state_.keep(get_string(schema, "x-backplane-go-type"));
  type->body_.store(body.get(), std::memory_order_release);
  state_.bodies.push_back(std::move(body));
  state_.inner.push_back(std::move(type));
  return state_.inner.back().get();
}

}  // namespace backplane::schema
