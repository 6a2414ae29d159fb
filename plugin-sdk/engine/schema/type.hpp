// The compiled form of schema documents, which the other files of this folder use.
//
// A document is indexed when its set is made: one scan finds the definitions and their public properties (name, form, kinds).  A
// definition is compiled when it is first used, so that a server pays at start-up only for what it serves.
//
// Thread-safety: a Type may be used from any thread; the first use of a definition compiles it under its set's lock.
// Lifetime:      a Type lives as long as its SchemaSet; bodies never change once made.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backplane/types/schema.hpp"
#include "schema/rules.hpp"

namespace backplane::fields {
struct Atom;
}

namespace backplane::schema {

// The encoding of a value.
enum class Form : unsigned char {
  kString,
  kBool,
  kInt32,
  kInt64,
  kDouble,
  kBytes,
  kTime,
  kMicroTime,
  kDuration,
  kQuantity,
  kIntOrString,
  kRawExtension,
  kFieldsV1,
  kAnyJson,
  kStruct,
  kList,
  kMap,
  kShape,  // the kind of the JSON value selects the type: x-backplane-shape
};

// The condition under which protobuf encodes a member.
enum class Emit : unsigned char { kAlways, kNonNil, kNonEmpty };

enum class Omit : unsigned char { kEmpty, kNever, kZero, kUnset };

class Type;
struct Constraints;
struct ConditionalDefault;
struct Derived;
struct Gated;
struct ListIdentity;
struct ProtobufPlan;

// One field of kube-apiserver's own struct of a type.
struct GoField {
  std::string go_name, json_name;
  const Type* type = nullptr;  // null: a boolean of the enclosing object
  bool pointer = false;
};
using GoLayout = std::vector<GoField>;

// Whether kube-apiserver has an internal struct for the type: types of apimachinery have only the served version.
bool has_own_struct(const Type& type) noexcept;

struct Property {
  std::string_view name;
  const Type* type = nullptr;
  const Value* default_value = nullptr;  // null: none
  // Set if the default is conditional, or is the value of another member.
  const ConditionalDefault* conditional = nullptr;
  const Derived* derived = nullptr;  // the conversion of the member by defaulting; null: none
  std::string_view embedded;         // Go's embedded structs on the way, dotted, for error paths: "VolumeSource"
  std::string_view merge_key;        // x-kubernetes-patch-merge-key
  Omit omit = Omit::kEmpty;
  bool pointer = false;
  bool always = false;  // printed when unset
  bool patch_merge = false;
  bool patch_replace = false;
  bool retain_keys = false;
  std::uint32_t proto = 0;  // protobuf field number; 0: not in protobuf, or inside an inlined message
  Emit emit = Emit::kAlways;
  const Rules* rules = nullptr;  // x-backplane-rules; null: none
  const Gated* gated = nullptr;  // null: the member does not depend on a gate
};

// A message whose members are in the enclosing object in JSON, but in a nested message in protobuf.
struct InlinedMessage {
  std::uint32_t proto = 0;
  const Type* type = nullptr;
};

// The compiled data of a Type.
struct Body {
  std::vector<Property> properties;  // in the order of output
  std::vector<InlinedMessage> inlined;
  std::vector<std::uint16_t> buckets;        // open addressing: property index + 1, 0 is free; size is a power of two
  std::vector<std::uint16_t> always;         // properties printed when unset
  std::vector<std::uint16_t> with_defaults;  // properties with a declared default
  std::vector<std::uint16_t> derived;        // properties that defaulting converts
  const Type* items = nullptr;               // the type of a list's items, or of a map's values
  const Type* object_shape = nullptr;        // kShape: the type of an object and of an array; and whether a boolean is allowed
  const Type* array_shape = nullptr;
  bool boolean_shape = false;
  std::uint32_t shape_object = 0;  // protobuf field numbers of the forms
  std::uint32_t shape_array = 0;
  std::uint32_t shape_boolean = 0;
  std::vector<std::uint16_t> ruled;                // properties with rules
  const Rules* item_rules = nullptr;               // rules of a list's items, or of a map's values
  std::unique_ptr<const ListIdentity> identity;    // typed mode: of a list that is a set or a map
  const StructRules* struct_rules = nullptr;       // rules on several members of a struct
  std::unique_ptr<const Constraints> constraints;  // structural mode only
  std::string error;                               // not empty: the definition is malformed

  Body();
  ~Body();
  // The property's index, or -1.  `hint` is tried first: the index after the last one found.
  int find(std::string_view name, std::size_t hint) const noexcept;
  void build_index();
  // The plan for encoding a message of this type; made at its first use.
  const ProtobufPlan& protobuf_plan() const;

 private:
  mutable std::atomic<const ProtobufPlan*> protobuf_plan_{nullptr};
};

class Type final : public Schema {
 public:
  Type(SchemaSet::State* set, std::string_view name, Form form) : set_(set), name_(name), form_(form) {}
  ~Type() override;
  const Type* compiled() const noexcept override { return this; }

