// Users, authenticators and authorizers.
//
// Thread-safety: callbacks are called on the request's thread; with BP_BLOCKING, on a thread of the plugin.
// Lifetime, errors: base.h.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_SECURITY_H
#define BACKPLANE_STABLE_SECURITY_H

#include "backplane/stable/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Results of bp_authorizer.decide.
#define BP_NO_OPINION 0
#define BP_ALLOW 1
#define BP_DENY 2

// authentication.k8s.io UserInfo; valid during the callback. Filled by the host.
typedef struct bp_user {
  size_t struct_size;
  bp_str name;
  bp_str uid;
  const bp_str* groups;
  size_t group_count;
  // JSON: {"key": ["value"]}; empty: no extra attributes.
  bp_str extra;
} bp_user;

// Checks bearer tokens. The host calls the authenticators one after another until one returns a user. Filled by the plugin.
typedef struct bp_authenticator {
  size_t struct_size;
  bp_str name;
  void* self;
  // 0 or BP_BLOCKING.
  uint32_t flags;
  // Writes {"username": …, "uid": …, "groups": […], "extra": {…}, "audiences": […]}, or nothing if the token is not of this authenticator's
  // kind. Returns an error if the token is of this kind and not valid. The token must be valid for one of `audiences`, or, if there are
  // none, for one of the server's audiences.
  int32_t (*authenticate)(void* self, bp_str token, const bp_str* audiences, size_t audience_count, bp_output* user, bp_error* error);
} bp_authenticator;

// The attributes of a request that is to be authorized (SubjectAccessReview); valid during the callback. Filled by the host.
typedef struct bp_access {
  size_t struct_size;
  const bp_user* user;
  bp_str verb;
  // 0: the request is for a path outside of the API, and the members after `path` are empty.
  int32_t is_resource;
  bp_str path;
  bp_str group;
  bp_str version;
  bp_str ns;
  bp_str resource;
  bp_str subresource;
  bp_str name;
} bp_access;

// Decides about requests by their attributes. The host calls it before the modes of --authorization-mode. An authorizer with the name of a
// mode is called in the place of that mode. Filled by the plugin.
typedef struct bp_authorizer {
  size_t struct_size;
  bp_str name;
  void* self;
  // 0 or BP_BLOCKING.
  uint32_t flags;
  // Returns BP_ALLOW, BP_DENY or BP_NO_OPINION, and writes a reason, which the client receives. A negative result is an error and counts as
  // no opinion.
  int32_t (*decide)(void* self, const bp_access* access, bp_output* reason, bp_error* error);
} bp_authorizer;

// Filled by the host.
#define BP_SECURITY_TABLE "backplane.security"
#define BP_SECURITY_TABLE_VERSION 1
typedef struct bp_security_table {
  size_t struct_size;
  // Call both functions in provision.
  int32_t (*add_authenticator)(bp_context* context, const bp_authenticator* authenticator, bp_error* error);
  int32_t (*add_authorizer)(bp_context* context, const bp_authorizer* authorizer, bp_error* error);
} bp_security_table;

#ifdef __cplusplus
}
#endif

#endif
