// The schema engine: compiles OpenAPI v3 schemas with x-kubernetes-* extensions into immutable Schema objects, for built-in groups, custom
// resources and third-party plugins. docs/schema-words.md lists the keywords that documents may use, including the x-backplane-* keywords
// (rules, defaults, order, protobuf numbers).
//
// A schema has one of two modes.
// Typed (built-in kinds): properties are printed in schema order, and map keys sorted. x-backplane-omit determines whether unset members
// are printed or omitted. Unknown members are removed and reported. Type errors have the text of Go's decoder.
// Structural (custom resources): unknown members are removed and reported. Only defaults are added. All keys are printed sorted.
//
// Thread-safety: a Schema and a SchemaSet are immutable after compile(); any number of threads may use them.
// Lifetime:      a Schema is valid as long as its SchemaSet.
// Errors:        errors of compile() contain the definition and the path in it.
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
class Type;  // part of the engine and not exported, so it is declared outside of BACKPLANE_API
}  // namespace backplane::schema

namespace backplane BACKPLANE_API {

class Schema;

// The part of an object to which rules apply. For a main resource this is everything except status; for /status it is only status.
enum class ObjectPart : unsigned char { kNone, kWhole, kWithoutStatus, kStatus };

// A member that occurs twice in its object. `parent` is the path of the object: "spec.containers[0]".
struct DuplicateField {
  std::string parent;
  std::string key;
};

// Problems that decoding has found, for fieldValidation, with upstream's texts: `unknown field "spec.foo"`, `duplicate field "data.a"`.
struct DecodeReport {
  // In document order. parse_json() adds every duplicate field. normalize() of a typed schema inserts unknown fields at their position, and
  // removes duplicate fields that Go does not report (inside unknown fields and raw values).
  std::vector<std::string> problems;
  std::vector<DuplicateField> duplicates;
  // Input for parse_json(): what happens with members that occur repeatedly. True: objects and lists are merged, as Go does for typed
  // objects. False: the last one applies (custom resources, patches).
  bool merge_duplicates = true;
  // Input for normalize(): true if the tree was a map in Go, as after a strategic merge patch. Errors then have the text of
  // runtime.FromUnstructured ("cannot restore slice from string"), and problems are sorted.
  bool restore = false;
};

// Parses the body of a request. Adds duplicate fields to `report`, which may be null.
// Errors: kBadRequest with Go's JSON errors ("invalid character 'x' looking for beginning of value", "unexpected end of JSON input").
Result<Value> parse_json(std::string_view text, json::storage_ptr storage, DecodeReport* report);
// Parses YAML 1.1 as sigs.k8s.io/yaml does, including its resolution of yes, no, on and off.
Result<Value> parse_yaml(std::string_view text, json::storage_ptr storage, DecodeReport* report);
// Prints YAML as sigs.k8s.io/yaml does: sorted keys, an indent of two spaces, block style, quotes only if necessary.
std::string to_yaml(const Value& value);

// The compiled schema documents of one group or of one custom resource. Definitions are looked up in this set, and then in the imported
// sets.
class SchemaSet {
 public:
  // Compiles `documents` and copies their texts. The set shares ownership of `imports`. The set of meta_schemas() is always imported.
  static Result<std::shared_ptr<const SchemaSet>> compile(std::span<const std::string_view> documents,
                                                          std::vector<std::shared_ptr<const SchemaSet>> imports = {});
  // Like compile(), for texts that live as long as the set (a plugin's read-only data). A definition is compiled when it is first used.
  // Errors: malformed structure. check(), or the first use of a definition, reports errors inside the definition.
  static Result<std::shared_ptr<const SchemaSet>> embedded(std::span<const std::string_view> documents,
                                                           std::vector<std::shared_ptr<const SchemaSet>> imports = {});
  // Returns a set with the type of one version of a custom resource, whose definition has the name `definition` ("com.example.v1.Widget").
  // `schema` returns the openAPIV3Schema of the version in JSON. It is called from any thread, when the type is first used and when a
  // document is generated, so that the set does not retain the text. apiVersion, kind and metadata are added if the schema lacks them.
  static std::shared_ptr<const SchemaSet> custom(GroupVersionKind kind, std::string definition, std::function<SharedBytes()> schema);
  // Compiles every definition. Errors: the first invalid definition, with the path in it.
  Status check() const;
  // Returns the definition with this name; null if absent.
  const Schema* find(std::string_view definition) const noexcept;
  // The definition with this group, version and kind; null if absent.
  const Schema* find(const GroupVersionKind& gvk) const noexcept;
  // All kinds of this set, without imports, sorted.
  std::vector<GroupVersionKind> kinds() const;
  // Adds a definition, and all definitions to which it refers, to `components` as OpenAPI v3 schema objects. References have the form
  // "#/components/schemas/…"; x-backplane-* keywords are omitted. `document`: the group version whose OpenAPI document is generated.
  void openapi_components(std::string_view definition, Object& components, const GroupVersion* document = nullptr) const;

