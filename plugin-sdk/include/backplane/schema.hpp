// The schema engine: one compiled, shared, read-only form of structural OpenAPI v3 with x-kubernetes-* extensions, used by built-in
// groups, custom resources and third-party plugins alike.
//
// A schema document is JSON:
//   {"definitions": {"NAME": {OpenAPI v3 schema}}}
// where a $ref is "#/definitions/NAME" of the same document or of one compiled earlier into the same SchemaSet.  Beyond OpenAPI v3:
//   x-kubernetes-group-version-kind   on a top-level kind, as upstream
//   x-kubernetes-patch-strategy, x-kubernetes-patch-merge-key, x-kubernetes-list-type, x-kubernetes-list-map-keys,
//   x-kubernetes-map-type, x-kubernetes-int-or-string, x-kubernetes-preserve-unknown-fields, x-kubernetes-embedded-resource
//   x-backplane-type   a scalar of the wire that OpenAPI cannot say: quantity, time, microTime, duration, bytes, rawExtension, fieldsV1, anyJson
//   x-backplane-omit   when a typed object leaves the member out: "empty" (Go omitempty on a scalar, list, map or pointer), "never"
//                      (printed as null or the zero value when unset), "zero" (omitzero).  Structs that are not pointers are always printed.
//   x-backplane-pointer  true: unset and zero differ
//   x-backplane-default  declared default (metav1 "default" marker); plain OpenAPI `default` means the same for custom resources
//   x-backplane-proto  {"number": n, "emit": "always|nonNil|nonEmpty", "name": …} for the protobuf transcoder
// Properties are in the order that JSON output has them.
//
// Two modes.  Typed (built-ins): output has the properties in schema order, map keys sorted, unset members printed or left out by
// x-backplane-omit; unknown members are dropped and reported; type errors are worded as Go's decoder words them.  Structural (custom
// resources, "x-backplane-mode": "structural" on the document): unknown members are pruned, nothing is added but defaults, all keys
// are printed sorted.
//
// Thread-safety: a Schema and a SchemaSet never change after compile(); any number of threads may use them.
// Lifetime:      a Schema lives as long as its SchemaSet.
// Errors:        compile() names the definition and the path in it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/json.hpp"
#include "backplane/meta.hpp"
#include "backplane/status.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

class Schema;

enum class FieldValidation : unsigned char { kIgnore, kWarn, kStrict };

// What decoding found that a strict client wants to know.  Texts as upstream prints them: `unknown field "spec.foo"`, `duplicate field "data.a"`.
struct DecodeReport {
  std::vector<std::string> problems;  // in upstream's order: duplicates as met, then unknown fields
};

// A parsed body: the tree and the duplicate fields met on the way.
// Errors: kBadRequest with Go's json message ("invalid character 'x' looking for beginning of value", "unexpected end of JSON input").
Result<Value> parse_json(std::string_view text, json::storage_ptr storage, DecodeReport* report);
// YAML 1.1 as sigs.k8s.io/yaml reads it into JSON (yes/no/on/off are strings there unless they are booleans of go-yaml v2's resolver).
Result<Value> parse_yaml(std::string_view text, json::storage_ptr storage, DecodeReport* report);
// The object as sigs.k8s.io/yaml prints it: keys sorted, two-space indent, block style, strings quoted only where needed.
std::string to_yaml(const Value& value);

// Compiled schema documents of one group (or one custom resource).  Names are looked up here and then in the imported sets.
class SchemaSet {
 public:
  // Compiles `documents` in order.  `imports` are kept alive.  The texts are needed only during the call, unless they have static
  // lifetime (a plugin's read-only data) and openapi() is used.
  static Result<std::shared_ptr<const SchemaSet>> compile(std::span<const std::string_view> documents,
                                                          std::vector<std::shared_ptr<const SchemaSet>> imports = {});
  // The definition, or null.
  const Schema* find(std::string_view definition) const noexcept;
  // The definition that carries this group-version-kind, or null.
  const Schema* find(const GroupVersionKind& gvk) const noexcept;
  // The definition as an OpenAPI v3 schema object (refs rewritten to "#/components/schemas/…", x-backplane-* left out), and every
  // definition it refers to, added to `components`.
  void openapi_components(std::string_view definition, Object& components) const;

  ~SchemaSet();
  struct State;
  explicit SchemaSet(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

// meta.k8s.io/v1 types (ObjectMeta, ListMeta, Status, DeleteOptions, Table, Scale of autoscaling/v1 …), compiled into the SDK; imported by every set.
std::shared_ptr<const SchemaSet> meta_schemas();

// One compiled type.
class Schema {
 public:
  virtual ~Schema();
  virtual std::string_view name() const noexcept = 0;
  virtual bool structural() const noexcept = 0;  // custom-resource mode

  // Brings a parsed tree into canonical form in place: types checked and converted, unknown members dropped and reported, members in
  // canonical order, unset members as the mode says, quantities and times canonical.  Idempotent.
  // Errors: kBadRequest, message as upstream's decoder gives it without the prefix the endpoint adds.
  virtual Status normalize(Value& value, DecodeReport* report) const = 0;
  // Declared defaults, at every level where the holding struct exists.
  virtual void apply_defaults(Value& value) const = 0;
  // Structural validation (custom resources: type, format, enum, pattern, minimum …, required, list types).  Typed built-ins validate in their Strategy.
  virtual void validate(const Value& value, const std::string& path, FieldErrors& errors) const = 0;
  // `patch` merged into `target` by the rules of strategic merge patch: merge keys, $patch, $retainKeys, $setElementOrder, $deleteFromPrimitiveList.
  virtual Status strategic_merge(Value& target, const Value& patch) const = 0;
  // Default of a member path ("spec.replicas"), the property's schema, for those who walk types.  Null when absent.
  virtual const Schema* property(std::string_view json_name) const noexcept = 0;
  virtual const Schema* items() const noexcept = 0;
};

// RFC 7386.
void merge_patch(Value& target, const Value& patch);
// RFC 6902 with upstream's limits (10,000 operations) and error texts.
Status json_patch(Value& target, const Array& operations);

}  // namespace backplane
