// Authenticators and authorizers of the stable tier (security.h).
//
// Thread-safety: the functions are called on the request's thread, or with BP_BLOCKING on a thread of the plugin; several at the same time.
// Lifetime:      add_authenticator() and add_authorizer() store them as long as the plugin exists.
// Errors:        if an authenticator throws, the token is of its kind and not valid. If an authorizer throws, it has no opinion.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/stable/json.hpp"
#include "backplane/stable/security.h"

namespace backplane::stable {

struct User {
  std::string name;
  std::string uid = {};
  std::vector<std::string> groups = {};
};
struct Authenticator {
  std::string name;
  // Returns the user of the token; nullopt if the token is not of this authenticator's kind.
  std::function<std::optional<User>(std::string_view token)> authenticate;
  std::uint32_t flags = 0;
};
// The decision, and the reason that the client receives.
struct Answer {
  int decision = BP_NO_OPINION;
  std::string reason = {};
};
struct Authorizer {
  std::string name;
  std::function<Answer(const bp_access& access)> decide;
  std::uint32_t flags = 0;
};

namespace detail {

struct KeptAuthenticator {
  Host& host;
  Authenticator authenticator;
};
struct KeptAuthorizer {
  Host& host;
  Authorizer authorizer;
};
inline std::string user_json(const Host& host, const User& user) {
  Json json(host, R"({"groups": []})");
  json.set("/username", user.name);
  json.set("/uid", user.uid);
  for (const std::string& group : user.groups) json.set("/groups/-", group);
  return json.text();
}

}  // namespace detail

// Register authenticators and authorizers. Call these functions in provision().
inline void add_authenticator(Host& host, Authenticator authenticator) {
  auto* kept = host.keep(detail::KeptAuthenticator{host, std::move(authenticator)});
  bp_authenticator table{};
  table.struct_size = sizeof(table);
  table.name = str(kept->authenticator.name);
  table.self = kept;
  table.flags = kept->authenticator.flags;
  table.authenticate = [](void* self, bp_str token, const bp_str*, size_t, bp_output* user, bp_error* error) {
    return detail::barrier(error, [&] {
      auto& own = *static_cast<detail::KeptAuthenticator*>(self);
      const std::optional<User> found = own.authenticator.authenticate(view(token));
      if (found) own.host.write(user, detail::user_json(own.host, *found));
    });
  };
  const auto& security = host.find<bp_security_table>(BP_SECURITY_TABLE, 1);
  detail::checked([&](bp_error* error) { return security.add_authenticator(host.context(), &table, error); });
}

inline void add_authorizer(Host& host, Authorizer authorizer) {
  auto* kept = host.keep(detail::KeptAuthorizer{host, std::move(authorizer)});
  bp_authorizer table{};
  table.struct_size = sizeof(table);
  table.name = str(kept->authorizer.name);
  table.self = kept;
  table.flags = kept->authorizer.flags;
  table.decide = [](void* self, const bp_access* access, bp_output* reason, bp_error* error) {
    int decision = BP_NO_OPINION;
    const int failed = detail::barrier(error, [&] {
      auto& own = *static_cast<detail::KeptAuthorizer*>(self);
      const Answer answer = own.authorizer.decide(*access);
      own.host.write(reason, answer.reason);
      decision = answer.decision;
    });
    return failed != 0 ? failed : decision;
  };
  const auto& security = host.find<bp_security_table>(BP_SECURITY_TABLE, 1);
  detail::checked([&](bp_error* error) { return security.add_authorizer(host.context(), &table, error); });
}

}  // namespace backplane::stable
