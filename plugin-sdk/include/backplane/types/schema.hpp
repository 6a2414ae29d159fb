// The schema engine: one compiled, shared, read-only form of structural OpenAPI v3 with x-kubernetes-* extensions, used by built-in
// groups, custom resources and third-party plugins alike.
//
// A schema document is OpenAPI v3 in JSON with words beside it for what OpenAPI cannot say (rules, defaults, order, protobuf numbers):
// docs/schema-words.md has them all.
//
// Two modes.  Typed (built-ins): output has the properties in schema order, map keys sorted, unset members printed or left out by
// x-backplane-omit; unknown members are dropped and reported; type errors are worded as Go's decoder words them.  Structural (custom
// resources): unknown members are pruned and reported, nothing is added but defaults, all keys are printed sorted.
//
// Thread-safety: a Schema and a SchemaSet never change after compile(); any number of threads may use them.
// Lifetime:      a Schema lives as long as its SchemaSet.
// Errors:        compile() names the definition and the path in it.
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

namespace backplane BACKPLANE_API {

class Schema;
namespace schema {
class Type;
}

// The part of an object whose rules are asked for: a main resource answers for everything but status, /status for nothing else.
enum class ObjectPart : unsigned char { kNone, kWhole, kWithoutStatus, kStatus };

// A member that stood in its object before.  `parent` is the path of the object: "spec.containers[0]".
struct DuplicateField {
  std::string parent;
  std::string key;
};

// What decoding found that a strict client wants to know.  Texts as upstream prints them: `unknown field "spec.foo"`, `duplicate field
// "data.a"`.
struct DecodeReport {
  // In the order met.  After parse_json: every duplicate.  normalize() of a typed schema adds unknown fields where they stand between them,
  // and takes out duplicates that Go does not see (below unknown fields and raw values).
  std::vector<std::string> problems;
  std::vector<DuplicateField> duplicates;
  // Set before parsing: what Go does with repeated members.  Typed objects merge an object or list into the one before it; custom
  // resources and patches keep the last.
  bool merge_duplicates = true;
  // Set before normalize(): the tree was a map in Go, as after a strategic merge patch.  Errors are worded as runtime.FromUnstructured
  // words them ("cannot restore slice from string"), problems are sorted.
  bool restore = false;
};

// A parsed body: the tree and the duplicate fields met on the way.  `report` may be null.
// Errors: kBadRequest with Go's json message ("invalid character 'x' looking for beginning of value", "unexpected end of JSON input").
Result<Value> parse_json(std::string_view text, json::storage_ptr storage, DecodeReport* report);
// YAML 1.1 as sigs.k8s.io/yaml reads it into JSON (yes/no/on/off are strings there unless they are booleans of go-yaml v2's resolver).
Result<Value> parse_yaml(std::string_view text, json::storage_ptr storage, DecodeReport* report);
// The object as sigs.k8s.io/yaml prints it: keys sorted, two-space indent, block style, strings quoted only where needed.
std::string to_yaml(const Value& value);

// Compiled schema documents of one group (or one custom resource).  Names are looked up here and then in the imported sets.
class SchemaSet {
 public:
  // Compiles `documents` in order, and keeps a copy of the texts.  `imports` are kept alive; the meta schemas are always among them.
  static Result<std::shared_ptr<const SchemaSet>> compile(std::span<const std::string_view> documents,
                                                          std::vector<std::shared_ptr<const SchemaSet>> imports = {});
  // The same for texts that live as long as the set (a plugin's read-only data): they are indexed now, and each definition is compiled
  // when it is first used.  Errors: malformed structure; what is wrong inside a definition is found by check(), or by its first user.
  static Result<std::shared_ptr<const SchemaSet>> embedded(std::span<const std::string_view> documents,
                                                           std::vector<std::shared_ptr<const SchemaSet>> imports = {});
  // The type of one version of a custom resource, named `definition` ("com.example.v1.Widget").  `schema` gives its openAPIV3Schema as
  // JSON, from any thread; it is asked when the type is compiled, which is when it is first used, and whenever a document shows it: until
  // then the set keeps nothing of it.  apiVersion, kind and metadata are added where the schema does not say them.
  static std::shared_ptr<const SchemaSet> custom(GroupVersionKind kind, std::string definition, std::function<SharedBytes()> schema);
  // Compiles every definition.  Errors: the first one that is malformed, with the path in it.
  Status check() const;
  // The definition, or null.
  const Schema* find(std::string_view definition) const noexcept;
  // The definition that carries this group-version-kind, or null.
  const Schema* find(const GroupVersionKind& gvk) const noexcept;
  // Every group-version-kind that a definition of this set carries (imports left out), sorted.
  std::vector<GroupVersionKind> kinds() const;
  // The definition as an OpenAPI v3 schema object (refs rewritten to "#/components/schemas/…", x-backplane-* left out), and every
  // definition it refers to, added to `components`.  `document`: the group version whose OpenAPI document is being made.
  void openapi_components(std::string_view definition, Object& components, const GroupVersion* document = nullptr) const;

