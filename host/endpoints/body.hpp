// Reads request bodies, determines their kind, and decodes them into objects of the resource's kind.
//
// Thread-safety: pure functions. Trees belong to the request.
// Errors:        400 with upstream's decoding texts, 413, 415, and 422 for custom resources if the body has another kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/types/schema.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// Reads the whole body and counts its size in the metrics. Errors: 413 if it exceeds the resource's limit.
Task<Result<std::string>> read_request_body(const Resource& resource, Exchange& exchange, BodyVerb verb);

// Decodes an object of the resource's kind. Checks and sets kind and apiVersion, normalizes the object and sets defaults. `validation`
// decides whether unknown and duplicate fields are errors, warnings or ignored. The tree uses the context's arena.
Result<Object> decode_object(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                             FieldValidation validation);

// ---- the steps of decode_object(), also for bodies that are not objects of the resource

// Sorts the members of all objects by name. Upstream's conversion of YAML to JSON also does this before validation.
void sort_members(Value& value);

// Parses the body. The result is an object or null; if it has kind and apiVersion, these are strings.
// Errors:        upstream's messages without a prefix (`couldn't get version/kind; json parse error: …`).
Result<Value> parse_body(std::string_view body, BodyFormat format, json::storage_ptr storage, DecodeReport* report);
// Parses a protobuf envelope. If the envelope has `kind`, `schema` decodes the message.
Result<Value> parse_protobuf_body(std::string_view body, const Schema* schema, const GroupVersionKind& kind, json::storage_ptr storage);
// Checks kind and apiVersion of a tree, as parse_body() does.
Status check_type_meta(const Value& tree);
// Returns the apiVersion and kind of the tree. Missing parts are taken from `fallback`.
Result<GroupVersionKind> kind_in_body(const Value& tree, const GroupVersionKind& fallback);
// Returns `no kind "X" is registered for version "V" in scheme …`.
std::string not_registered_text(const GroupVersionKind& gvk);
// Returns the reason why an object of kind `gvk` cannot be an object of the resource; the result is empty if it can.
std::string foreign_kind_text(const Resource& resource, const GroupVersionKind& gvk);
// Sets kind and apiVersion to those of the resource.
void set_type_meta(const Resource& resource, Object& object);
// In a request, an empty managedFields list resets the managers. Normalization removes empty lists, so this function replaces the list by
// the other form of a reset, a list with one empty entry. For custom resources, an empty list has no effect, so it is removed.
void keep_managed_reset(const Resource& resource, Object& object);

// Adds a warning for each unknown or duplicate field.
void warn_problems(RequestContext& context, const std::vector<std::string>& problems);
// Returns `strict decoding error: a, b`.
std::string strict_error_text(const std::vector<std::string>& problems);

// ---- names and namespaces
// Sets the namespace of the object to that of the request, or removes it. Errors: 400 if the object has another namespace.
Status match_namespace(std::string_view request_namespace, Object& object);
// Errors:        400 if the object's name is not `name`.
Status match_name(std::string_view name, const Object& object);

}  // namespace backplane::endpoints
