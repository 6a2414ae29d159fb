// Types: lookup, names, and the look-ups of a set.
#include "schema/type.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "schema/constraints.hpp"
#include "text/same_text.hpp"

namespace backplane::schema {

namespace {

// Member lookup is hot: hashes eight bytes per step.
std::uint32_t hash(std::string_view name) noexcept {
  std::uint64_t h = name.size();
  while (!name.empty()) {
    std::uint64_t chunk = 0;
    const std::size_t size = std::min(name.size(), sizeof chunk);
    std::memcpy(&chunk, name.data(), size);
    h = (h ^ chunk) * 0x9E3779B97F4A7C15u;
    h ^= h >> 32;
    name.remove_prefix(size);
  }
  return static_cast<std::uint32_t>(h);
}

// In canonical order the next member is one of the next few properties.
constexpr std::size_t kLookAhead = 4;

}  // namespace

void Body::build_index() {
  std::size_t size = 4;
  while (size < properties.size() * 2) size *= 2;
  buckets.assign(size, 0);
  for (std::size_t i = 0; i < properties.size(); ++i) {
    std::size_t slot = hash(properties[i].name) & (size - 1);
    while (buckets[slot] != 0) slot = (slot + 1) & (size - 1);
    buckets[slot] = static_cast<std::uint16_t>(i + 1);
  }
  for (std::size_t i = 0; i < properties.size(); ++i) {
    if (properties[i].always) always.push_back(static_cast<std::uint16_t>(i));
    if (properties[i].default_value || properties[i].conditional) with_defaults.push_back(static_cast<std::uint16_t>(i));
    if (properties[i].derived) derived.push_back(static_cast<std::uint16_t>(i));
    if (properties[i].rules) ruled.push_back(static_cast<std::uint16_t>(i));
  }
}

int Body::find(std::string_view name, std::size_t hint) const noexcept {
  const std::size_t end = std::min(hint + kLookAhead, properties.size());
  for (std::size_t i = hint; i < end; ++i) {
    if (same_text(properties[i].name, name)) return static_cast<int>(i);
  }
  if (buckets.empty()) return -1;
  const std::size_t mask = buckets.size() - 1;
  for (std::size_t slot = hash(name) & mask; buckets[slot] != 0; slot = (slot + 1) & mask) {
    const std::size_t index = buckets[slot] - 1u;
    if (same_text(properties[index].name, name)) return static_cast<int>(index);
  }
  return -1;
}

Type::~Type() = default;

namespace {

bool compares(const Rules* rules) {
  if (rules == nullptr) return false;
  const bool here = rules->immutable || rules->on_create || rules->again || rules->keeps || rules->when_changed ||
                    rules->fixed != nullptr || !rules->once.empty() || !rules->rising.empty() || !rules->when_was.empty() ||
                    !rules->unless_was.empty();
  const auto member = [](const auto& each) { return compares(each.second.get()); };
  return here || std::any_of(rules->members.begin(), rules->members.end(), member) || compares(rules->next.get());
}

bool holds(const Type& type, bool (*own)(const Body&), std::set<const Type*>& seen) {
  if (type.form() != Form::kStruct && type.form() != Form::kList && type.form() != Form::kMap) return false;
  if (!seen.insert(&type).second) return false;
  const Body& body = type.body();
  if (own(body) || (body.items != nullptr && holds(*body.items, own, seen))) return true;
  return std::any_of(body.properties.begin(), body.properties.end(),
                     [&](const Property& property) { return holds(*property.type, own, seen); });
}

}  // namespace

bool Type::has_rules(const Body& body) { return !body.ruled.empty() || body.item_rules != nullptr || body.struct_rules != nullptr; }
bool Type::has_comparisons(const Body& body) {
  const StructRules* together = body.struct_rules;
  if (together != nullptr && (!together->frozen_by.empty() || !together->frozen_text.empty())) return true;
  if (compares(body.item_rules)) return true;
  return std::any_of(body.ruled.begin(), body.ruled.end(), [&](std::size_t index) { return compares(body.properties[index].rules); });
}
bool Type::has_defaults(const Body& body) { return !body.with_defaults.empty() || !body.derived.empty(); }
bool Type::has_gates(const Body& body) {
  return std::any_of(body.properties.begin(), body.properties.end(), [](const Property& property) { return property.gated != nullptr; });
}
bool Type::has_raw(const Body& body) {
  const auto raw = [](const Property& property) { return property.type->form() == Form::kRawExtension; };
  return (body.items != nullptr && body.items->form() == Form::kRawExtension) ||
         std::any_of(body.properties.begin(), body.properties.end(), raw);
}

bool Type::find_out(Known& fact, OwnFact own) const {
  std::set<const Type*> seen;
  const bool found = holds(*this, own, seen);
  fact.store(found ? 1 : 0, std::memory_order_relaxed);
  return found;
}

bool Type::structural() const noexcept { return set_->structural; }

bool Type::struct_like() const noexcept {
  switch (form_) {
    case Form::kString:
    case Form::kBool:
    case Form::kInt32:
    case Form::kInt64:
    case Form::kDouble:
    case Form::kBytes:
    case Form::kList:
    case Form::kMap:
      return false;
    default:
      return true;
  }
}

const Schema* Type::property(std::string_view json_name) const noexcept {
  const int index = body().find(json_name, 0);
  return index < 0 ? nullptr : body().properties[static_cast<std::size_t>(index)].type;
}

const Schema* Type::items() const noexcept { return body().items; }

std::string_view Type::go_struct_name() const noexcept { return name_.substr(name_.rfind('.') + 1); }

std::string Type::go_type() const {
  if (!go_type_.empty()) return std::string(go_type_);
  if (!name_.empty()) {
    // The package is the segment before the name: "v1.Container".
    const std::size_t last = name_.rfind('.');
    const std::size_t package = last == std::string_view::npos ? last : name_.rfind('.', last - 1);
    return std::string(package == std::string_view::npos ? name_ : name_.substr(package + 1));
  }
  switch (form_) {
    case Form::kString:
      return "string";
    case Form::kBool:
      return "bool";
    case Form::kInt32:
      return "int32";
    case Form::kInt64:
      return "int64";
    case Form::kDouble:
      return "float64";
    case Form::kBytes:
      return "[]uint8";
    case Form::kList:
      return "[]" + (body().items ? body().items->go_type() : "interface {}");
    case Form::kMap:
      return "map[string]" + (body().items ? body().items->go_type() : "interface {}");
    default:
      return "struct";
  }
}

}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

Schema::~Schema() = default;

const schema::Type* SchemaSet::State::find_type(std::string_view definition) const noexcept {
  const auto found = definitions.find(definition);
  if (found != definitions.end()) return found->second.get();
  for (const auto& import : imports) {
    if (const Schema* schema = import->find(definition)) return static_cast<const schema::Type*>(schema);
  }
  return nullptr;
}

std::string_view SchemaSet::State::keep(std::string_view text) {
  if (text.empty()) return {};
  return strings.emplace_back(text);
}

}  // namespace BACKPLANE_API
