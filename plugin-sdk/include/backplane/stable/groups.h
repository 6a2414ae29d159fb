// API groups: a JSON document that describes the group, a document with the types of each version, and functions for rules that documents
// cannot express.
//
// The documents have the same format as in the native tier: backplane/kit/group_document.hpp and docs/schema-words.md describe it. A schema
// with "x-backplane-mode": "structural" validates like that of a CustomResourceDefinition.
//
// Thread-safety: the callbacks of a kind are called on the request's thread. Implement a check that must wait as an admission rule
// (admission.h).
// Lifetime, errors: base.h.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_GROUPS_H
#define BACKPLANE_STABLE_GROUPS_H

#include "backplane/stable/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Types of field errors (bp_groups_table.field_error).
#define BP_FIELD_REQUIRED 1
#define BP_FIELD_INVALID 2
#define BP_FIELD_FORBIDDEN 3
#define BP_FIELD_DUPLICATE 4
#define BP_FIELD_NOT_FOUND 5
#define BP_FIELD_NOT_SUPPORTED 6
#define BP_FIELD_TYPE_INVALID 7
#define BP_FIELD_INTERNAL 8

// The validation errors of an object; valid during the callback.
typedef struct bp_field_errors bp_field_errors;

// The functions of one kind; each of them may be NULL. Objects are JSON. Filled by the plugin.
typedef struct bp_kind {
  size_t struct_size;
  // The name of the kind in the group document ("Shelf").
  bp_str kind;
  void* self;
  // Sets defaults that the schema cannot express. Called for each object from a client. Writes the changed object, or nothing if it has not
  // changed. It must be idempotent.
  int32_t (*set_defaults)(void* self, bp_str object, bp_output* changed, bp_error* error);
  // Checks rules that concern several fields, on create and update. Adds errors to `errors`.
  int32_t (*check)(void* self, bp_str object, bp_field_errors* errors, bp_error* error);
  // Checks rules about a change. Called on update, before check().
  int32_t (*check_change)(void* self, bp_str object, bp_str old, bp_field_errors* errors, bp_error* error);
  // Checks rules about a change of the status.
  int32_t (*check_status)(void* self, bp_str object, bp_str old, bp_field_errors* errors, bp_error* error);
  // Converts an object: writes it in the version `to`; the host sets apiVersion. Called for kinds with several versions, unless "sameForm"
  // is true in the document: from each version to the stored version, and back. The functions above receive objects in the stored version.
  int32_t (*convert)(void* self, bp_str from, bp_str to, bp_str object, bp_output* converted, bp_error* error);
} bp_kind;

// An API group. The host copies it, except the data to which `self` of the kinds points. Filled by the plugin.
typedef struct bp_group {
  size_t struct_size;
  // The group document.
  bp_str document;
  // One document of types for each version of the group, in the order of the versions in the group document.
  const bp_str* schemas;
  size_t schema_count;
  const bp_kind* const* kinds;
  size_t kind_count;
} bp_group;

// Filled by the host.
#define BP_GROUPS_TABLE "backplane.groups"
#define BP_GROUPS_TABLE_VERSION 1
typedef struct bp_groups_table {
  size_t struct_size;
  // Call it in provision. An error describes what is wrong in the documents.
  int32_t (*install)(bp_context* context, const bp_group* group, bp_error* error);
  // Adds an error. `field`: the path ("spec.slots"). `value`: the value as the message prints it, strings in quotes. `detail`: the text
  // after the value; for BP_FIELD_NOT_SUPPORTED, such as 'supported values: "a"'.
  void (*field_error)(bp_field_errors* errors, uint32_t type, bp_str field, bp_str value, bp_str detail);
} bp_groups_table;

#ifdef __cplusplus
}
#endif

#endif
