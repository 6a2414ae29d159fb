// The schema engine: OpenAPI v3 schemas with x-kubernetes-* extensions, compiled to one immutable form that built-in groups, custom
// resources and third-party plugins share. docs/schema-words.md lists the keywords that documents may use, including the x-backplane-*
// ones (rules, defaults, order, protobuf numbers).
//
// Two modes. Typed (built-in kinds): properties are printed in schema order and map keys sorted; unset members are printed or omitted by
// x-backplane-omit; unknown members are dropped and reported; type errors have the text of Go's decoder. Structural (custom resources):
// unknown members are pruned and reported; only defaults are added; all keys are printed sorted.
//
// Thread-safety: a Schema and a SchemaSet are immutable after compile(); any number of threads may use them.
// Lifetime:      a Schema lives as long as its SchemaSet.
// Errors:        errors of compile() name the definition and the path in it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/bytes.hpp"
#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane::schema {
class Type;  // of the engine; not exported, so declared outside of BACKPLANE_API
}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

class Schema;

// The part of an object to which rules apply: a main resource checks everything except status, /status checks only status.
enum class ObjectPart : unsigned char { kNone, kWhole, kWithoutStatus, kStatus };

// A member that occurs twice in its object. `parent` is the path of the object: "spec.containers[0]".
struct DuplicateField {
  std::string parent;
  std::string key;
};

// Findings of decoding for fieldValidation, with upstream's texts: `unknown field "spec.foo"`, `duplicate field "data.a"`.
struct DecodeReport {
  // In document order. parse_json() adds every duplicate. normalize() of a typed schema inserts unknown fields at their position, and
  // removes duplicates that Go does not report (below unknown fields and raw values).
  std::vector<std::string> problems;
  std::vector<DuplicateField> duplicates;
  // Input for parsing: how Go treats repeated members. True: objects and lists are merged (typed objects). False: the last one wins
  // (custom resources, patches).
  bool merge_duplicates = true;
  // Input for normalize(): true if the tree was a map in Go, as after a strategic merge patch. Errors then have the text of
  // runtime.FromUnstructured ("cannot restore slice from string"), and problems are sorted.
  bool restore = false;
};

// Parses a body; duplicate fields are added to `report`, which may be null.
// Errors: kBadRequest with Go's JSON errors ("invalid character 'x' looking for beginning of value", "unexpected end of JSON input").
Result<Value> parse_json(std::string_view text, json::storage_ptr storage, DecodeReport* report);
// Parses YAML 1.1 as sigs.k8s.io/yaml does, including its resolution of yes, no, on and off.
Result<Value> parse_yaml(std::string_view text, json::storage_ptr storage, DecodeReport* report);
// Prints as sigs.k8s.io/yaml does: sorted keys, two-space indent, block style, quotes only where needed.
std::string to_yaml(const Value& value);

// The compiled schema documents of one group, or of one custom resource. Names are looked up in this set and then in the imported ones.
class SchemaSet {
 public:
  // Compiles `documents`, whose texts are copied. `imports` are owned; the meta schemas are always imported.
  static Result<std::shared_ptr<const SchemaSet>> compile(std::span<const std::string_view> documents,
                                                          std::vector<std::shared_ptr<const SchemaSet>> imports = {});
  // The same for texts that live as long as the set (a plugin's read-only data): a definition is compiled when it is first used.
  // Errors: malformed structure. Errors inside a definition are found by check(), or by its first use.
  static Result<std::shared_ptr<const SchemaSet>> embedded(std::span<const std::string_view> documents,
                                                           std::vector<std::shared_ptr<const SchemaSet>> imports = {});
  // The type of one version of a custom resource, named `definition` ("com.example.v1.Widget"). `schema` returns its openAPIV3Schema in
  // JSON, from any thread; it is called when the type is first used and when a document is generated, so the set does not retain the
  // text. apiVersion, kind and metadata are added if the schema lacks them.
  static std::shared_ptr<const SchemaSet> custom(GroupVersionKind kind, std::string definition, std::function<SharedBytes()> schema);
  // Compiles every definition. Errors: the first invalid definition, with the path in it.
  Status check() const;
  // The definition by name, or by its x-kubernetes-group-version-kind; null if absent.
  const Schema* find(std::string_view definition) const noexcept;
  // The definition with this group, version and kind; null if absent.
  const Schema* find(const GroupVersionKind& gvk) const noexcept;
  // All kinds of this set, without imports, sorted.
  std::vector<GroupVersionKind> kinds() const;
  // Adds the definition and all definitions it refers to, as OpenAPI v3 schema objects, to `components` (references as
  // "#/components/schemas/…", without x-backplane-*). `document`: the group version whose OpenAPI document is generated.
  void openapi_components(std::string_view definition, Object& components, const GroupVersion* document = nullptr) const;