  std::string_view name() const noexcept override { return name_; }
  bool structural() const noexcept override;
  Status normalize(Value& value, DecodeReport* report) const override;
  void apply_defaults(Value& value) const override;
  void validate(const Value& value, const std::string& path, FieldErrors& errors) const override;
  void check(const Object& object, const Object* old, ObjectPart part, const std::string& path, FieldErrors& errors) const override;
  Status strategic_merge(Value& target, const Value& patch) const override;
  Result<Value> decode_protobuf(std::string_view message, json::storage_ptr storage) const override;
  bool has_protobuf() const noexcept override;
  Status encode_protobuf(std::string_view json, std::string& out) const override;
  Value go_struct(const Object& object) const override;
  const Schema* property(std::string_view json_name) const noexcept override;
  const Schema* items() const noexcept override;

  Form form() const noexcept { return form_; }
  const SchemaSet::State& set() const noexcept { return *set_; }
  // The JSON of the definition. For a custom resource, State::source returns it.
  SharedBytes text() const;
  // Go structs are never left out by omitempty.
  bool struct_like() const noexcept;
  const Body& body() const {
    const Body* body = body_.load(std::memory_order_acquire);
    return body ? *body : compile();
  }
  // The name that Go's reflect prints for the type ("[]v1.Container"), and the struct's name ("Container").
  std::string go_type() const;
  std::string_view go_struct_name() const noexcept;
  const GoLayout& go_layout() const;
  // The definition's type for field management; made at first use.
  const fields::Atom& merge_atom() const {
    const fields::Atom* atom = merge_atom_.load(std::memory_order_acquire);
    return atom ? *atom : make_merge_atom();
  }
  // Stores an atom inside the type for as long as the set lives.  The caller holds the set's lock.
  const fields::Atom* keep(std::unique_ptr<const fields::Atom> atom) const;
  // Whether this type or any type below it has x-backplane-rules, whether any of these compares with the old value, and whether any of
  // these types has a declared default.
  bool ruled_within() const { return known(ruled_within_, has_rules); }
  bool compares_within() const { return known(compares_within_, has_comparisons); }
  bool defaulted_within() const { return known(defaulted_within_, has_defaults); }
  // Whether feature gates affect this type or a type below it.
  bool gated_within() const { return known(gated_within_, has_gates); }
  // Whether this type or a type below it can hold raw JSON.
  bool raw_within() const { return known(raw_within_, has_raw); }

 private:
  friend class Compiler;
  friend class Indexer;
  const Body& compile() const;
  const fields::Atom& make_merge_atom() const;
  // Computed properties of a type and all types that it contains; -1: not computed yet.
  using Known = std::atomic<signed char>;
  using OwnFact = bool (*)(const Body& body);
  static bool has_rules(const Body& body);
  static bool has_comparisons(const Body& body);
  static bool has_defaults(const Body& body);
  static bool has_gates(const Body& body);
  static bool has_raw(const Body& body);
  bool known(Known& fact, OwnFact own) const {
    const signed char value = fact.load(std::memory_order_relaxed);
    return value >= 0 ? value != 0 : find_out(fact, own);
  }
  bool find_out(Known& fact, OwnFact own) const;

  SchemaSet::State* set_;
  std::string_view name_;     // the name of the definition; empty for types inside a definition
  std::string_view go_type_;  // x-backplane-go-type
  std::string_view text_;     // the definition's JSON; empty when the body was made at once, or when the set has a source
  Form form_;
  mutable Known ruled_within_{-1};
  mutable Known compares_within_{-1};
  mutable Known defaulted_within_{-1};
  mutable Known gated_within_{-1};
  mutable Known raw_within_{-1};
  mutable std::atomic<const Body*> body_{nullptr};
  mutable std::atomic<const fields::Atom*> merge_atom_{nullptr};
};

}  // namespace backplane::schema

namespace backplane {

struct SchemaSet::State {
  std::vector<std::shared_ptr<const SchemaSet>> imports;
  std::list<std::string> texts;  // copies of documents that do not live as long as the process
  // For a custom resource: returns the text of its one definition, which lacks the members that every resource has.
  std::function<SharedBytes()> source;
  std::unordered_map<std::string_view, std::unique_ptr<schema::Type>> definitions;
  std::vector<schema::Type*> order;  // definitions in document order
  std::map<GroupVersionKind, schema::Type*> by_kind;
  bool structural = false;
  bool embedded_resources = false;  // a compiled definition has x-kubernetes-embedded-resource

  // Held while a definition is compiled.  Recursive: an inlined definition is compiled inside the one that holds it.
  std::recursive_mutex mutex;
  // std::list, because an empty one allocates no memory: most sets of custom resources are never compiled.
  std::list<std::string> strings;  // names and texts that bodies refer to
  std::list<Value> defaults;       // declared defaults
  std::list<schema::ConditionalDefault> conditional_defaults;
  std::list<schema::Derived> derived;
  std::list<schema::Gated> gated;
  std::list<schema::Rules> rules;  // rules that properties and items refer to
  std::list<schema::StructRules> struct_rules;
  std::vector<std::unique_ptr<schema::Type>> inner;            // types inside definitions
  std::unordered_map<std::string, const schema::Type*> plain;  // scalars, shared by form and Go type
  std::vector<std::unique_ptr<const schema::Body>> bodies;
  std::vector<std::shared_ptr<const fields::Atom>> merge_atoms;
  std::unordered_map<const schema::Type*, std::unique_ptr<const schema::GoLayout>> go_layouts;  // made when first printed

  const schema::Type* find_type(std::string_view definition) const noexcept;
  std::string_view keep(std::string_view text);
};

}  // namespace backplane