  ~SchemaSet();
  struct State;
  explicit SchemaSet(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

// Types of meta.k8s.io/v1 (ObjectMeta, ListMeta, Status, DeleteOptions, Table), and Scale of autoscaling/v1. Every set imports them.
std::shared_ptr<const SchemaSet> meta_schemas();

// Types of the core group, v1 (PodTemplateSpec, Volume, EnvVar, LocalObjectReference …). Import them for kinds that contain pod templates
// or references to core objects. Compiled when first used.
std::shared_ptr<const SchemaSet> core_schemas();

// One compiled type.
class Schema {
 public:
  virtual ~Schema();
  virtual std::string_view name() const noexcept = 0;
  virtual bool structural() const noexcept = 0;  // true: the mode of custom resources
  // The compiled type, for the engine; null for implementations outside the engine (tests).
  virtual const schema::Type* compiled() const noexcept { return nullptr; }

  // Changes a parsed tree into canonical form in place: checks and converts types, removes and reports unknown members, orders members,
  // prints or omits unset members as the mode requires, and canonicalizes quantities and times. Idempotent.
  // Errors: kBadRequest with the text of upstream's decoder, without the prefix that the endpoint adds.
  virtual Status normalize(Value& value, DecodeReport* report) const = 0;
  // Sets the declared defaults in every object that the tree contains.
  virtual void apply_defaults(Value& value) const = 0;
  // Validates with the keywords of structural schemas (type, format, enum, pattern, minimum …, required, list types).
  virtual void validate(const Value& value, const std::string& path, FieldErrors& errors) const = 0;
  // Evaluates the x-backplane-rules of a typed schema on a normalized object. `old` is the object before the update, or null on create.
  // The predecessor of a value in `old` is the member with the same name, the entry with the same key, the item of a list-type map with the
  // same keys, or the equal item of a set. Other items, and values without a predecessor, are new.
  // The generic store calls it together with the Strategy's validation. Structural schemas have no x-backplane-rules.
  virtual void check(const Object& object, const Object* old, ObjectPart part, const std::string& path, FieldErrors& errors) const;
  // Applies a strategic merge patch: merge keys, $patch, $retainKeys, $setElementOrder, $deleteFromPrimitiveList.
  virtual Status strategic_merge(Value& target, const Value& patch) const = 0;
  // Decodes a protobuf message of this type (without the envelope) into a tree. The caller calls normalize() afterwards.
  // Errors: kBadRequest with the text of upstream's unmarshallers ("unexpected EOF"), and for types without a protobuf encoding.
  virtual Result<Value> decode_protobuf(std::string_view message, json::storage_ptr storage) const;
  // True for types with a protobuf encoding: those of built-in kinds.
  virtual bool has_protobuf() const noexcept { return false; }
  // Appends the protobuf message (without the envelope) of canonical JSON of this type to `out`, with exactly the bytes that upstream's
  // marshallers write. kind and apiVersion are not part of the message. Unknown members are skipped.
  // Errors: kInternalError if `json` is not JSON of this type, or if the type has no protobuf encoding.
  virtual Status encode_protobuf(std::string_view json, std::string& out) const;
  // Returns the object as kube-apiserver's Go struct of the type: all fields in the order of the struct with their Go names, including
  // unset fields. Values of apimachinery's types are their JSON. Schemas that are not typed return the object unchanged.
  virtual Value go_struct(const Object& object) const;
  // The schema of a property (property), and of the items of a list (items); null if there is none.
  virtual const Schema* property(std::string_view json_name) const noexcept = 0;
  virtual const Schema* items() const noexcept = 0;
};

// The content of upstream's protobuf envelope (`k8s\\0` and runtime.Unknown).
struct ProtobufEnvelope {
  std::string_view api_version, kind, raw;  // views into the body
};
// Returns the parts of an envelope. Errors: kBadRequest for a body that is not such an envelope.
Result<ProtobufEnvelope> open_protobuf_envelope(std::string_view body);

// Applies a JSON merge patch (RFC 7386).
void merge_patch(Value& target, const Value& patch);
// Applies a JSON patch (RFC 6902) as evanphx/json-patch v4 does ("replace" adds an absent member). Upstream's limit of 10,000 operations
// applies.
// Errors: 422 kInvalid with upstream's message, which is the same for every operation. After an error, `target` is partly changed and must
// be discarded.
Status json_patch(Value& target, const Array& operations);
// Returns the value as Go's fmt prints it in messages: map[bar:2 spec:map[foo:1]].
std::string go_print(const Value& value);

}  // namespace BACKPLANE_API
