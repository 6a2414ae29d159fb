// Bodies: reading them, finding out what kind they are, and decoding them into objects of the resource's kind.
//
// Thread-safety: pure functions; trees belong to the request.
// Errors:        400 with upstream's decoding texts, 413, 422 for custom resources of another kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/types/schema.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// The whole body, counted by its size.  Errors: 413 past the resource's limit.
Task<Result<std::string>> read_request_body(const Resource& resource, Exchange& exchange, BodyVerb verb);

// An object of the resource's kind: kind and version checked and filled in, normalized, defaulted. Unknown and duplicate fields are errors,
// warnings or ignored, depending on `validation`. The tree lives in the context's arena.
Result<Object> decode_object(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                             FieldValidation validation);

// ---- the steps, for bodies that are not objects of the resource

// Sorts the members of all objects by name, as upstream's conversion of YAML to JSON does before validation.
void sort_members(Value& value);

// Returns the parsed body: an object or null. kind and apiVersion are strings, if present.
// Errors: the message is upstream's without a prefix (`couldn't get version/kind; json parse error: …`).
Result<Value> parse_body(std::string_view body, BodyFormat format, json::storage_ptr storage, DecodeReport* report);
// The same for a protobuf envelope. `schema` decodes the message if it is of `kind`.
Result<Value> parse_protobuf_body(std::string_view body, const Schema* schema, const GroupVersionKind& kind, json::storage_ptr storage);
// The check of kind and apiVersion in parse_body(), for a tree.
Status check_type_meta(const Value& tree);
// The tree's apiVersion and kind, with missing parts from `fallback`.
Result<GroupVersionKind> kind_in_body(const Value& tree, const GroupVersionKind& fallback);
// `no kind "X" is registered for version "V" in scheme …`.
std::string not_registered_text(const GroupVersionKind& gvk);
// The reason why an object of kind `gvk` cannot be an object of the resource; empty: it can.
std::string foreign_kind_text(const Resource& resource, const GroupVersionKind& gvk);
// Sets kind and apiVersion of the resource.
void set_type_meta(const Resource& resource, Object& object);
// An empty list of managedFields in a request resets the record. Normalization drops empty lists, so this replaces the list by the other
// way to reset: one empty entry. For custom resources, whose metadata has no empty lists either, an empty list has no effect.
void keep_managed_reset(const Resource& resource, Object& object);

// Unknown and duplicate fields as warnings.
void warn_problems(RequestContext& context, const std::vector<std::string>& problems);
// `strict decoding error: a, b`.
std::string strict_error_text(const std::vector<std::string>& problems);

// ---- names and namespaces
// Fills in the namespace of the request, or clears it.  Errors: 400 when the object names another.
Status match_namespace(std::string_view request_namespace, Object& object);
// Errors: 400 when the object's name is not `name`.
Status match_name(std::string_view name, const Object& object);

}  // namespace backplane::endpoints
