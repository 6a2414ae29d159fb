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

// An object of the resource's kind: kind and version checked and filled in, normalized, defaulted.  Unknown and
// duplicate fields are refused, warned about or passed over.  The tree lives in the context's arena.
Result<Object> decode_object(const Resource& resource, RequestContext& context, std::string_view body, BodyFormat format,
                             FieldValidation validation);

// ---- the steps, for bodies that are not objects of the resource

// Members in the order of their names, here and below: so upstream's YAML becomes JSON, before it is validated.
void sort_members(Value& value);

// Parsed, an object or null, with kind and apiVersion as text if they are there.
// Errors: the message is upstream's without a prefix (`couldn't get version/kind; json parse error: …`).
Result<Value> parse_body(std::string_view body, BodyFormat format, json::storage_ptr storage, DecodeReport* report);
// The same of a protobuf envelope: `schema` reads the message when it is of `kind`.
Result<Value> parse_protobuf_body(std::string_view body, const Schema* schema, const GroupVersionKind& kind, json::storage_ptr storage);
// The same check of a tree that has not come as text.
Status check_type_meta(const Value& tree);
// The tree's apiVersion and kind, with missing parts from `fallback`.
Result<GroupVersionKind> kind_in_body(const Value& tree, const GroupVersionKind& fallback);
// `no kind "X" is registered for version "V" in scheme …`.
std::string not_registered_text(const GroupVersionKind& gvk);
// Why an object of kind `gvk` cannot be one of the resource's kind; empty when it can.
std::string foreign_kind_text(const Resource& resource, const GroupVersionKind& gvk);
// kind and apiVersion of the resource, set.
void set_type_meta(const Resource& resource, Object& object);
// An empty list of managedFields resets the record.  The normalized tree has no empty lists: it becomes the other way to reset, one empty
// entry.  The metadata of a custom resource has none either: there, it has no effect.
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