  ~SchemaSet();
  struct State;
  explicit SchemaSet(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

// Types of meta.k8s.io/v1 (ObjectMeta, ListMeta, Status, DeleteOptions, Table, and Scale of autoscaling/v1), which every set imports.
std::shared_ptr<const SchemaSet> meta_schemas();

// Types of the core group, v1 (PodTemplateSpec, Volume, EnvVar, LocalObjectReference …), to import for kinds that contain pod templates
// or references to core objects. Compiled when first used.
std::shared_ptr<const SchemaSet> core_schemas();

// One compiled type.
class Schema {
 public:
  virtual ~Schema();
  virtual std::string_view name() const noexcept = 0;
  virtual bool structural() const noexcept = 0;  // mode of custom resources
  // The compiled form for the engines; null for implementations outside the engine (tests).
  virtual const schema::Type* compiled() const noexcept { return nullptr; }

  // Brings a parsed tree into canonical form in place: checks and converts types, drops and reports unknown members, orders members,
  // prints or omits unset ones by the mode, and canonicalizes quantities and times. Idempotent.
  // Errors: kBadRequest with the text of upstream's decoder, without the prefix that the endpoint adds.
  virtual Status normalize(Value& value, DecodeReport* report) const = 0;
  // Sets declared defaults in every object that exists.
  virtual void apply_defaults(Value& value) const = 0;
  // Validates by the keywords of structural schemas (type, format, enum, pattern, minimum …, required, list types).
  virtual void validate(const Value& value, const std::string& path, FieldErrors& errors) const = 0;
  // Evaluates the x-backplane-rules of a typed schema on a normalized object. `old` is the object before the update, null on create.
  // Inside it, the predecessor of a value is the member of the same name, the entry of the same key, the item with the same keys of a
  // list-type map, or the equal item of a set; other items and values without predecessor are new. The generic store calls it together
  // with the Strategy's validation. Structural schemas have no such rules.
  virtual void check(const Object& object, const Object* old, ObjectPart part, const std::string& path, FieldErrors& errors) const;
  // Applies a strategic merge patch: merge keys, $patch, $retainKeys, $setElementOrder, $deleteFromPrimitiveList.
  virtual Status strategic_merge(Value& target, const Value& patch) const = 0;
  // Decodes a protobuf message of this type (without envelope) into a tree; call normalize() afterwards.
  // Errors: kBadRequest with the text of upstream's unmarshallers ("unexpected EOF"), and for types without a protobuf encoding.
  virtual Result<Value> decode_protobuf(std::string_view message, json::storage_ptr storage) const;
  // True for types with a protobuf encoding: those of built-in kinds.
  virtual bool has_protobuf() const noexcept { return false; }
  // Appends the protobuf message (without envelope) of canonical JSON of this type to `out`, byte for byte as upstream's marshallers
  // write it. kind and apiVersion are not part of the message; unknown members are skipped.
  // Errors: kInternalError if the text is not JSON of this type, or the type has no protobuf encoding.
  virtual Status encode_protobuf(std::string_view json, std::string& out) const;
  // The object as kube-apiserver's Go struct of the type is marshalled: all fields in the struct's order under their Go names, including
  // unset ones. Types of apimachinery are their JSON. Typed schemas only; others return the object unchanged.
  virtual Value go_struct(const Object& object) const;
  // The schema of a property, and of a list's items; null if absent.
  virtual const Schema* property(std::string_view json_name) const noexcept = 0;
  virtual const Schema* items() const noexcept = 0;
};

// The content of upstream's protobuf envelope (`k8s\\0` and runtime.Unknown).
struct ProtobufEnvelope {
  std::string_view api_version, kind, raw;  // into the body
};
// Errors: kBadRequest for a body that is not such an envelope.
Result<ProtobufEnvelope> open_protobuf_envelope(std::string_view body);

// Applies a JSON merge patch (RFC 7386).
void merge_patch(Value& target, const Value& patch);
// Applies a JSON patch (RFC 6902) as evanphx/json-patch v4 does ("replace" adds an absent member), with upstream's limit of 10,000
// operations.
// Errors: 422 kInvalid with upstream's message, the same for every operation that fails; `target` is then partly changed and must be
//         discarded.
Status json_patch(Value& target, const Array& operations);
// Prints the value as Go's fmt does in messages: map[bar:2 spec:map[foo:1]].
std::string go_print(const Value& value);

}  // namespace BACKPLANE_API
