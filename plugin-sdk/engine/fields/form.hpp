// A type for field management: upstream's schema.Atom, made from a definition's published keywords at its first use.
//
// A type may allow a scalar, a list and a map; the value's kind selects one.
//
// Thread-safety: immutable once made; the first use of a definition makes its atom under its set's lock.
// Lifetime:      as long as the SchemaSet.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/field_set.hpp"
#include "schema/type.hpp"

namespace backplane::fields {

enum class Scalar : unsigned char { kNone, kUntyped, kNumeric, kString, kBoolean };
// x-kubernetes-map-type next to a reference, which applies to the referenced type.
enum class Relation : unsigned char { kUnset, kAtomic, kGranular };

struct Atom;

// The type of a member or an item.
struct TypeRef {
  const Atom* atom = nullptr;           // an inlined type, deduced_atom() or untyped_atom()
  const schema::Type* named = nullptr;  // a definition, whose atom is made at its first use
  Relation relation = Relation::kUnset;

  bool none() const noexcept { return atom == nullptr && named == nullptr; }
};

struct ListForm {
  TypeRef items;
  bool atomic = true;
  std::vector<std::string> keys;  // the keys of a map list
};

struct MapForm {
  struct Field {
    std::string name;
    TypeRef type;
    std::optional<Value> default_value;
  };
  std::vector<Field> fields;
  std::unordered_map<std::string_view, std::size_t> index;  // into fields
  TypeRef elements;                                         // the type of members that are not fields; none: only fields are allowed
  bool atomic = false;
  bool deduced = false;  // the type is unknown

  // `hint` is tried first: the index after the last one found.
  const Field* find(std::string_view name, std::size_t& hint) const noexcept;
  const Field* find(std::string_view name) const noexcept;
};

struct Atom {
  Scalar scalar = Scalar::kNone;
  std::unique_ptr<const ListForm> list;
  std::unique_ptr<const MapForm> map;
};

// An atom with the override of its reference, narrowed to a value's kind.
struct Form {
  Scalar scalar = Scalar::kNone;
  const ListForm* list = nullptr;
  const MapForm* map = nullptr;
  bool list_atomic = true;
  bool map_atomic = false;

  bool same_kinds(const Form& other) const noexcept {
    return (scalar == Scalar::kNone) == (other.scalar == Scalar::kNone) && (list == nullptr) == (other.list == nullptr) &&
           (map == nullptr) == (other.map == nullptr);
  }
};

Form form_of(const TypeRef& type);
// The variant of the type for a value, if the type has it; null if that is undecided.
Form narrowed(const Form& form, const Value* value) noexcept;

// The type of an object; null: unknown.
TypeRef root_type(const Schema* type);
// The atom of an unknown type: maps are granular, lists are atomic.
const Atom& deduced_atom();
// The atom of a type that allows everything: every value is atomic.
const Atom& untyped_atom();

// The atom of a definition's published schema.
std::unique_ptr<const Atom> read_atom(const schema::Type& type);

}  // namespace backplane::fields