  ~SchemaSet();
  struct State;
  explicit SchemaSet(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

// meta.k8s.io/v1 types (ObjectMeta, ListMeta, Status, DeleteOptions, Table, Scale of autoscaling/v1 …), compiled into the SDK; imported by
// every set.
std::shared_ptr<const SchemaSet> meta_schemas();

// The types of the core group, v1 (PodTemplateSpec, Volume, EnvVar, LocalObjectReference …), compiled on first use: to import, for kinds
// with pod templates or references to core objects, so that no plugin carries a copy.
std::shared_ptr<const SchemaSet> core_schemas();

// One compiled type.
class Schema {
 public:
  virtual ~Schema();
  virtual std::string_view name() const noexcept = 0;
  virtual bool structural() const noexcept = 0;  // custom-resource mode
  // The compiled form that the engines read; null for a schema that is not theirs (a test's).
  virtual const schema::Type* compiled() const noexcept { return nullptr; }

  // Brings a parsed tree into canonical form in place: types checked and converted, unknown members dropped and reported, members in
  // canonical order, unset members as the mode says, quantities and times canonical.  Idempotent.
  // Errors: kBadRequest, message as upstream's decoder gives it without the prefix the endpoint adds.
  virtual Status normalize(Value& value, DecodeReport* report) const = 0;
  // Declared defaults, at every level where the holding struct exists.
  virtual void apply_defaults(Value& value) const = 0;
  // Structural validation (custom resources: type, format, enum, pattern, minimum …, required, list types).
  virtual void validate(const Value& value, const std::string& path, FieldErrors& errors) const = 0;
  // The rules (x-backplane-rules) of a typed schema over a normalized object; `old` is what it replaces, null on create.  Inside it, what a
  // value replaces is the member of its name, the entry of its key, the item of a list-type map with its keys, the same item of a set; what
  // has no such predecessor, and an item of any other list, is new.  The generic store calls it around the Strategy's own validation.
  // Structural schemas have none.
  virtual void check(const Object& object, const Object* old, ObjectPart part, const std::string& path, FieldErrors& errors) const;
  // `patch` merged into `target` by the rules of strategic merge patch: merge keys, $patch, $retainKeys, $setElementOrder,
  // $deleteFromPrimitiveList.
  virtual Status strategic_merge(Value& target, const Value& patch) const = 0;
  // The tree of a protobuf message of this type (without envelope); normalize() brings it into canonical form.
  // Errors: kBadRequest with the words of upstream's unmarshallers ("unexpected EOF"); types without a protobuf form.
  virtual Result<Value> decode_protobuf(std::string_view message, json::storage_ptr storage) const;
  // Whether objects of this type have a protobuf message: those of built-in kinds do.
  virtual bool has_protobuf() const noexcept { return false; }
  // The protobuf message (without envelope) of canonical JSON of this type, appended to `out`: byte for byte what upstream's marshallers
  // write.  kind and apiVersion are not part of it, unknown members are passed over.
  // Errors: kInternalError when the text is not JSON of this type, or the type has no protobuf form.
  virtual Status encode_protobuf(std::string_view json, std::string& out) const;
  // The object as kube-apiserver's own Go struct of the type is marshalled: every field in the struct's order under its Go name, unset
  // ones too.  Types of apimachinery are their own JSON.  Typed schemas only; others give the object as it is.
  virtual Value go_struct(const Object& object) const;
  // Default of a member path ("spec.replicas"), the property's schema, for those who walk types.  Null when absent.
  virtual const Schema* property(std::string_view json_name) const noexcept = 0;
  virtual const Schema* items() const noexcept = 0;
};

// The protobuf envelope of upstream (`k8s\\0` and runtime.Unknown) taken off: the object's own message and what it says it is.
struct ProtobufEnvelope {
  std::string_view api_version, kind, raw;  // into the body
};
Result<ProtobufEnvelope> open_protobuf_envelope(std::string_view body);

// RFC 7386.
void merge_patch(Value& target, const Value& patch);
// RFC 6902 as evanphx/json-patch v4 applies it ("replace" of an absent member adds it), with upstream's limit of 10,000 operations.
// Errors: 422 kInvalid with upstream's one message for every operation that cannot be applied; `target` is then in between: throw it away.
Status json_patch(Value& target, const Array& operations);
// The value as Go's fmt prints it in messages: map[bar:2 spec:map[foo:1]].
std::string go_print(const Value& value);

}  // namespace BACKPLANE_API
